"""Pairs made of forms, and what is counted of those that were judged by rows. No JVM."""

from collections import defaultdict
from dataclasses import replace
from itertools import islice
from pathlib import Path

from flareiac_spark_runtime.control import Proof
from tests.verdicts.forms import FORMS, form_pair, form_pairs
from tests.verdicts.pair import Judged, Judgement, Stop, read, written
from tests.verdicts.product import Verdict, back
from tests.verdicts.second_opinion import (
    Opinion,
    class_of,
    figures,
    is_false_back,
    is_false_restart,
    is_false_same,
)


def test_every_form_makes_pairs_of_every_edit() -> None:
    edits = defaultdict[str, set[str]](set)
    for pair in islice(form_pairs(5), 4_000):
        edits[pair.family] |= set(pair.edit.split(" and "))
        assert pair.old != pair.new
    assert {family: set(form.slots) - edits[family] for family, form in FORMS.items()} == {
        family: set() for family in FORMS
    }


def test_a_number_makes_the_same_pair_again() -> None:
    first, again = ([form_pair(3, number) for number in range(40, 60)] for _ in range(2))
    assert first == again
    assert next(found.id for found in first if found).startswith("f3-")


def test_pairs_of_some_families_are_those_with_their_numbers() -> None:
    found = list(islice(form_pairs(3, families=("pipes", "guards")), 12))
    assert {item.family for item in found} == {"pipes", "guards"}
    assert [form_pair(3, int(item.id.rpartition("-")[2])) for item in found] == found


def test_a_judged_pair_of_a_form_is_read_as_it_was_written(tmp_path: Path) -> None:
    judged = [_item(back=Stop.SAME, pair=pair) for pair in islice(form_pairs(3), 60)]
    path = tmp_path / "pairs.jsonl"
    path.write_text(written(judged), encoding="utf-8")
    assert list(read(path)) == judged


def test_rows_that_differ_are_never_the_same_nor_a_restart_over_state() -> None:
    assert is_false_same(_opinion(_item(judgement=Judgement.DIFFERENT), Verdict.NONE))
    assert is_false_same(_opinion(_item(stop=Stop.STATE_MIXED), Verdict.NONE))
    assert not is_false_same(_opinion(_item(judgement=Judgement.DIFFERENT), Verdict.RESTART))
    for stop in (Stop.STATE_MIXED, Stop.REFUSED, Stop.TABLE_MIXED):
        assert is_false_restart(_opinion(_item(stop=stop), Verdict.RESTART))
        assert not is_false_restart(_opinion(_item(stop=stop), Verdict.BLOCKED))
    assert not is_false_restart(_opinion(_item(stop=Stop.TABLE_MIXED, operators=()), Verdict.RESTART))
    returned = _opinion(_item(stop=Stop.SAME, back=Stop.STATE_MIXED), Verdict.RESTART)
    assert not is_false_back(returned)
    assert is_false_back(replace(returned, returned=Verdict.RESTART))
    assert not is_false_back(replace(returned, returned=Verdict.BLOCKED))


def test_classes_are_those_that_rows_ask_for() -> None:
    def wanted(**item: object) -> str | None:
        return class_of(_opinion(_item(**item), Verdict.NONE))

    assert wanted(stop=Stop.SAME) == "same"
    assert wanted(stop=Stop.SAME, judgement=Judgement.DIFFERENT) == "restart"
    assert wanted(stop=Stop.TABLE_MIXED, judgement=Judgement.DIFFERENT) == "blocked"
    assert wanted(stop=Stop.TABLE_MIXED, operators=()) == "restart"
    assert wanted(stop=Stop.REFUSED) == "blocked"
    assert wanted() is None
    assert wanted(operators=()) == "same"
    assert wanted(judgement=Judgement.UNPROVEN, stop=Stop.SAME) is None


def test_figures_count_what_is_dangerous_and_what_is_blocked_for_nothing() -> None:
    found = [
        _opinion(_item(stop=Stop.SAME), Verdict.NONE),
        _opinion(_item(stop=Stop.SAME), Verdict.BLOCKED),
        _opinion(_item(stop=Stop.STATE_MIXED, judgement=Judgement.DIFFERENT), Verdict.NONE),
        replace(_opinion(_item(stop=Stop.REFUSED), Verdict.RESTART), proof=Proof(verdict="state", spark="4")),
    ]
    values = {figure.name.removeprefix("verdicts by rows, "): figure for figure in figures(found, 1)}
    assert values["pairs judged"].value == len(found)
    assert values["false same"].value == 1
    assert values["false restart over state"].value == 1
    assert values["right class"].value == 0.25
    assert values["over-blocked share"].value == 0.25
    assert not values["false same"].met


def test_the_way_back_exchanges_the_versions() -> None:
    item = _item()
    assert back(item).pair.old == item.pair.new
    assert back(back(item)) == item


def _item(**other: object) -> Judged:
    pair = next(form_pairs(3, families=("guards",)))
    usual = Judged(
        pair=replace(pair, output="complete"),
        judgement=Judgement.AGREE,
        columns={"k": "string"},
        operators=("StateStoreSave",),
    )
    return replace(usual, **other)  # type: ignore[arg-type] # fields of the record


def _opinion(item: Judged, said: Verdict) -> Opinion:
    return Opinion(item=item, proof=Proof(verdict="equal", spark="4"), alone=said, said=said)
