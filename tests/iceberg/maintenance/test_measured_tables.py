"""Tables that another program writes: what is measured of them, what is due, and what is forecast."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from flareiac.sdk.changes import Action
from flareiac_iceberg.maintenance.kinds.compaction.measure import RewriteFigures
from flareiac_iceberg.maintenance.kinds.compaction.plan import reached
from flareiac_iceberg.maintenance.kinds.compaction.settings import Compaction, RunIf
from flareiac_iceberg_runtime.kinds.compaction.perform import RewriteDataFiles
from flareiac_iceberg_runtime.kinds.manifest_rewrite.perform import RewriteManifests
from flareiac_iceberg_runtime.kinds.retention.perform import DeleteRows
from flareiac_iceberg_runtime.kinds.snapshot_expiry.perform import ExpireSnapshots
from tests.iceberg.lake import CALLS, Lake
from tests.iceberg.maintenance.filters import KINDS, file_with, table_of
from tests.iceberg.maintenance.maintenance import DAY, ORDERS, measured, tasks
from tests.support.performers import task_of

NOW = datetime.now(UTC)


def rows(*days_ago: int) -> list[dict[str, Any]]:
    return [{"id": number, "ts": NOW - timedelta(days=days)} for number, days in enumerate(days_ago)]


@pytest.fixture
def written(lake: Lake) -> Lake:
    """Six small files, one for each commit."""
    lake.apply("table.t", ORDERS)
    for number in range(6):
        lake.append("n.t", rows(number))
    return lake


def test_a_table_without_rows_needs_nothing(lake: Lake) -> None:
    lake.apply("table.t", ORDERS)
    body = {
        "compaction": {},
        "snapshot_expiry": {},
        "manifest_rewrite": {},
        "delete_rewrite": {},
        "retention": {"column": "ts", "keep": "1d"},
    }
    found = tasks(lake, body)
    assert list(found) == ["retention", "compaction", "delete_rewrite", "manifest_rewrite", "snapshot_expiry"]
    assert not any(task.due for task in found.values())


def test_few_files_are_not_looked_at(written: Lake) -> None:
    assert measured(written, {"compaction": {}})["kinds"]["compaction"]["few"] == 6
    task = tasks(written, {"compaction": {}})["compaction"]
    assert not task.due
    assert task.summary == "6 data files in all (limit of small ones: 20)"


def test_small_files_are_compacted(written: Lake) -> None:
    task = tasks(written, {"compaction": {"run_if": {"small_files_over": 5}}})["compaction"]
    assert task.due
    assert isinstance(task_of(task.work), RewriteDataFiles)
    assert task_of(task.work).strategy == "binpack"
    assert task.forecast["rewritten_files"] == 6
    assert task.forecast["snapshot_before"] == written.table("n.t").metadata.current_snapshot_id
    assert task.summary.startswith("6 small files (limit 5): 6 files (")


def test_files_of_several_partitions_are_not_put_together(lake: Lake) -> None:
    body = ORDERS | {"partition_by": [CALLS["day"]("ts")]}
    lake.apply("table.t", body)
    for number in range(4):
        lake.append("n.t", rows(number, number, 1))
    task = tasks(lake, body | {"compaction": {"run_if": {"small_files_over": 3}, "min_input_files": 4}})[
        "compaction"
    ]
    assert task.forecast["rewritten_files"] == 4  # only yesterday has four
    few = tasks(lake, body | {"compaction": {"run_if": {"small_files_over": 3}, "min_input_files": 5}})[
        "compaction"
    ]
    assert not few.due
    assert few.summary == "7 small files (limit 3), but no partition has 5 of them: nothing to rewrite"


def test_a_filter_leaves_files_out(lake: Lake) -> None:
    body = ORDERS | {"partition_by": [CALLS["day"]("ts")]}
    lake.apply("table.t", body)
    for _ in range(3):
        lake.append("n.t", rows(0, 10))
    cut = (NOW - timedelta(days=5)).isoformat()
    compaction = {"run_if": {"small_files_over": 2}, "min_input_files": 2}
    plain = tasks(lake, body | {"compaction": compaction | {"where": f"ts < '{cut}'"}})["compaction"]
    assert plain.forecast["rewritten_files"] == 3
    other = tasks(lake, body | {"compaction": compaction | {"where": "ts < date_sub(current_date(), 5)"}})[
        "compaction"
    ]
    assert other.due
    assert not other.forecast
    assert "at most 6 files" in other.summary


def test_old_snapshots_expire(written: Lake) -> None:
    body = {"snapshot_expiry": {"older_than": "1d", "retain_last": 2}}
    young = tasks(written, body)["snapshot_expiry"]
    assert not young.due
    assert (
        young.summary == "0 snapshots to expire of at least 1 (the oldest of 6 is 0s old, keeping 1d)"
        or "old, keeping 1d" in young.summary
    )
    later = measured(written, body)["measured_ms"] + 2 * DAY
    task = tasks(written, body, now=later)["snapshot_expiry"]
    head = written.table("n.t").metadata.current_snapshot_id
    assert task.forecast == {
        "expired_snapshots": 4,
        "snapshot_before": head,
        "deleted_data_files": 0,
        "deleted_delete_files": 0,
    }
    assert task_of(task.work) == ExpireSnapshots(
        older_than_ms=later - DAY,
        retain_last=2,
        snapshot=head,
        of_snapshots=6,
        forecast=4,
        forecast_data_files=0,
        forecast_delete_files=0,
    )


def test_expiry_frees_the_files_that_were_taken_away(lake: Lake) -> None:
    lake.apply("table.t", ORDERS)
    lake.append("n.t", rows(1))
    table = lake.table("n.t")
    table.overwrite(table.scan().to_arrow())
    lake.append("n.t", rows(2))
    body = {"snapshot_expiry": {"older_than": "1d"}}
    later = measured(lake, body)["measured_ms"] + 2 * DAY
    task = tasks(lake, body, now=later)["snapshot_expiry"]
    assert task.forecast["deleted_data_files"] == 1


def test_manifests_are_counted_from_their_list(written: Lake) -> None:
    task = tasks(written, {"manifest_rewrite": {"run_if": {"manifests_over": 5}}})["manifest_rewrite"]
    assert task_of(task.work) == RewriteManifests()
    assert task.forecast["rewritten_manifests"] == 6
    many = tasks(written, {"manifest_rewrite": {}})["manifest_rewrite"]
    assert not many.due
    assert many.summary.startswith("6 manifests (limit 50), mean size ")


@pytest.mark.parametrize("partitioned", [True, False])
def test_old_rows_go_in_whole_days_where_days_are_partitions(lake: Lake, partitioned: bool) -> None:
    body = ORDERS | ({"partition_by": [CALLS["day"]("ts")]} if partitioned else {})
    lake.apply("table.t", body)
    lake.append("n.t", rows(0, 1))
    keep = body | {"retention": {"column": "ts", "keep": "5d"}}
    assert not tasks(lake, keep)["retention"].due
    lake.append("n.t", rows(20, 21, 21))
    task = tasks(lake, keep)["retention"]
    assert task.due
    assert task.forecast["deleted_rows"] == 3
    assert isinstance(task_of(task.work), DeleteRows)
    assert (task_of(task.work).before_ms % DAY == 0) or not partitioned
    assert task_of(task.work).type == "timestamptz"


def test_figures_of_the_same_snapshot_are_used_again(written: Lake) -> None:
    body = {"compaction": {"run_if": {"small_files_over": 5}}}
    first = measured(written, body)
    marked = first | {"kinds": {"compaction": first["kinds"]["compaction"] | {"files": 77}}}
    assert measured(written, body, known=marked)["kinds"]["compaction"]["files"] == 77
    written.append("n.t", rows(1))
    assert measured(written, body, known=marked)["kinds"]["compaction"]["files"] == 7


def test_figures_that_are_used_again_grow_old(written: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often a plan is made: rows that get old are found in the end on a table that nobody writes."""
    body = {"retention": {"column": "ts", "keep": "8d"}}
    real, known = time.time(), measured(written, body)
    for minutes in range(0, 9 * 24 * 60, 55):
        monkeypatch.setattr(time, "time", lambda at=real + minutes * 60: at)
        known = measured(written, body, known)
    assert [item[2] for item in known["kinds"]["retention"]["ranges"]] == [
        item[2] for item in measured(written, body)["kinds"]["retention"]["ranges"]
    ]


def test_a_block_that_is_added_is_measured_though_nobody_wrote(written: Lake) -> None:
    body: dict[str, Any] = {"compaction": {"run_if": {"small_files_over": 1}}}
    known = measured(written, body)
    assert (
        measured(written, body | {"manifest_rewrite": {}}, known)["kinds"]["manifest_rewrite"]["data"][
            "count"
        ]
        == 6
    )


def test_files_that_are_small_and_have_deletes_count_once() -> None:
    found = RewriteFigures(unfit=15, worn=15, small=15, files=15, rewritten_files=15)
    settings = Compaction(run_if=RunIf(small_files_over=20, small_file_share_over=0.3))
    reason = (
        "15 files small or with many deleted rows (limit 20), 100% small or with many deleted rows "
        "(limit 30%)"
    )
    assert reached(found, settings) == (reason, True)
    assert not reached(found, Compaction())[1]


def test_a_table_that_others_made_is_adopted_for_maintenance_only(lake: Lake) -> None:
    lake.apply("table.t", ORDERS)
    lake.append("n.t", rows(1))
    lake.state.clear()
    body = {"namespace": "n", "name": "t", "compaction": {}, "snapshot_expiry": {"older_than": "2d"}}
    adopted = lake.apply("table.t", body, importing=True)
    assert adopted.action is Action.ADOPT
    assert not adopted.steps
    assert lake.plan("table.t", body).action is Action.NO_OP


def test_settings_are_recorded_and_nothing_is_written(written: Lake) -> None:
    body = ORDERS | {"compaction": {"min_input_files": 3}, "snapshot_expiry": {}}
    before = written.table("n.t").metadata_location
    added = written.apply("table.t", body)
    assert added.action is Action.UPDATE
    assert [change.path for change in added.changes] == [("compaction",), ("snapshot_expiry",)]
    assert written.plan("table.t", body).action is Action.NO_OP
    changed = written.apply(
        "table.t", ORDERS | {"compaction": {"min_input_files": 4, "target_file_size": "256MB"}}
    )
    assert [(change.path, change.old, change.new) for change in changed.changes[:2]] == [
        (("compaction", "target_file_size"), changed.changes[0].old, "256MB"),
        (("compaction", "min_input_files"), 3, 4),
    ]
    assert changed.changes[2].path == ("snapshot_expiry",)
    assert not changed.steps
    assert (
        written.plan(
            "table.t", ORDERS | {"compaction": {"min_input_files": 4, "target_file_size": "256MB"}}
        ).action
        is Action.NO_OP
    )
    assert written.table("n.t").metadata_location == before


@pytest.mark.parametrize("spec", ["now", "before"])
@pytest.mark.parametrize("kind", ["uuid", "fixed", "binary", "string"])
def test_manifests_with_partitions_that_iceberg_cannot_read_are_not_rewritten(
    lake: Lake, kind: str, spec: str
) -> None:
    catalog = lake.other_made()
    catalog.create_namespace_if_not_exists("n")
    made = table_of(catalog, "n.m", KINDS[kind], "identity")
    if spec == "before":
        with made.update_spec() as update:
            update.remove_field("p")
    for _ in range(3):
        with made.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
            append.append_data_file(file_with(made, KINDS[kind], [KINDS[kind].values[0]]))
    catalog.close()
    task = tasks(lake, {"name": "m", "column": None, "manifest_rewrite": {"run_if": {"manifests_over": 1}}})
    unfit = kind in ("fixed", "uuid")
    assert task["manifest_rewrite"].due != unfit
    assert ("cannot rewrite manifests" in task["manifest_rewrite"].summary) == unfit
