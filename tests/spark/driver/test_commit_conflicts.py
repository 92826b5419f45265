"""A batch whose commit meets another program's is written again, as long as its rows are certain to be the
same.
"""

import logging
from collections.abc import Mapping
from typing import Any

import pytest

from flareiac_spark_runtime.control import TableOutput
from flareiac_spark_runtime.driver import batch_write, kept_rows, micro_batch
from flareiac_spark_runtime.driver.micro_batch import Flow, MicroBatch

OUTPUT = TableOutput(
    name="out", source="s", identifier=("lake", "n", "out"), mode="append", columns=(), checkpoint="c"
)


class Conflict(Exception):
    pass


class Kept:
    """A frame that was computed once."""

    def unpersist(self) -> None:
        pass


@pytest.fixture
def writes(monkeypatch: pytest.MonkeyPatch) -> list[Exception | None]:
    """The outcome of each write, in order; an outcome that is left over is not reached."""
    outcomes: list[Exception | None] = []

    def write(_rows: Any, _output: TableOutput, _carry: Mapping[str, str], _tombstones: object) -> None:
        found = outcomes.pop(0)
        if found is not None:
            raise found

    monkeypatch.setattr(batch_write, "write", write)
    monkeypatch.setattr(micro_batch, "is_refused", lambda failure: isinstance(failure, Conflict))
    monkeypatch.setattr(MicroBatch, "_is_there", lambda *_of: False)
    monkeypatch.setattr(MicroBatch, "_is_stale", lambda *_of: False)
    monkeypatch.setattr(kept_rows, "kept", lambda _frame: Kept())
    return outcomes


NO_FRAME: Any = None


def take(*, repeats: bool, outputs: tuple[TableOutput, ...] = (OUTPUT,)) -> int:
    shapes = dict.fromkeys(output.name for output in outputs)
    flow = Flow(
        frame=NO_FRAME,
        mode="append",
        outputs=outputs,
        shapes=lambda _batch: shapes,
        holds_state=False,
        repeats=repeats,
    )
    return MicroBatch(address="job.x", flow=flow, log=logging.getLogger("x"))._write_all(
        NO_FRAME, outputs, "q", 0
    )


def test_a_conflict_is_followed_by_another_try(writes: list[Exception | None]) -> None:
    writes += [Conflict(), Conflict(), Conflict(), None]
    assert take(repeats=True) == 1
    assert writes == []


def test_a_table_that_is_never_left_alone_ends_the_query(writes: list[Exception | None]) -> None:
    writes += [Conflict()] * 5
    with pytest.raises(Conflict):
        take(repeats=True)
    assert len(writes) == 1


def test_anything_else_ends_the_query_at_once(writes: list[Exception | None]) -> None:
    writes += [KeyError(), None]
    with pytest.raises(KeyError):
        take(repeats=True)


def test_rows_that_another_computation_may_change_are_not_written_again(
    writes: list[Exception | None],
) -> None:
    writes += [Conflict(), None]
    with pytest.raises(Conflict):
        take(repeats=False)


def test_rows_that_were_kept_are_the_same(writes: list[Exception | None]) -> None:
    other = TableOutput(
        name="other", source="s", identifier=("lake", "n", "other"), mode="append", columns=(), checkpoint="c"
    )
    writes += [Conflict(), None, Conflict(), None]
    assert take(repeats=False, outputs=(OUTPUT, other)) == 2
