"""The product's rules about Spark cite facts: each cited one is measured here, and says the same."""

import importlib
import importlib.util
import re
from typing import Any

import pytest

from tests.facts.changed_state import ROWS, Row
from tests.facts.ids import AREAS, measured

RULES = "flareiac_spark.change.spark_compatibility"


@pytest.fixture(scope="module")
def rules() -> Any:
    if importlib.util.find_spec(RULES) is None:
        pytest.skip("there are no rules")
    return importlib.import_module(RULES).RULES


def verdict(change: Row) -> str:
    """The verdict of a row, in the words of the rules."""
    if change.outcome.startswith("!"):
        return "refuses"
    return "takes" if change.right is None else "mixes"


def test_ids_are_unique_and_well_formed() -> None:
    """One fact, one test."""
    found = measured()
    assert sorted(set(found)) == found
    form = re.compile(rf"(?:{'|'.join(AREAS)})\.[a-z]+(?:-[a-z]+)*")
    assert [name for name in found if not form.fullmatch(name)] == []


def test_each_rule_cites_a_fact_that_is_measured(rules: Any) -> None:
    """A rule without a measurement is an opinion."""
    assert rules
    assert {rule.fact for rule in rules} - set(measured()) == set()


def test_rules_are_about_the_measured_spark(rules: Any) -> None:
    """Rules for a Spark that this suite does not run would rest on nothing."""
    assert {rule.spark for rule in rules} == {"4.1"}


def test_each_rule_says_what_was_measured(rules: Any) -> None:
    """Refused, taken or mixed: the row and the rule agree."""
    found = {row.fact: verdict(row) for row in ROWS}
    said = {rule.fact: str(rule.verdict) for rule in rules if rule.fact in found}
    assert said == {name: found[name] for name in said}
