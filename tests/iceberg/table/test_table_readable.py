"""The part of a table that can still be read as a stream: the additions of its live snapshots, from the
metadata of real tables.
"""

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyiceberg.table import Table

from flareiac.sdk.lakehouse import TableHistory, Unstreamable
from flareiac.sdk.results import Present
from flareiac_iceberg.format.snapshots import live
from tests.iceberg.lake import Lake, columns


def made(lake: Lake) -> Table:
    lake.apply("table.src", {"namespace": "n", "column": columns(id="long")})
    return lake.table("n.src")


def append(table: Table, *rows: int) -> int:
    """Rows in one commit; the snapshot's id."""
    table.append(pa.table({"id": pa.array(list(rows), pa.int64())}))
    snapshot = table.current_snapshot()
    assert snapshot is not None
    return snapshot.snapshot_id


def history(lake: Lake) -> TableHistory:
    request = lake.read_request("table.src", lake.state["table.src"].attributes)
    found = lake.session.driver("table").read(replace(request, history=True))
    assert isinstance(found, Present)
    assert found.history is not None
    return found.history


def test_every_row_of_a_whole_table_can_be_read(lake: Lake) -> None:
    table = made(lake)
    assert history(lake) == TableHistory()
    ids = [append(table, number, number) for number in range(3)]
    found = history(lake)
    assert [item.id for item in found.snapshots] == ids[::-1]
    assert all(found.has(item) for item in ids)
    assert found.unstreamable is None


@pytest.mark.parametrize("asked", [True, False])
def test_a_table_that_is_as_it_was_recorded_tells_when_it_is_asked(lake: Lake, asked: bool) -> None:
    made(lake)
    request = replace(lake.read_request("table.src", lake.state["table.src"].attributes), history=asked)
    found = lake.session.driver("table").read(request)
    assert isinstance(found, Present)
    assert (found.history is not None) == asked


def test_rows_of_expired_snapshots_are_counted(lake: Lake) -> None:
    table = made(lake)
    ids = [append(table, number) for number in range(15)]
    table.maintenance.expire_snapshots().by_ids(ids[:8]).commit()
    found = history(lake)
    assert found.unstreamable == Unstreamable(rows=8, of=15)
    assert not found.has(ids[7])
    assert found.has(ids[8])
    oldest = found.oldest
    assert oldest is not None
    assert found.unstreamable_since(oldest.at_ms) is None
    assert found.unstreamable_since(oldest.at_ms - 1) == Unstreamable(rows=8, of=15)


def test_rows_that_were_deleted_before_the_oldest_snapshot_are_not_missed(lake: Lake) -> None:
    table = made(lake)
    first = append(table, 1, 2)
    table.overwrite(pa.table({"id": pa.array([7, 8, 9], pa.int64())}))
    ids = [item.snapshot_id for item in table.metadata.snapshots][1:-1]
    table.maintenance.expire_snapshots().by_ids([first, *ids]).commit()
    found = history(lake)
    assert len(found.snapshots) == 1
    assert found.unstreamable is None


def test_a_snapshot_that_the_current_one_does_not_descend_from_is_not_there(lake: Lake) -> None:
    table = made(lake)
    first, second = append(table, 1), append(table, 2)
    table.manage_snapshots().rollback_to_snapshot(first).commit()
    found = history(lake)
    assert found.has(first)
    assert not found.has(second)
    assert found.unstreamable is None


@given(sizes=st.lists(st.integers(1, 9), min_size=1, max_size=12), data=st.data())
def test_what_is_missed_is_what_expired_added(sizes: list[int], data: st.DataObject) -> None:
    """Law: over appends and rewrites, what a stream reads and what it misses are the rows of the table."""
    kinds = data.draw(
        st.lists(st.sampled_from(["append", "replace"]), min_size=len(sizes), max_size=len(sizes))
    )
    expired = data.draw(st.integers(0, len(sizes) - 1))
    total, snapshots = 0, []
    for number, (size, kind) in enumerate(zip(sizes, kinds, strict=True), start=1):
        added = size if kind == "append" else total
        total += size if kind == "append" else 0
        summary = {"operation": kind, "added-records": str(added), "total-records": str(total)}
        parent = number - 1 if number > 1 else None
        snapshots.append(
            {"snapshot-id": number, "parent-snapshot-id": parent, "timestamp-ms": number, "summary": summary}
        )
    metadata: dict[str, Any] = {"current-snapshot-id": len(sizes), "snapshots": snapshots[expired:]}
    found = live(metadata)
    read = sum(item.added or 0 for item in found.snapshots if item.operation == "append")
    missed = found.unstreamable
    assert read + (missed.rows or 0 if missed is not None else 0) == total


def test_a_snapshot_without_figures_is_not_taken_for_a_whole_one() -> None:
    snapshot = {"snapshot-id": 2, "timestamp-ms": 2, "summary": {"operation": "append"}}
    for parent in ({"parent-snapshot-id": 1}, {}):
        assert live(
            {"current-snapshot-id": 2, "snapshots": [snapshot | parent]}
        ).unstreamable == Unstreamable(rows=None, of=None)
    assert live({"current-snapshot-id": 2, "snapshots": []}).unstreamable == Unstreamable(rows=None, of=None)
    assert live({"current-snapshot-id": None, "snapshots": []}).unstreamable is None
