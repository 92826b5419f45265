"""Pairs of queries that Spark has judged: the product never calls the same what Spark tells apart."""

from pathlib import Path

from tests.verdicts.generate import pair
from tests.verdicts.pair import Judged, Judgement, Stop, read, written


def test_a_number_makes_the_same_pair_again() -> None:
    first, again = ([pair(3, number) for number in range(40, 60)] for _ in range(2))
    assert first == again
    assert len({found.edit for found in first if found}) > 5


def test_a_judged_pair_is_read_as_it_was_written(tmp_path: Path) -> None:
    made = [found for number in range(60) if (found := pair(3, number))]
    judged = [
        Judged(
            pair=found,
            judgement=Judgement.UNPROVEN,
            columns={"k": "string"},
            operators=("StateStoreSave",),
            stop=Stop.SAME,
            why="plans differ",
        )
        for found in made
    ]
    (tmp_path / "pairs.jsonl").write_text(written(judged), encoding="utf-8")
    assert list(read(tmp_path / "pairs.jsonl")) == judged
