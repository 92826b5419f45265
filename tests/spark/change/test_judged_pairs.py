"""Pairs of queries that Spark has judged: the product never calls the same what Spark tells apart.

The pairs are made and judged by ``python -m tests.bench verdicts``; here they are data, and need no JVM.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

import pytest

from tests.verdicts.figures import is_false_restart, is_false_same
from tests.verdicts.generate import pair, pairs
from tests.verdicts.pair import Judged, Judgement, Stop, keep, read, written
from tests.verdicts.product import Verdict, in_words, verdict

FOLDER: Final = Path(__file__).parent / "judged"
RESTARTS: Final[Mapping[str, str]] = {}
"""Pairs over state that restart although rows of both meanings stand side by side afterwards, with the
reason.
"""
WRITTEN_OTHERWISE: Final = frozenset(
    {
        "alias of relation",
        "as CTE",
        "as subquery",
        "brackets",
        "case of functions",
        "case of keywords",
        "comments",
        "in CTE",
        "in brackets",
        "qualified",
        "quoted",
        "renamed inner",
        "renamed step",
        "spaces",
        "split",
        "without AS",
    }
)
"""Edits that divide, name or lay out a query in another way, and leave each expression as it is."""

Verdicts = list[tuple[Judged, Verdict]]


@pytest.fixture(scope="module")
def verdicts() -> Verdicts:
    """Every pair with what the product says of it."""
    return [(item, verdict(item)) for path in sorted(FOLDER.glob("*.jsonl")) for item in read(path)]


def test_there_are_enough_pairs_of_every_kind(verdicts: Verdicts) -> None:
    kinds = Counter(item.judgement for item, _ in verdicts)
    assert sum(kinds.values()) >= 2_000
    assert kinds[Judgement.DIFFERENT] >= 400
    assert kinds[Judgement.SAME] >= 800
    assert len({item.pair.family for item, _ in verdicts}) >= 15
    assert len({item.pair.edit for item, _ in verdicts}) >= 50
    across = [item for item, _ in verdicts if item.stop is not Stop.UNTRIED]
    assert len(across) >= 160
    assert len({item.pair.family for item in across}) >= 11
    assert sum(item.rows > 0 for item in across) >= 80
    assert len({item.pair.id for item, _ in verdicts}) == sum(kinds.values())


def test_what_spark_tells_apart_is_never_called_the_same(verdicts: Verdicts) -> None:
    assert [_shown(item) for item, said in verdicts if is_false_same(item, said)] == []


def test_what_spark_proves_equal_goes_on_as_if_it_had_not_been_edited(verdicts: Verdicts) -> None:
    stops = {item.stop for item, _ in verdicts if item.judgement is Judgement.SAME}
    assert stops == {Stop.UNTRIED, Stop.SAME}


def test_over_state_no_restart_leaves_two_meanings_side_by_side(verdicts: Verdicts) -> None:
    mixed = [item for item, said in verdicts if is_false_restart(item, said)]
    assert [_shown(item) for item in mixed if item.pair.id not in RESTARTS] == []
    assert {item.pair.id for item in mixed} == set(RESTARTS)


def test_division_into_steps_names_and_layout_are_free(verdicts: Verdicts) -> None:
    said = {
        item.pair.id: (item.pair.edit, each) for item, each in verdicts if item.judgement is Judgement.SAME
    }
    assert {edit for edit, _ in said.values()} >= WRITTEN_OTHERWISE
    free = {name: each for name, (edit, each) in said.items() if edit in WRITTEN_OTHERWISE}
    assert {name for name, each in free.items() if each is not Verdict.NONE} == set()


def test_a_number_makes_the_same_pair_again() -> None:
    first, again = ([pair(3, number) for number in range(40, 60)] for _ in range(2))
    assert first == again
    assert len({found.edit for found in first if found}) > 5


def test_a_judged_pair_is_read_as_it_was_written(tmp_path: Path) -> None:
    judged = _made_up(60)
    (tmp_path / "pairs.jsonl").write_text(written(judged), encoding="utf-8")
    assert list(read(tmp_path / "pairs.jsonl")) == judged


def test_pairs_that_are_kept_are_added_once_to_the_file_of_their_family(tmp_path: Path) -> None:
    judged = _made_up(60)
    assert keep(tmp_path, judged[:20]) == 20
    assert keep(tmp_path, judged) == len(judged) - 20
    kept = {path.stem: list(read(path)) for path in tmp_path.glob("*.jsonl")}
    assert {name.replace("_", " ") for name in kept} == {item.pair.family for item in judged}
    assert sorted(item.pair.id for items in kept.values() for item in items) == sorted(
        item.pair.id for item in judged
    )
    again = [replace(item, pair=replace(item.pair, id=f"other {item.pair.id}")) for item in judged]
    assert keep(tmp_path, again) == 0


def test_pairs_of_some_families_are_those_with_their_numbers() -> None:
    found = list(islice(pairs(3, 0, ("sessions", "limit")), 12))
    assert {item.family for item in found} == {"sessions", "limit"}
    assert [pair(3, int(item.id.partition("-")[2])) for item in found] == found


def _made_up(numbers: int) -> list[Judged]:
    found = [made for number in range(numbers) if (made := pair(3, number))]
    return [
        Judged(
            pair=each,
            judgement=Judgement.UNPROVEN,
            columns={"k": "string"},
            operators=("StateStoreSave",),
            stop=Stop.SAME,
            rows=3,
            why="plans differ",
        )
        for each in found
    ]


def _shown(item: Judged) -> str:
    return f"{item.pair.id} {item.pair.edit}: {item.why or item.stop}; {', '.join(in_words(item))}"
