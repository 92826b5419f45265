"""Deciding about a large table opens its metadata, then the manifest list, then manifests, each only when
needed, and no data file.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from flareiac.kernel.records import encode
from flareiac.sdk.maintenance import MaintenanceTask, TasksRequest
from flareiac_iceberg.catalogs.metadata_files import load
from flareiac_iceberg.maintenance.contents import Table
from flareiac_iceberg.maintenance.measure import measure
from flareiac_iceberg.maintenance.plan import TableMaintainer
from flareiac_iceberg_runtime.kinds.snapshot_expiry.perform import ExpireSnapshots
from tests.iceberg.lake import Lake
from tests.iceberg.maintenance import large_table
from tests.iceberg.maintenance.maintenance import DAY, declared
from tests.support.performers import task_of

SNAPSHOTS, MANIFESTS, FILES = 20_000, 50, 2_000


@pytest.fixture(scope="module")
def metadata(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    """20,000 snapshots and 100,000 data files."""
    path = large_table.write(tmp_path_factory.mktemp("large"), SNAPSHOTS, MANIFESTS, FILES)
    return str(path), load(str(path))


def decide(
    lake: Lake, metadata: tuple[str, dict[str, Any]], body: dict[str, Any]
) -> tuple[dict[str, MaintenanceTask], Counter[str]]:
    """The tasks that are due, and the number of files of each kind that were opened for the decision."""
    opened: Counter[str] = Counter()

    def read(location: str) -> bytes:
        path = Path(location.removeprefix("file://"))
        opened[
            "list" if path.name.startswith("snap-") else "manifest" if path.suffix == ".avro" else "other"
        ] += 1
        return path.read_bytes()

    attributes = declared(lake, body)
    figures = measure(Table(metadata=metadata[1], metadata_location=metadata[0], attributes=attributes), read)
    request = TasksRequest(
        address="table.t",
        attributes=attributes,
        identity={},
        figures=encode(figures),
        references={},
        now_ms=figures.measured_ms,
    )
    return {task.name: task for task in TableMaintainer().tasks(request)}, opened


def test_expiry_reads_nothing_but_the_metadata(lake: Lake, metadata: tuple[str, dict[str, Any]]) -> None:
    found, opened = decide(lake, metadata, {"snapshot_expiry": {"older_than": "10d"}, "orphan_removal": {}})
    assert not opened
    task = found["snapshot_expiry"]
    assert isinstance(task_of(task.work), ExpireSnapshots)
    assert abs(task.forecast["expired_snapshots"] - (SNAPSHOTS - 10 * DAY // large_table.MINUTE)) <= 1


def test_manifests_are_judged_by_their_list_alone(lake: Lake, metadata: tuple[str, dict[str, Any]]) -> None:
    found, opened = decide(
        lake, metadata, {"manifest_rewrite": {"run_if": {"manifests_over": 10}}, "delete_rewrite": {}}
    )
    assert opened == {"list": 1}
    assert found["manifest_rewrite"].forecast["rewritten_manifests"] == MANIFESTS
    assert not found["delete_rewrite"].due


def test_compaction_and_retention_read_each_manifest_once(
    lake: Lake, metadata: tuple[str, dict[str, Any]]
) -> None:
    body = {
        "compaction": {},
        "retention": {"column": "ts", "keep": "300d"},
        "manifest_rewrite": {},
        "delete_rewrite": {},
    }
    found, opened = decide(lake, metadata, body)
    assert opened == {"list": 1, "manifest": MANIFESTS}
    files = MANIFESTS * FILES
    assert found["compaction"].forecast["rewritten_files"] == files
    # 250 files of 1 MB in each day
    assert found["compaction"].summary.endswith(f" become about {large_table.DAYS:,}")
    # Today is the first of the 400 days; those that are kept are the 300 before it, and the day that the
    # cutoff falls into.
    assert (
        found["retention"].forecast["deleted_rows"]
        == (large_table.DAYS - 301) * files // large_table.DAYS * 100
    )


def test_a_threshold_that_the_summary_rules_out_opens_nothing(
    lake: Lake, metadata: tuple[str, dict[str, Any]]
) -> None:
    found, opened = decide(lake, metadata, {"compaction": {"run_if": {"small_files_over": 100_000}}})
    assert not opened
    assert not found["compaction"].due
    assert found["compaction"].summary == "100,000 data files in all (limit of small ones: 100,000)"
