"""When rows last came into a table: what rewrites or deletes rows makes no table fresh."""

from typing import Any

import pytest

from flareiac.sdk.freshness import Freshness
from flareiac_iceberg.format.newest_data import newest_data


def metadata(*summaries: dict[str, str] | None, first_parent: int | None = None) -> dict[str, Any]:
    """A table with a line of snapshots, at the times 1, 2, ..."""
    snapshots: list[dict[str, Any]] = []
    for number, summary in enumerate(summaries, start=1):
        parent = first_parent if number == 1 else number - 1
        snapshot: dict[str, Any] = {"snapshot-id": number, "timestamp-ms": number}
        snapshot |= {} if parent is None else {"parent-snapshot-id": parent}
        snapshots.append(snapshot | ({} if summary is None else {"summary": summary}))
    return {"current-snapshot-id": len(snapshots) or -1, "snapshots": snapshots}


ADDS = {"operation": "append", "added-records": "2"}
EMPTY = {"operation": "append", "added-records": "0"}
COMPACTS = {"operation": "replace", "added-records": "2", "deleted-records": "2"}
DELETES = {"operation": "delete", "deleted-records": "2"}
SILENT = {"operation": "overwrite"}


@pytest.mark.parametrize(
    ("line", "newest"),
    [
        ((ADDS, ADDS), 2),
        ((ADDS, COMPACTS, DELETES, EMPTY), 1),
        ((ADDS, SILENT), 2),
        ((ADDS, {"operation": "append", "added-records": "many"}), 2),
        ((ADDS, None), 2),
        ((ADDS, {"operation": "overwrite", "added-records": "1", "deleted-records": "1"}, COMPACTS), 2),
    ],
)
def test_the_newest_data_is_that_of_the_newest_snapshot_that_added_rows(
    line: tuple[dict[str, str] | None, ...], newest: int
) -> None:
    assert newest_data(metadata(*line)) == Freshness(newest_ms=newest)


def test_after_an_expiry_data_is_older_than_the_oldest_snapshot_left() -> None:
    left = metadata(COMPACTS, DELETES, first_parent=99)
    assert newest_data(left) == Freshness(newest_ms=1, is_older=True)


def test_a_table_without_rows_is_empty() -> None:
    assert newest_data(metadata()) == Freshness(newest_ms=None, is_empty=True)
    assert newest_data(metadata(EMPTY)) == Freshness(newest_ms=None, is_empty=True)


def test_damaged_metadata_gives_no_time() -> None:
    lost = {"current-snapshot-id": 7, "snapshots": []}
    assert newest_data(lost).newest_ms is None
    assert not newest_data(lost).is_empty
    loop = metadata(COMPACTS, COMPACTS, first_parent=2)
    assert newest_data(loop) == Freshness(newest_ms=1, is_older=True)
