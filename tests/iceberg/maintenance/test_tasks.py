"""The due tasks, with their times and order: times between runs, places that are shared, holders, identities,
and results beside forecasts.
"""

import re
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from pyiceberg.table.update import SetLocationUpdate

from flareiac.kernel.data import Attributes, Reference
from flareiac.sdk.changes import Relation
from flareiac.sdk.maintenance import Hold, LastRun, MaintenanceTask, Neighbour
from flareiac_iceberg.format.age import made_ms
from flareiac_iceberg.maintenance.plan import TableMaintainer
from flareiac_iceberg_runtime.kinds.compaction.perform import RewriteDataFiles
from flareiac_iceberg_runtime.kinds.orphan_removal.perform import RemoveOrphans
from tests.iceberg.lake import CALLS, Lake, Rejected, columns
from tests.iceberg.maintenance.maintenance import DAY, ORDERS, declared, measured, tasks
from tests.support.performers import task_of, work_of

ORPHANS: dict[str, Any] = {"orphan_removal": {}}
COMPACTION: dict[str, Any] = {"compaction": {"run_if": {"small_files_over": 1}, "min_input_files": 2}}
HOUR = 3_600_000


@pytest.fixture
def written(lake: Lake) -> Lake:
    lake.apply("table.t", ORDERS)
    for number in range(3):
        lake.append("n.t", [{"id": number, "ts": None}])
    return lake


def run(task: MaintenanceTask, at_ms: int, *, failed: str = "") -> dict[str, LastRun]:
    return {task.name: LastRun(at=at_ms / 1000, id=task.id, failed=failed)}


def grown(lake: Lake, body: dict[str, Any]) -> int:
    """A time (ms since 1970) at which the table is so old that a first run waits no longer."""
    found: int = measured(lake, body)["measured_ms"] + 31 * DAY
    return found


def test_only_what_is_declared_and_enabled_is_wanted(lake: Lake) -> None:
    wants = TableMaintainer().wants
    assert not wants(declared(lake, {}))
    assert wants(declared(lake, ORPHANS))
    assert not wants(declared(lake, {"orphan_removal": {"enabled": False}}))
    lake.apply("table.t", ORDERS)
    assert list(tasks(lake, {"orphan_removal": {"enabled": False}, "snapshot_expiry": {}})) == [
        "snapshot_expiry"
    ]


def test_the_engine_carries_it_out(written: Lake) -> None:
    found = tasks(written, COMPACTION | {"engine": Reference("engine.big")})
    assert found["compaction"].performer == Reference("engine.big")


def test_what_was_done_rests_until_its_time_has_come(written: Lake) -> None:
    now = grown(written, ORPHANS)
    first = tasks(written, ORPHANS, now=now)["orphan_removal"]
    assert first.due
    assert first.summary.startswith(
        "first run: list and delete the files that no snapshot names, older than "
    )
    rested = tasks(written, ORPHANS, now=now, runs=run(first, now - 6 * DAY))["orphan_removal"]
    assert not rested.due
    assert rested.work is None
    assert rested.summary.startswith("ran 6d ago, at most once in 7d")
    assert tasks(written, ORPHANS, now=now, runs=run(first, now - 8 * DAY))["orphan_removal"].due


def test_a_failed_run_and_one_under_other_settings_do_not_count(written: Lake) -> None:
    now = grown(written, ORPHANS)
    first = tasks(written, {"orphan_removal": {"dry_run": True}}, now=now)["orphan_removal"]
    assert tasks(written, ORPHANS, now=now, runs=run(first, now - HOUR))["orphan_removal"].due
    real = tasks(written, ORPHANS, now=now)["orphan_removal"]
    assert tasks(written, ORPHANS, now=now, runs=run(real, now - HOUR, failed="it failed"))[
        "orphan_removal"
    ].due


def test_an_operation_is_the_same_until_it_was_recorded_or_the_table_moved(written: Lake) -> None:
    first, again = (tasks(written, COMPACTION)["compaction"] for _ in range(2))
    assert first.id == again.id
    assert tasks(written, COMPACTION, runs=run(first, 5))["compaction"].id != first.id
    written.append("n.t", [{"id": 9, "ts": None}])
    assert tasks(written, COMPACTION)["compaction"].id != first.id
    other = {"compaction": COMPACTION["compaction"] | {"target_file_size": "1MB"}}
    assert tasks(written, other)["compaction"].id != tasks(written, COMPACTION)["compaction"].id


def test_a_rewrite_that_was_not_recorded_is_not_done_again(written: Lake) -> None:
    """The command died after the commit: the table itself says that it was done, and when."""
    body = {"compaction": {"rewrite_all": True, "every": "30d"}}
    old = grown(written, body)
    first = tasks(written, body, now=old)["compaction"]
    assert first.due
    table = written.table("n.t")
    table.overwrite(table.scan().to_arrow(), snapshot_properties={"flareiac.operation": first.id})
    written.append("n.t", [{"id": 9, "ts": None}])
    now = measured(written, body)["measured_ms"]
    again = tasks(written, body, now=now + 6 * DAY)["compaction"]
    assert (again.due, again.summary.startswith("ran 6d ago, at most once in 30d; waiting: all ")) == (
        False,
        True,
    )
    assert tasks(written, body, now=now + 31 * DAY)["compaction"].due
    assert tasks(written, body, now=old, runs=run(first, now, failed="rows were lost"))["compaction"].due
    assert not tasks(written, body, now=now, runs=run(replace(first, id="compaction-other"), now - 40 * DAY))[
        "compaction"
    ].due
    other = {"compaction": body["compaction"] | {"delete_ratio": 0.5}}
    assert tasks(written, other, now=old)["compaction"].due


@pytest.mark.parametrize("body", [ORPHANS, {"compaction": {"rewrite_all": True, "every": "7d"}}])
def test_what_no_figure_asks_for_waits_until_the_table_is_old_enough(
    written: Lake, body: dict[str, Any]
) -> None:
    now = measured(written, body)["measured_ms"]
    (first,) = tasks(written, body, now=now).values()
    assert (first.due, first.work) == (False, None)
    said = re.fullmatch(
        r"the table was made \d+s ago, the first run is on (.+) UTC; waiting: .+", first.summary
    )
    assert said is not None, first.summary
    due = int(datetime.fromisoformat(f"{said[1]}+00:00").timestamp() * 1000)
    assert 0 <= now + 7 * DAY - due < HOUR
    (early,) = tasks(written, body, now=due - 1000).values()
    (later,) = tasks(written, body, now=due + 1000).values()
    assert (early.due, later.due) == (False, True)
    # The clock of a catalog can be ahead
    assert not next(iter(tasks(written, body, now=now - HOUR).values())).due


LOG = [
    {"metadata-file": f"/t/metadata/{number:05d}-x.metadata.json", "timestamp-ms": 5} for number in range(3)
]
FIRST, SECOND = (
    {"snapshot-id": number, "timestamp-ms": 10 + number, "sequence-number": number} for number in (1, 2)
)


@pytest.mark.parametrize(
    ("name", "metadata", "made"),
    [
        ("00000-x.metadata.json", {}, 99),
        ("v1.metadata.json", {}, 99),
        ("00003-x.metadata.json", {"metadata-log": LOG, "snapshots": [SECOND]}, 5),
        ("00000-x.metadata.json", {"snapshots": [FIRST]}, 11),
        # Its log is not whole
        ("00004-x.metadata.json", {"metadata-log": LOG, "snapshots": [FIRST, SECOND]}, 11),
        ("00004-x.metadata.json", {"metadata-log": LOG, "snapshots": [SECOND]}, None),
        ("00004-x.metadata.json", {"metadata-log": LOG}, None),
        # A catalog that numbers no files, and drops the names of earlier ones
        ("00000-x.metadata.json", {"metadata-log": LOG, "snapshots": [SECOND]}, None),
        ("00000-x.metadata.json", {"snapshots": [SECOND]}, None),
        ("00000-x.metadata.json", {"snapshots": [SECOND | {"sequence-number": 0}]}, None),
        ("other.json", {"metadata-log": LOG, "snapshots": [SECOND]}, None),
        ("00003-x.metadata.json", {"metadata-log": [{"metadata-file": "x"}, *LOG[1:]]}, None),
    ],
)
def test_the_age_of_a_table_is_only_what_its_metadata_proves(
    name: str, metadata: dict[str, Any], made: int | None
) -> None:
    location = f"file:///00009-w/metadata/{name}"
    assert made_ms(location, {"last-updated-ms": 99, **metadata}) == made


@pytest.mark.parametrize("said", ["false", "no"])
def test_a_table_that_may_not_lose_files_loses_none(lake: Lake, said: str) -> None:
    """Any value but true is false to Iceberg."""
    body = ORDERS | {
        "properties": {"gc.enabled": said},
        "orphan_removal": {},
        "snapshot_expiry": {"older_than": "0s"},
    }
    lake.apply("table.t", body)
    lake.append("n.t", [{"id": 1, "ts": None}])
    lake.append("n.t", [{"id": 2, "ts": None}])
    found = tasks(lake, body)
    assert [(task.due, [item.code for item in task.diagnostics]) for task in found.values()] == [
        (False, ["FII157"])
    ] * 2


@pytest.mark.parametrize("inside", ["", "/data/more"])
def test_orphans_are_left_where_others_have_files(written: Lake, inside: str) -> None:
    location = measured(written, ORPHANS)["location"].removeprefix("file://")

    now = grown(written, ORPHANS)

    def beside(place: str, **more: bool) -> MaintenanceTask:
        neighbour = Neighbour(address="checkpoint.c", places=("/else", place), **more)
        return tasks(written, ORPHANS, now=now, neighbours=(neighbour,))["orphan_removal"]

    task = beside(f"{location}{inside}")
    assert not task.due
    assert [item.code for item in task.diagnostics] == ["FII158"]
    assert "checkpoint.c" in task.diagnostics[0].detail
    assert beside(f"{location}-more").due
    assert "flareiac undrop checkpoint.c" in beside(f"{location}{inside}", dropped=True).diagnostics[0].detail


@pytest.mark.parametrize("moved", [False, True])
def test_places_outside_of_the_location_are_named_with_their_live_files(written: Lake, moved: bool) -> None:
    """By a write path, or as the place that a table had before it was moved."""
    assert tasks(written, ORPHANS, now=grown(written, ORPHANS))["orphan_removal"].held == ()
    before = measured(written, ORPHANS)["location"].removeprefix("file://")
    place = f"{before}-far"
    table = written.table("n.t")
    with table.transaction() as change:
        if moved:
            change._apply((SetLocationUpdate(location=place),))
        else:
            change.set_properties({"write.data.path": place})
    written.append("n.t", [{"id": 9, "ts": None}])
    (held,) = tasks(written, ORPHANS, now=grown(written, ORPHANS))["orphan_removal"].held
    outside, files = (before, 3) if moved else (place, 1)
    assert held.startswith(f"{outside}")
    assert f": {files} live file{'s' if files > 1 else ''} outside of the table's location" in held


def test_two_tables_can_not_declare_one_location(lake: Lake) -> None:
    usages = lake.types["table"].relations.usages
    one, other = (
        usages(f"table.{name}", declared(lake, {"name": name, "location": place}), lake.references)[1]
        for name, place in (("a", "file:///lake/x/"), ("b", "/lake/x"))
    )
    assert one.relation is other.relation is Relation.OWNS_LOCATION
    assert one.subject == other.subject == "/lake/x"


def test_orphans_are_left_where_another_table_of_the_catalog_is(written: Lake) -> None:
    location = measured(written, ORPHANS)["location"]
    catalog = written.other()
    catalog.create_namespace("far")
    catalog.create_table("far.guest", schema=written.table("n.t").schema(), location=f"{location}/guest")
    catalog.close()
    task = tasks(written, ORPHANS)["orphan_removal"]
    assert not task.due
    assert task.summary == "the table far.guest has files in the same place"


def test_files_of_a_batch_at_work_are_no_orphans(written: Lake) -> None:
    now = grown(written, ORPHANS)
    began = now - 5 * DAY
    hold = Hold(subject="table.t", holder="job.w", reason="batch 7 is not committed", since_ms=began)
    task = tasks(written, ORPHANS, now=now, holds=(hold,))["orphan_removal"]
    assert task_of(task.work) == RemoveOrphans(older_than_ms=began)
    assert task.held[0].startswith("job.w: batch 7 is not committed, so files written since ")
    young = tasks(written, ORPHANS, now=now, holds=(replace(hold, since_ms=now - DAY),))["orphan_removal"]
    assert task_of(young.work) == RemoveOrphans(older_than_ms=now - 3 * DAY)
    assert not young.held


def test_what_nobody_knows_stops_everything_that_removes(written: Lake) -> None:
    hold = Hold(subject="table.t", holder="job.w", reason="its checkpoint cannot be read", unknown=True)
    body = ORPHANS | {"snapshot_expiry": {"older_than": "0s"}}
    found = tasks(written, body, holds=(hold,))
    assert not any(task.due for task in found.values())
    assert all(task.held for task in found.values())


def test_work_and_forecast_are_plain(written: Lake) -> None:
    task = tasks(written, COMPACTION)["compaction"]
    assert task.work is not None
    assert work_of(task_of(task.work)) == task.work
    assert all(isinstance(number, int) for number in task.forecast.values())


def test_options_go_by_icebergs_names(written: Lake) -> None:
    block = COMPACTION["compaction"] | {
        "strategy": "zorder",
        "zorder_by": ["id", "ts"],
        "target_file_size": "64MB",
        "delete_file_threshold": 3,
        "partial_progress": {"max_commits": 4, "max_failed_commits": 2},
        "options": {"max-output-size": "100"},
    }
    task = tasks(written, {"compaction": block})["compaction"]
    work = task_of(task.work)
    assert isinstance(work, RewriteDataFiles)
    assert work.sort_order == "zorder(id, ts)"
    assert work.options == {
        "min-input-files": "2",
        "max-file-group-size-bytes": str(100 * 1024**3),
        "max-concurrent-file-group-rewrites": "5",
        "target-file-size-bytes": str(64 * 1024**2),
        "delete-ratio-threshold": "0.3",
        "delete-file-threshold": "3",
        "partial-progress.enabled": "true",
        "partial-progress.max-commits": "4",
        "partial-progress.max-failed-commits": "2",
        "max-output-size": "100",
    }


def test_sorting_needs_an_order(written: Lake) -> None:
    task = tasks(written, {"compaction": COMPACTION["compaction"] | {"strategy": "sort"}})["compaction"]
    assert not task.due
    assert [item.code for item in task.diagnostics] == ["FII154"]
    by = {"transform": "day", "column": "ts", "param": None, "direction": "desc", "nulls": "last"}
    sorted_ = tasks(
        written, {"compaction": COMPACTION["compaction"] | {"strategy": "sort", "sort_by": [by, "id"]}}
    )["compaction"]
    work = task_of(sorted_.work)
    assert isinstance(work, RewriteDataFiles)
    assert work.sort_order == "day(ts) DESC NULLS LAST, id ASC NULLS FIRST"


def test_a_partition_spec_that_is_not_there_is_told(written: Lake) -> None:
    def by(spec: str) -> tuple[bool, list[str]]:
        task = tasks(
            written, {"compaction": COMPACTION["compaction"] | {"options": {"output-spec-id": spec}}}
        )["compaction"]
        return task.due, [item.code for item in task.diagnostics]

    assert (by("0"), by("7")) == ((True, []), (False, ["FII159"]))


def compacted(**result: int) -> Attributes:
    return {
        "snapshot_before": 7,
        "rows_before": 10,
        "rows_after": 10,
        "rewritten_files": 6,
        "rewritten_bytes": 600,
        **result,
    }


DUE = MaintenanceTask(
    name="compaction",
    id="compaction-a-b",
    due=True,
    summary="",
    forecast={"rewritten_files": 6, "rewritten_bytes": 600, "snapshot_before": 7},
    work=work_of(RewriteDataFiles(strategy="binpack")),
)


def test_a_result_as_forecast_is_said_to_be_so() -> None:
    found = TableMaintainer().judge(DUE, compacted(added_files=1))
    assert found.messages == (
        "compaction: 6 data files rewritten, 600B rewritten, 1 data file written",
        "compaction: as forecast",
    )
    assert not found.diagnostics


def test_a_result_on_a_later_snapshot_is_told_apart() -> None:
    found = TableMaintainer().judge(DUE, compacted(snapshot_before=8, rewritten_files=7))
    assert found.messages[1].startswith(
        "compaction: other than forecast, because the table was written meanwhile: 6 data files"
    )
    assert not found.diagnostics


@pytest.mark.parametrize(
    ("result", "code", "severity"),
    [
        (compacted(rows_after=9), "FII160", "error"),
        (compacted(failed_files=2), "FII161", "warning"),
        (compacted(rewritten_files=0, rewritten_bytes=0), "FII162", "warning"),
    ],
)
def test_wrong_results_are_complained_of(result: Attributes, code: str, severity: str) -> None:
    found = TableMaintainer().judge(DUE, result)
    assert [(item.code, item.severity.value) for item in found.diagnostics] == [(code, severity)]


def test_more_expired_than_were_to_when_it_began_is_an_error(written: Lake) -> None:
    """A stream's commits push old snapshots out between deciding and doing, and in between again: that is no
    error.
    """
    body = {"snapshot_expiry": {"older_than": "1d"}}
    task = tasks(written, body, now=measured(written, body)["measured_ms"] + 2 * DAY)["snapshot_expiry"]
    assert task.forecast["expired_snapshots"] == 2
    head = task.forecast["snapshot_before"]

    def judged(expired: int, before: int, after: int) -> tuple[list[str], str]:
        result = {
            "expired_snapshots": expired,
            "allowed_snapshots": max(2, expired - 1),
            "snapshot_before": before,
            "snapshot_after": after,
        }
        found = TableMaintainer().judge(task, result)
        return [item.code for item in found.diagnostics], found.messages[1]

    assert judged(2, head, head) == ([], "snapshot_expiry: as forecast")
    assert judged(3, head, head)[0] == ["FII163"]
    assert judged(3, head, head + 1)[0] == []
    complaints, said = judged(2, head + 1, head + 1)
    assert (complaints, said) == ([], "snapshot_expiry: as forecast")
    moved = TableMaintainer().judge(
        task, {"expired_snapshots": 9, "allowed_snapshots": 9, "snapshot_before": 1, "snapshot_after": 1}
    )
    assert not moved.diagnostics
    assert "because the table was written meanwhile: 2 snapshots expired expected and 9" in moved.messages[1]


def test_a_tag_whose_time_has_passed_goes_though_no_snapshot_does(written: Lake) -> None:
    table = written.table("n.t")
    table.manage_snapshots().create_tag(
        int(table.metadata.current_snapshot_id or 0), "old", max_ref_age_ms=HOUR
    ).commit()
    now = measured(written, {})["measured_ms"] + 2 * HOUR
    task = tasks(written, {"snapshot_expiry": {"older_than": "5d"}}, now=now)["snapshot_expiry"]
    assert (task.due, task.forecast["expired_snapshots"], task.forecast["dropped_refs"]) == (True, 0, 1)
    assert task.summary == "drop old, whose own time has passed; no snapshot goes"


@pytest.mark.parametrize(
    ("compaction", "code", "told"),
    [
        ({"where": "nope = 1"}, "FII059", 'There is no such column: compaction.where names "nope".'),
        (
            {"where": "date_sub(current_date(), 5) > `no pe`"},
            "FII059",
            'There is no such column: compaction.where names "no pe".',
        ),
        (
            {"strategy": "zorder", "zorder_by": ["zz"]},
            "FII059",
            'There is no such column: compaction.zorder_by names "zz".',
        ),
        (
            {"strategy": "sort", "sort_by": [CALLS["asc"]("zz")]},
            "FII059",
            'There is no such column: compaction.sort_by names "zz".',
        ),
    ],
)
def test_columns_that_are_not_there_are_no_work_for_spark_where_none_is_declared(
    written: Lake, compaction: dict[str, Any], code: str, told: str
) -> None:
    body = {"column": None, "compaction": compaction | {"run_if": {"small_files_over": 1}}}
    task = tasks(written, body)["compaction"]
    assert (task.due, task.summary, [item.code for item in task.diagnostics]) == (
        False,
        f"{told} Nothing is rewritten.",
        [code],
    )
    fine = {
        "column": None,
        "compaction": {
            "where": "ID > 0 and day(ts) > 3",
            "run_if": {"small_files_over": 1},
            "min_input_files": 2,
        },
    }
    assert tasks(written, fine)["compaction"].due


@pytest.mark.parametrize("where", ["a > ", "id = 1; drop table x", "id = 1 id", "", "select"])
def test_a_filter_that_is_no_condition_is_refused(written: Lake, where: str) -> None:
    with pytest.raises(Rejected, match="FII141"):
        declared(written, {"column": None, "compaction": {"where": where}})


def test_sizes_are_judged_beside_what_the_table_says(written: Lake) -> None:
    most = {"compaction": COMPACTION["compaction"] | {"max_file_size": "300MB"}}
    refused = tasks(written, most)["compaction"]
    assert (refused.due, [item.code for item in refused.diagnostics]) == (False, ["FII136"])
    with written.table("n.t").transaction() as change:
        change.set_properties({"write.target-file-size-bytes": "134217728"})
    assert tasks(written, most)["compaction"].due


def test_what_spark_can_not_load_is_not_maintained(lake: Lake) -> None:
    body = ORDERS | {
        "column": columns(id="long", at="struct<tm: time>"),
        **COMPACTION,
        **ORPHANS,
        "snapshot_expiry": {"older_than": "0s"},
    }
    lake.apply("table.t", body)
    lake.append("n.t", [{"id": 1, "at": None}])
    found = tasks(lake, body)
    assert not any(task.due for task in found.values())
    assert (
        found["orphan_removal"].summary
        == "Spark cannot load the table: at.tm has a type that it does not know"
    )
