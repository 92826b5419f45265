"""The product's rules about Spark cite facts: each cited one is measured here, and none has two tests that could disagree."""

import importlib
import importlib.util
import re

import pytest

from tests.facts.ids import AREAS, measured

RULES = "flareiac_spark.job.spark_rules"


def test_ids_are_unique_and_well_formed() -> None:
    """One fact, one test."""
    found = measured()
    assert sorted(set(found)) == found
    form = re.compile(rf"(?:{'|'.join(AREAS)})\.[a-z]+(?:-[a-z]+)*")
    assert [name for name in found if not form.fullmatch(name)] == []


def test_each_rule_cites_a_fact_that_is_measured() -> None:
    """A rule without a measurement is an opinion."""
    if importlib.util.find_spec(RULES) is None:
        pytest.skip("no rules yet")
    rules = importlib.import_module(RULES).RULES
    assert rules
    missing = {rule.fact for rule in rules} - set(measured())
    assert missing == set()


def test_rules_are_about_the_measured_spark() -> None:
    """Rules for a Spark that this suite does not run would rest on nothing."""
    if importlib.util.find_spec(RULES) is None:
        pytest.skip("no rules yet")
    rules = importlib.import_module(RULES).RULES
    assert {rule.spark for rule in rules} == {"4.1"}
