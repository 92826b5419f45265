"""The rows that a stream writes in micro-batches: each mode, each point at which a batch may break off, and
the same rows as if it never had.
"""

import logging
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.types import StringType

from flareiac.kernel import kill_points
from flareiac_spark_runtime.control import QueryStatus, Result, job_spec_from_json
from flareiac_spark_runtime.control.operations import Operation
from flareiac_spark_runtime.driver import (
    batch_write,
    commit_marks,
    merge_rows,
    micro_batch,
    tables,
    temp_views,
)
from flareiac_spark_runtime.driver.analyse import analyse
from flareiac_spark_runtime.driver.batch_run import run_batch
from flareiac_spark_runtime.driver.inputs import open_input
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.driver.root_cause import root_cause_of
from flareiac_spark_runtime.driver.spark_session import new_session
from flareiac_spark_runtime.driver.stream_run import run_stream
from tests.facts.lake import Home, Lake, batches, collected, forget
from tests.support.driver_application import driver_application

pytestmark = pytest.mark.jvm

LOG = logging.getLogger("micro-batch")
KEYED = {"id": "long", "at": "long", "note": "string"}
POINTS = {
    "merge": ("in-merge", "after-output-write"),
    "counted merge": ("batch-begun", "in-merge", "after-output-write", "before-commit-log"),
    "overwrite_partitions": ("after-output-write",),
    "branch": ("before-output-write", "after-output-write"),
    "two outputs": ("batch-begun", "before-output-write", "after-output-write", "before-commit-log"),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    made = Home(root=tmp_path_factory.mktemp("lake"))
    made.catalog().close()
    return made


@pytest.fixture(scope="module")
def application(home: Home, jars: tuple[Path, ...], java_home: Path) -> Iterator[Any]:
    conf = {**home.spark_conf(), "spark.sql.shuffle.partitions": "2"}
    with driver_application(conf, jars, java_home, home.root) as session:
        yield session


class Workshop(Lake):
    """A lake in which jobs run as the driver runs them, one after the other."""

    def session(self) -> Any:
        return new_session(self.spark)

    def output(self, name: str, columns: dict[str, str], **more: Any) -> dict[str, Any]:
        spelled = [
            {"name": key, "type": kind.removesuffix("!"), "required": kind.endswith("!")}
            for key, kind in columns.items()
        ]
        base = {
            "name": name,
            "from": "picked",
            "identifier": ["lake", self.namespace, name],
            "mode": "append",
            "columns": spelled,
        }
        return {**base, "checkpoint": str(self.folder / "checkpoints" / name / "g0001"), **more}

    def job(
        self,
        *outputs: dict[str, Any],
        sql: str | None = None,
        steps: Sequence[dict[str, Any]] = (),
        **more: Any,
    ) -> dict[str, Any]:
        """A job that reads the folder ``events`` file by file."""
        (self.folder / "events").mkdir(exist_ok=True)
        columns = [{"name": key, "type": kind} for key, kind in {**KEYED, "ts": "timestamptz"}.items()]
        source = {
            "kind": "files",
            "path": str(self.folder / "events"),
            "format": "json",
            "columns": columns,
            "max_files_per_trigger": 1,
        }
        spec = {
            "address": "job.one",
            "mode": "stream",
            "trigger": {"kind": "available_now"},
            "inputs": [
                {
                    "name": "raw",
                    "kind": "stream",
                    "source": source,
                    "watermark": {"column": "ts", "delay": "1 hour"},
                }
            ],
            "steps": list(steps) or [{"name": "picked", "sql": sql or "SELECT id, at, note FROM raw"}],
            "outputs": list(outputs),
        }
        if more.get("foreach_batch"):
            for output in outputs:
                output["checkpoint"] = str(self.folder / "checkpoints" / "all" / "g0001")
        return {**spec, **more}

    def run(self, spec: dict[str, Any]) -> bool:  # type: ignore[override]
        """Until everything there was is read. Raises what ended it otherwise."""
        session, read = self.session(), job_spec_from_json(spec)
        if read.mode == "batch":
            return run_batch(session, read, LOG).found
        return run_stream(session, read, threading.Event(), lambda: 30.0, lambda _phase, _queries: None, LOG)

    def statuses(self, spec: dict[str, Any]) -> tuple[QueryStatus, ...]:
        """The last status of the queries of a run."""
        said: list[tuple[QueryStatus, ...]] = []
        run_stream(
            self.session(),
            job_spec_from_json(spec),
            threading.Event(),
            lambda: 30.0,
            lambda _phase, queries: said.append(queries),
            LOG,
        )
        return said[-1]

    def analyse(self, spec: dict[str, Any]) -> Result:
        return analyse(self.session, Operation(id="a", jobs=(spec,)))

    def events(self, *rows: tuple[Any, ...]) -> None:
        """One more file of rows (id, at, note[, minute])."""
        made = [
            {
                "id": row[0],
                "at": row[1],
                "note": row[2],
                "ts": f"2026-01-01T{row[3] if len(row) > 3 else 0:02}:00:00Z",
            }
            for row in rows
        ]
        self.land("events", made)

    def failure(self, spec: dict[str, Any]) -> tuple[str, str]:
        with pytest.raises(Exception) as caught:  # noqa: PT011 - whatever it is, its heart is compared
            self.run(spec)
        heart = root_cause_of(caught.value)
        return heart.error_class, heart.message


@pytest.fixture
def lake(surroundings: dict[str, Any]) -> Workshop:
    return Workshop(**surroundings)


# What each mode writes


def test_a_merge_keeps_the_latest_row_of_each_key(lake: Workshop) -> None:
    lake.create("kept", KEYED)
    rule = {"on": ["id"], "latest_by": "at", "delete_if": "s.note = 'gone'"}
    spec = lake.job(lake.output("kept", KEYED, mode="merge", merge=rule))
    lake.events((1, 1, "a"), (1, 3, "c"), (1, 2, "b"), (2, 1, "x"), (None, 1, "null"), (9, 1, "gone"))
    lake.events((1, 2, "late"), (2, 5, "gone"), (3, 1, "new"), (None, 2, "null again"))
    lake.run(spec)
    assert lake.rows("kept") == sorted([(1, 3, "c"), (3, 1, "new"), (None, 2, "null again")], key=repr)


def test_a_merge_leaves_columns_alone_that_the_query_does_not_give(lake: Workshop) -> None:
    lake.create("kept", KEYED)
    lake.spark.sql(f"INSERT INTO {lake.name('kept')} VALUES (1, 1, 'by hand'), (2, 1, 'by hand')")
    output = lake.output("kept", KEYED, mode="merge", merge={"on": ["id"], "update_if": "s.at > t.at"})
    lake.events((1, 5, "-"), (2, 0, "-"), (3, 7, "-"))
    lake.run(lake.job(output, sql="SELECT at, id FROM raw"))
    assert lake.rows("kept") == [(1, 5, "by hand"), (2, 1, "by hand"), (3, 7, None)]


def test_a_merge_may_use_columns_that_the_table_does_not_have(lake: Workshop) -> None:
    lake.create("kept", {"id": "long", "note": "string"})
    rule = {"on": ["id"], "latest_by": "at", "delete_if": "op = 'gone' AND t.note IS DISTINCT FROM 'kept'"}
    output = lake.output("kept", {"id": "long", "note": "string"}, mode="merge", merge=rule)
    spec = lake.job(output, sql="SELECT id, note, at, note AS op FROM raw")
    lake.events((1, 2, "b"), (1, 1, "a"), (2, 1, "kept"))
    lake.events((1, 3, "gone"), (2, 2, "gone"), (3, 1, "gone"))
    assert lake.analyse(spec).findings == ()
    lake.run(spec)
    assert lake.rows("kept") == [(2, "gone")]


def test_several_rows_of_one_key_need_a_choice(lake: Workshop) -> None:
    lake.create("kept", KEYED)
    spec = lake.job(lake.output("kept", KEYED, mode="merge", merge={"on": ["id"]}))
    lake.events((1, 1, "a"), (2, 1, "a"))
    lake.events((7, 1, "a"), (7, 2, "b"))
    error_class, message = lake.failure(spec)
    assert error_class == "MERGE_CARDINALITY"
    assert "latest_by" in message
    assert lake.rows("kept") == [(1, 1, "a"), (2, 1, "a")]


def test_counts_that_change_are_merged_without_a_watermark(lake: Workshop) -> None:
    """Spark gives changed groups (update mode); each batch computes its state once, also when it is written
    before it is replayed.
    """
    lake.create("counts", {"note": "string", "n": "long"})
    output = lake.output("counts", {"note": "string", "n": "long"}, mode="merge", merge={"on": ["note"]})
    spec = lake.job(output, sql="SELECT note, count(*) AS n FROM raw GROUP BY note")
    spec["inputs"][0].pop("watermark")
    lake.events((1, 1, "a"), (2, 1, "b"))
    lake.events((3, 1, "a"))
    assert lake.analyse(spec).findings == ()
    lake.run(spec)
    assert lake.rows("counts") == [("a", 2), ("b", 1)]


@pytest.mark.parametrize("mode", ["merge", "complete"])
def test_a_field_of_the_greatest_struct_of_a_group_is_written(lake: Workshop, mode: str) -> None:
    """It is computed by sorting, by columns that the frame of the batch does not have."""
    lake.create("latest", {"note": "string", "latest": "long"})
    more = {"merge": {"on": ["note"]}} if mode == "merge" else {}
    steps = [
        {"name": "p", "sql": "SELECT note, ts, id AS amount, at AS fee FROM raw"},
        {
            "name": "picked",
            "sql": "SELECT note, max(struct(ts, amount, fee)).amount AS latest FROM p GROUP BY note",
        },
    ]
    spec = lake.job(
        lake.output("latest", {"note": "string", "latest": "long"}, mode=mode, **more), steps=steps
    )
    lake.events((1, 1, "a", 1), (2, 1, "b", 1), (3, 1, "a", 2))
    lake.events((4, 1, "a", 3), (5, 1, "b", 4))
    assert lake.analyse(spec).findings == ()
    lake.run(spec)
    assert lake.rows("latest") == [("a", 4), ("b", 5)]


def test_an_overwrite_replaces_and_an_empty_batch_does_not(lake: Workshop) -> None:
    lake.create("last", KEYED)
    spec = lake.job(
        lake.output("last", KEYED, mode="overwrite"), sql="SELECT id, at, note FROM raw WHERE id > 0"
    )
    for rows in ([(1, 1, "a"), (2, 1, "a")], [(3, 1, "b")], [(0, 1, "none")]):
        lake.events(*rows)
    lake.run(spec)
    assert lake.rows("last") == [(3, 1, "b")]


def test_a_branch_is_written_and_main_is_not(lake: Workshop) -> None:
    lake.create("kept", KEYED)
    spec = lake.job(lake.output("kept", KEYED, branch="audit"))
    lake.events((1, 1, "a"))
    error_class, message = lake.failure(spec)
    assert error_class == "BRANCH_NOT_FOUND"
    assert "CREATE BRANCH `audit`" in message
    lake.spark.sql(f"ALTER TABLE {lake.name('kept')} CREATE BRANCH audit")
    lake.run(spec)
    assert lake.rows("kept") == []
    assert branch_rows(lake, "kept", "audit") == [(1, 1, "a")]


def branch_rows(lake: Workshop, table: str, branch: str) -> list[tuple[Any, ...]]:
    loaded = lake.load(table)
    reference = loaded.refs()[branch]
    found = loaded.scan(snapshot_id=reference.snapshot_id).to_arrow().to_pylist()
    return sorted((tuple(row.values()) for row in found), key=repr)


# The same rows, however often a batch is begun


@pytest.mark.parametrize(
    ("mode", "point"), [(mode, point) for mode, points in POINTS.items() for point in points]
)
def test_a_batch_that_breaks_off_leaves_no_trace(
    lake: Workshop, interrupted: Any, mode: str, point: str
) -> None:
    spec, expected = CASES[mode](lake)
    # In the second batch, so that there is one before it.
    interrupted(
        f"driver.{point}",
        {"two outputs": 2 if point in ("batch-begun", "before-commit-log") else 3}.get(mode, 2),
    )
    with pytest.raises(kill_points.Interrupted):
        lake.run(spec)
    lake.run(spec)
    lake.run(spec)
    assert expected() == expected_rows(mode)


def test_a_batch_breaks_off_between_two_outputs(lake: Workshop, interrupted: Any) -> None:
    spec, found = CASES["two outputs"](lake)
    interrupted("driver.between-outputs", 2)
    with pytest.raises(kill_points.Interrupted):
        lake.run(spec)
    # One has the second batch, the other has not
    assert [len(lake.rows(name)) for name in ("big", "small")] == [
        2,
        1,
    ]
    lake.run(spec)
    assert found() == expected_rows("two outputs")


def _land(lake: Workshop) -> None:
    lake.events((1, 1, "a"), (2, 1, "b"))
    lake.events((1, 2, "a"), (30, 1, "b"))
    lake.events((3, 1, "c"))


def _merge(lake: Workshop) -> Any:
    _land(lake)
    lake.create("kept", KEYED)
    rule = {"on": ["id"], "update_if": "s.at > t.at"}
    return lake.job(lake.output("kept", KEYED, mode="merge", merge=rule)), lambda: lake.rows("kept")


def _counted(lake: Workshop) -> Any:
    _land(lake)
    columns = {"note": "string", "n": "long"}
    lake.create("kept", columns)
    output = lake.output("kept", columns, mode="merge", merge={"on": ["note"]})
    return lake.job(output, sql="SELECT note, count(*) AS n FROM raw GROUP BY note"), lambda: lake.rows(
        "kept"
    )


def _partitions(lake: Workshop) -> Any:
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.transforms import IdentityTransform

    _land(lake)
    spec = PartitionSpec(
        PartitionField(source_id=3, field_id=1000, transform=IdentityTransform(), name="note")
    )
    lake.create("kept", KEYED, spec=spec)
    return lake.job(lake.output("kept", KEYED, mode="overwrite_partitions")), lambda: lake.rows("kept")


def _branch(lake: Workshop) -> Any:
    _land(lake)
    lake.create("kept", KEYED)
    lake.spark.sql(f"ALTER TABLE {lake.name('kept')} CREATE BRANCH audit")
    return lake.job(lake.output("kept", KEYED, branch="audit")), lambda: branch_rows(lake, "kept", "audit")


def _two(lake: Workshop) -> Any:
    _land(lake)
    lake.create("big", KEYED)
    lake.create("small", KEYED)
    steps = [
        {"name": "picked", "sql": "SELECT id, at, note FROM raw"},
        {"name": "over", "sql": "SELECT * FROM picked WHERE id > 1"},
        {"name": "under", "sql": "SELECT * FROM picked WHERE id <= 1"},
    ]
    outputs = [
        lake.output("big", KEYED, **{"from": "over"}),
        lake.output("small", KEYED, **{"from": "under"}),
    ]
    return lake.job(*outputs, steps=steps, foreach_batch=True), lambda: [
        *lake.rows("big"),
        *lake.rows("small"),
    ]


CASES: dict[str, Any] = {
    "merge": _merge,
    "counted merge": _counted,
    "overwrite_partitions": _partitions,
    "branch": _branch,
    "two outputs": _two,
}


def expected_rows(mode: str) -> list[tuple[Any, ...]]:
    """The result of a computation over all files."""
    everything = [(1, 1, "a"), (2, 1, "b"), (1, 2, "a"), (30, 1, "b"), (3, 1, "c")]
    match mode:
        case "merge":
            return sorted([(1, 2, "a"), (2, 1, "b"), (30, 1, "b"), (3, 1, "c")], key=repr)
        case "counted merge":
            return [("a", 2), ("b", 2), ("c", 1)]
        case "overwrite_partitions":
            return sorted([(1, 2, "a"), (30, 1, "b"), (3, 1, "c")], key=repr)
        case "two outputs":
            ordered = sorted(everything, key=repr)
            return [*(row for row in ordered if row[0] > 1), *(row for row in ordered if row[0] <= 1)]
        case _:
            return sorted(everything, key=repr)


# The rest of the promises


def test_the_same_batch_from_two_drivers_is_written_once(lake: Workshop) -> None:
    """A driver that was paused wakes up and writes the batch that its successor has written meanwhile."""
    spec, found = CASES["two outputs"](lake)
    lake.run(spec)
    checkpoint = lake.checkpoint("checkpoints") / "all" / "g0001"
    last = max(batches(checkpoint, "commits"))
    forget(checkpoint, "commits", last)
    lake.run(spec)
    assert batches(checkpoint, "commits")[-1] == last
    assert found() == expected_rows("two outputs")


def test_a_checkpoint_that_was_set_back_is_refused(lake: Workshop) -> None:
    spec, found = CASES["branch"](lake)
    lake.run(spec)
    checkpoint = Path(spec["outputs"][0]["checkpoint"])
    for log in ("commits", "offsets"):
        for batch in batches(checkpoint, log)[1:]:
            forget(checkpoint, log, batch)
    for batch in batches(checkpoint / "sources", "0")[1:]:
        forget(checkpoint / "sources", "0", batch)
    error_class, message = lake.failure(spec)
    assert error_class == "CHECKPOINT_BEHIND"
    assert "batch 2" in message
    assert found() == expected_rows("branch")


def test_state_goes_on_after_a_batch_that_was_there_already(lake: Workshop) -> None:
    """A replayed batch is not written, but what Spark remembers of it is made again."""
    spec, found = CASES["counted merge"](lake)
    lake.run(spec)
    checkpoint = Path(spec["outputs"][0]["checkpoint"])
    forget(checkpoint, "commits", max(batches(checkpoint, "commits")))
    for delta in (checkpoint / "state" / "0").glob("*/3.delta"):
        delta.unlink()
    lake.events((4, 1, "a"), (5, 1, "d"))
    lake.run(spec)
    assert found() == [("a", 3), ("b", 2), ("c", 1), ("d", 1)]


def test_steps_after_the_trunk_look_up_tables_as_they_are(lake: Workshop) -> None:
    lake.create("names", {"note": "string", "name": "string"})
    lake.create("plain", KEYED)
    lake.create("named", {"id": "long", "name": "string"})
    steps = [
        {"name": "picked", "sql": "SELECT id, at, note FROM raw"},
        {"name": "known", "sql": "SELECT note, upper(name) AS name FROM names"},
        {"name": "joined", "sql": "SELECT p.id, k.name FROM picked p LEFT JOIN known k USING (note)"},
    ]
    outputs = [
        lake.output("plain", KEYED),
        lake.output("named", {"id": "long", "name": "string"}, **{"from": "joined"}),
    ]
    spec = lake.job(*outputs, steps=steps, foreach_batch=True)
    spec["inputs"].append(
        {"name": "names", "kind": "table", "identifier": ["lake", lake.namespace, "names"], "columns": []}
    )
    lake.events((1, 1, "a"))
    lake.run(spec)
    lake.spark.sql(f"INSERT INTO {lake.name('names')} VALUES ('a', 'anna')")
    lake.events((2, 1, "a"))
    lake.run(spec)
    assert lake.rows("named") == [(1, None), (2, "ANNA")]
    assert lake.rows("plain") == [(1, 1, "a"), (2, 1, "a")]


@pytest.mark.parametrize(
    ("sql", "more", "error", "says"),
    [
        ("SELECT note, count(*) AS n FROM picked GROUP BY note", {}, "TRUNK_STATE", "aggregates"),
        ("SELECT DISTINCT note, at AS n FROM picked", {}, "TRUNK_STATE", "duplicates"),
        (
            "SELECT a.note, b.at AS n FROM picked a JOIN picked b USING (id)",
            {},
            "TRUNK_STATE",
            "joins streams",
        ),
        (
            "SELECT note, at AS n FROM picked",
            {"dedup": {"keys": ["note"], "within_watermark": False}},
            "TRUNK_STATE",
            "duplicates",
        ),
        ("SELECT note, at AS n FROM other", {}, "TRUNK_MISSING", "in common"),
    ],
    ids=["aggregate", "distinct", "self join", "dedup", "two streams"],
)
def test_what_can_not_come_after_the_trunk(
    lake: Workshop, sql: str, more: dict[str, Any], error: str, says: str
) -> None:
    lake.create("plain", KEYED)
    lake.create("side", {"note": "string", "n": "long"})
    steps = [
        {"name": "picked", "sql": "SELECT id, at, note, ts FROM raw"},
        {"name": "aside", "sql": sql, **more},
    ]
    steps.append({"name": "flat", "sql": "SELECT id, at, note FROM picked"})
    outputs = [
        lake.output("plain", KEYED, mode="merge", merge={"on": ["id"]}, **{"from": "flat"}),
        lake.output(
            "side", {"note": "string", "n": "long"}, mode="merge", merge={"on": ["note"]}, **{"from": "aside"}
        ),
    ]
    spec = lake.job(*outputs, steps=steps, foreach_batch=True)
    spec["inputs"].append({**spec["inputs"][0], "name": "other"})
    error_class, message = lake.failure(spec)
    assert (error_class, says in message) == (error, True), message
    assert [finding.error_class for finding in lake.analyse(spec).findings] == [error]


def test_an_aggregate_before_the_trunk_feeds_two_tables(lake: Workshop) -> None:
    columns = {"note": "string", "n": "long"}
    lake.create("every", columns)
    lake.create("often", columns)
    steps = [
        {"name": "counts", "sql": "SELECT note, count(*) AS n FROM raw GROUP BY note"},
        {"name": "many", "sql": "SELECT * FROM counts WHERE n > 1"},
    ]
    rule = {"mode": "merge", "merge": {"on": ["note"]}}
    outputs = [
        lake.output("every", columns, **rule, **{"from": "counts"}),
        lake.output("often", columns, **rule, **{"from": "many"}),
    ]
    lake.events((1, 1, "a"), (2, 1, "b"))
    lake.events((3, 1, "a"))
    lake.run(lake.job(*outputs, steps=steps, foreach_batch=True))
    assert (lake.rows("every"), lake.rows("often")) == ([("a", 2), ("b", 1)], [("a", 2)])


def test_a_column_that_the_table_gains_disturbs_no_merge(lake: Workshop) -> None:
    lake.create("kept", KEYED)
    spec = lake.job(lake.output("kept", KEYED, mode="merge", merge={"on": ["id"], "latest_by": "at"}))
    lake.events((1, 1, "a"))
    lake.run(spec)
    with lake.load("kept").update_schema() as update:
        update.add_column("extra", StringType())
    lake.events((1, 2, "b"), (2, 1, "c"))
    lake.run(spec)
    assert lake.rows("kept") == [(1, 2, "b", None), (2, 1, "c", None)]


@pytest.mark.parametrize("within", [True, False])
def test_a_step_removes_duplicates(lake: Workshop, within: bool) -> None:
    lake.create("once", KEYED)
    step = {
        "name": "picked",
        "sql": "SELECT id, at, note, ts FROM raw",
        "dedup": {"keys": ["id"], "within_watermark": within},
    }
    last = {"name": "last", "sql": "SELECT id, at, note FROM picked"}
    spec = lake.job(lake.output("once", KEYED, **{"from": "last"}), steps=[step, last])
    spec["inputs"][0].pop("watermark")
    if within:
        step["watermark"] = {"column": "ts", "delay": "1 hour"}
    lake.events((1, 1, "a"), (1, 1, "a"), (2, 1, "a"))
    lake.events((1, 1, "a"), (3, 1, "a"))
    assert lake.analyse(spec).findings == ()
    lake.run(spec)
    assert lake.rows("once") == [(1, 1, "a"), (2, 1, "a"), (3, 1, "a")]


def test_a_batch_job_merges_removes_duplicates_and_writes_branches(lake: Workshop) -> None:
    lake.create("kept", KEYED)
    lake.create("source", KEYED)
    lake.spark.sql(f"INSERT INTO {lake.name('source')} VALUES (1, 1, 'a'), (1, 1, 'a'), (2, 1, 'b')")
    lake.spark.sql(f"ALTER TABLE {lake.name('kept')} CREATE BRANCH audit")
    merged = lake.output("kept", KEYED, mode="merge", merge={"on": ["id"]}, checkpoint=None)
    table = {"name": "raw", "kind": "table", "identifier": ["lake", lake.namespace, "source"]}
    step = {"name": "picked", "sql": "SELECT * FROM raw", "dedup": {"keys": ["id"]}}
    spec = lake.job(
        merged, steps=[step], mode="batch", inputs=[table], run_id="run-1", trigger={"kind": "default"}
    )
    assert (lake.run(spec), lake.run(spec)) == (False, True)
    assert lake.rows("kept") == [(1, 1, "a"), (2, 1, "b")]
    branched = {**spec, "outputs": [{**merged, "mode": "append", "branch": "audit", "merge": None}]}
    assert (lake.run(branched), lake.run(branched)) == (False, True)
    assert branch_rows(lake, "kept", "audit") == [(1, 1, "a"), (2, 1, "b")]


def test_a_foreign_commit_in_between_is_worth_another_try(
    lake: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of the merge were deleted by somebody else while it was put together: the batch fails, is begun
    again and is there once.
    """
    lake.create("kept", KEYED)
    spec = lake.job(lake.output("kept", KEYED, mode="merge", merge={"on": ["id"], "latest_by": "at"}))
    lake.events((1, 1, "a"), (2, 1, "a"))
    lake.run(spec)
    lake.events((1, 2, "b"), (3, 1, "b"))
    # A value function in the update condition that somebody else's commit overtakes.
    real = batch_write.write

    def overtaken(frame: Any, output: Any, carry: Any, *more: Any) -> None:
        monkeypatch.setattr(batch_write, "write", real)
        raise CommitFailed("the branch main has changed")

    monkeypatch.setattr(batch_write, "write", overtaken)
    with pytest.raises(CommitFailed) as caught:
        lake.run(spec)
    assert not root_cause_of(caught.value).permanent
    lake.run(spec)
    assert lake.rows("kept") == [(1, 2, "b"), (2, 1, "a"), (3, 1, "b")]


class CommitFailed(Exception):
    pass


@pytest.mark.parametrize(
    ("merge", "sql", "error"),
    [
        ({"on": ["nosuch"]}, "SELECT id, at, note FROM raw", "MERGE_KEY_MISSING"),
        ({"on": ["id"]}, "SELECT at, note FROM raw", "MERGE_KEY_MISSING"),
        ({"on": ["id"], "delete_if": "s.nosuch > 1"}, "SELECT id, at, note FROM raw", "UNRESOLVED_COLUMN"),
        ({"on": ["id"], "update_if": "at >"}, "SELECT id, at, note FROM raw", "PARSE_SYNTAX_ERROR"),
        ({"on": ["id"], "update_if": "at > 1"}, "SELECT id, at, note FROM raw", "AMBIGUOUS_REFERENCE"),
        ({"on": ["id"], "latest_by": "nosuch"}, "SELECT id, at, note FROM raw", "MERGE_ORDER_MISSING"),
        ({"on": ["id"]}, "SELECT id, at, note, 1 AS surplus FROM raw", "OUTPUT_EXTRA_COLUMN"),
    ],
)
def test_analysis_tells_what_is_wrong_with_a_merge(
    lake: Workshop, merge: dict[str, Any], sql: str, error: str
) -> None:
    findings = lake.analyse(lake.job(lake.output("kept", KEYED, mode="merge", merge=merge), sql=sql)).findings
    assert [(finding.step, finding.error_class.partition(".")[0]) for finding in findings] == [
        ("outputs.kept", error)
    ]


def test_a_mark_is_found_behind_a_long_history(lake: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    lake.create("kept", KEYED)
    for number in range(6):
        with commit_marks.carried(
            lake.spark,
            {commit_marks.CHECKPOINT_ID: "c", commit_marks.OUTPUT: "o", commit_marks.BATCH_ID: "7"}
            if number == 1
            else {},
        ):
            lake.spark.sql(f"INSERT INTO {lake.name('kept')} VALUES (1, {number}, 'a')")
    monkeypatch.setattr(commit_marks, "_ONE_BY_ONE", 2)
    table = tables.load(lake.spark, ("lake", lake.namespace, "kept"), None)
    search = commit_marks.BatchSearch("c", "o", None)
    assert (search.newest(table), search.newest(table)) == (7, 7)
    assert commit_marks.BatchSearch("c", "other", None).newest(table) is None
    assert commit_marks.BatchSearch("other", "o", None).newest(table) is None
    assert len(list(commit_marks.commits(table, None))) == 6


def test_a_driver_that_was_paused_before_its_write_looks_again(
    lake: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, found = CASES["branch"](lake)
    monkeypatch.setattr(micro_batch, "_STALE_SECONDS", -1.0)
    seen = dict[str, str]()
    real = batch_write.write

    def remember(frame: Any, output: Any, carry: Any, *more: Any) -> None:
        seen.update(carry)
        real(frame, output, carry, *more)

    def successor(name: str, of: str = "") -> None:
        if name == "driver.before-output-write" and seen.get(commit_marks.BATCH_ID) == "1":
            with commit_marks.carried(lake.spark, {**seen, commit_marks.BATCH_ID: "2"}):
                lake.spark.sql(f"INSERT INTO {lake.name('kept')}.branch_audit VALUES (3, 1, 'c')")
            seen.clear()

    monkeypatch.setattr(batch_write, "write", remember)
    monkeypatch.setattr(kill_points, "reach", successor)
    lake.run(spec)
    assert found() == expected_rows("branch")


def test_rows_meet_by_keys_of_any_type(lake: Workshop) -> None:
    columns = {
        "note": "string",
        "whole": "int",
        "at": "long",
        "real": "double",
        "ts": "timestamptz",
        "n": "long",
    }
    lake.create("kept", columns)
    keys = ["note", "whole", "at", "real", "ts"]
    output = lake.output("kept", columns, mode="merge", merge={"on": keys, "latest_by": "n"})
    sql = (
        "SELECT note, int(id) AS whole, at, double(id) AS real, CASE WHEN id = 1 THEN ts END AS ts, "
        "bigint(id) AS n FROM raw"
    )
    lake.events((1, 1, "a"), (None, None, None), (2, 1, "a"))
    lake.events((1, 1, "a"), (None, None, None), (2, 1, "a"), (2, 1, ""), (0, 0, None))
    lake.run(lake.job(output, sql=sql))
    found = [(row[0], row[1], row[2], row[5]) for row in lake.rows("kept")]
    wanted = [("a", 1, 1, 1), (None, None, None, None), ("a", 2, 1, 2), ("", 2, 1, 2), (None, 0, 0, 0)]
    assert sorted(found, key=repr) == sorted(wanted, key=repr)


@pytest.mark.parametrize(
    ("sql", "repeats"),
    [
        ("SELECT id, at + 1 AS at, note FROM raw WHERE at > 1", True),
        ("SELECT id, at, uuid() AS note FROM raw", False),
        ("SELECT id, count(*) AS at, 'a' AS note FROM raw GROUP BY id", False),
    ],
    ids=["row by row", "drawn", "counted"],
)
def test_a_merge_reads_a_batch_twice_only_where_it_is_the_same_twice(
    lake: Workshop, sql: str, repeats: bool
) -> None:
    lake.create("kept", KEYED)
    given = lake.job(
        lake.output("kept", KEYED, mode="merge", merge={"on": ["id"], "latest_by": "at"}), sql=sql
    )
    del given["inputs"][0]["watermark"]
    session, spec = lake.session(), job_spec_from_json(given)
    temp_views.define_all(session, spec, lambda session, item: open_input(session, item, {}))
    assert micro_batch.flow_of(session, spec, spec.outputs).repeats is repeats


def test_the_latest_rows_are_found_before_any_is_moved(lake: Workshop) -> None:
    lake.create("kept", KEYED)
    lake.spark.sql("SELECT id % 3 AS id, id AS at, 'a' AS note FROM range(10)").repartition(
        3
    ).createOrReplaceTempView("rows")
    output = job_spec_from_json(
        lake.job(lake.output("kept", KEYED, mode="merge", merge={"on": ["id"], "latest_by": "at"}))
    ).table_outputs[0]
    ours = merge_rows.statement(
        lake.spark, output, merge_rows.NewRows(view="rows", columns=tuple(KEYED), orderable=tuple(KEYED))
    )
    plan = str(collected(lake.spark.sql(f"EXPLAIN {ours}"))[0][0])
    # Before the shuffle and after it, by the bare key
    assert plan.count("WindowGroupLimit [id") == 2 * plan.count("Window [row_number")


@pytest.mark.parametrize("kind", ["long", "long!"], ids=["optional", "required"])
def test_unique_keys_cost_no_further_shuffle(lake: Workshop, kind: str) -> None:
    columns = {**KEYED, "id": kind}
    lake.create("kept", columns)
    lake.spark.sql("SELECT id, id AS at, 'a' AS note FROM range(10)").repartition(3).createOrReplaceTempView(
        "rows"
    )
    output = job_spec_from_json(
        lake.job(lake.output("kept", columns, mode="merge", merge={"on": ["id"]}))
    ).table_outputs[0]
    ours = merge_rows.statement(
        lake.spark, output, merge_rows.NewRows(view="rows", columns=tuple(KEYED), orderable=tuple(KEYED))
    )
    plain = (
        "MERGE INTO {} t USING rows s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED "
        "THEN INSERT *"
    )
    assert shuffles(lake, ours) == shuffles(lake, plain.format(lake.name("kept")))


def shuffles(lake: Workshop, statement: str) -> int:
    """The number of times that the statement's plan moves rows between partitions; it is not run."""
    plan = str(collected(lake.spark.sql(f"EXPLAIN {statement}"))[0][0])
    return sum(line.strip(" +-:").startswith("Exchange") for line in plan.splitlines())


# Partitions of a table whose partitioning has changed


DATED = {**KEYED, "ts": "timestamptz"}


def _laid_out(lake: Workshop, before: str, after: str, branch: str | None = None) -> None:
    """The table ``kept`` with one row of 5 and one of 20 January, and one of May, in another layout than the
    present one, which another program has given it.
    """
    lake.create("kept", DATED)
    name = lake.name("kept")
    lake.spark.sql(f"ALTER TABLE {name} ADD PARTITION FIELD {before}")
    lake.spark.sql(
        f"INSERT INTO {name} VALUES (1, 1, 'eu', timestamp'2026-01-05T00:00:00Z'), "
        "(2, 1, 'eu', timestamp'2026-01-20T00:00:00Z'), (3, 1, 'us', timestamp'2026-05-01T00:00:00Z')"
    )
    if branch:
        lake.spark.sql(f"ALTER TABLE {name} CREATE BRANCH {branch}")
    lake.spark.sql(f"ALTER TABLE {name} REPLACE PARTITION FIELD {before} WITH {after}")


@pytest.mark.parametrize(
    ("before", "after", "row", "refused"),
    [
        ("day(ts)", "month(ts)", (9, "eu", "2026-01-06"), True),
        ("day(ts)", "month(ts)", (9, "eu", "2026-02-06"), False),
        ("month(ts)", "day(ts)", (9, "eu", "2026-01-05"), True),
        ("month(ts)", "day(ts)", (9, "eu", "2026-01-06"), False),
        ("note", "truncate(note, 1)", (9, "ex", "2026-01-06"), True),
        ("note", "truncate(note, 1)", (9, "ax", "2026-01-06"), False),
        ("day(ts)", "bucket(4, id)", (1, "eu", "2027-01-01"), True),
        ("bucket(4, id)", "ts", (9, "eu", "2026-01-20"), True),
        ("bucket(4, id)", "ts", (9, "eu", None), False),
        ("bucket(4, id)", "year(ts)", (9, "eu", "+294247-01-10"), False),
    ],
)
def test_partitions_are_not_replaced_beside_rows_of_another_layout(
    lake: Workshop, before: str, after: str, row: tuple[int, str, str | None], refused: bool
) -> None:
    _laid_out(lake, before, after)
    at = "null" if row[2] is None else f"timestamp'{row[2]}T00:00:00Z'"
    rows = lake.spark.sql(
        f"SELECT {row[0]}L AS id, 5L AS at, '{row[1]}' AS note, CAST({at} AS timestamp) AS ts"
    )
    output = job_spec_from_json(lake.job(lake.output("kept", DATED, mode="overwrite_partitions")))
    if refused:
        with pytest.raises(Refusal, match="earlier partitioning"):
            batch_write.write(rows, output.table_outputs[0], {})
    else:
        batch_write.write(rows, output.table_outputs[0], {})
    left = collected(lake.spark.table(lake.name("kept")).select("id"))
    assert left == [(1,), (2,), (3,)] + [(9,)] * (not refused)


@pytest.mark.parametrize("branch", [None, "audit"])
def test_partitions_are_replaced_once_all_files_are_of_one_layout(lake: Workshop, branch: str | None) -> None:
    _laid_out(lake, "day(ts)", "month(ts)", branch)
    output = lake.output("kept", DATED, mode="overwrite_partitions", **({"branch": branch} if branch else {}))
    spec = lake.job(output, sql="SELECT id, at, note, timestamp'2026-01-06T00:00:00Z' AS ts FROM raw")
    lake.events((9, 5, "eu"))
    assert lake.failure(spec)[0] == "ROWS_OF_EARLIER_PARTITIONING"
    assert [row[0] for row in branch_rows(lake, "kept", branch or "main")] == [1, 2, 3]
    lake.spark.sql(
        f"DELETE FROM {tables.quoted_target(job_spec_from_json(spec).table_outputs[0])} WHERE id < 3"
    )
    lake.run(spec)
    assert [row[0] for row in branch_rows(lake, "kept", branch or "main")] == [3, 9]


# What is counted of a batch


def _sorted(lake: Workshop, name: str) -> None:
    lake.spark.sql(f"ALTER TABLE {lake.name(name)} WRITE ORDERED BY id")


ALL = "SELECT id, at, note FROM raw"
COUNTED: dict[str, tuple[str, dict[str, Any]]] = {
    "appended": (ALL, {}),
    "ordered": (ALL, {}),
    "merged": (ALL, {"mode": "merge", "merge": {"on": ["id"], "latest_by": "at"}}),
    "replaced": (ALL, {"mode": "overwrite"}),
    "by_partition": (ALL, {"mode": "overwrite_partitions"}),
    "on_a_branch": (ALL, {"branch": "audit"}),
    "beside_a_table": ("SELECT r.id, r.at, f.note FROM raw r LEFT JOIN {fixed} f USING (at)", {}),
    "joined": ("SELECT a.id, a.at, b.note FROM raw a JOIN raw b ON a.id = b.id AND a.ts = b.ts", {}),
}


@pytest.mark.parametrize("name", COUNTED)
def test_rows_and_bad_records_are_counted_once_for_each_input(lake: Workshop, name: str) -> None:
    sql, more = COUNTED[name]
    lake.create(name, KEYED)
    lake.create("fixed", KEYED)
    for table in (name, "fixed"):
        lake.spark.sql(f"INSERT INTO {lake.name(table)} VALUES (70, 1, 'x')")
    if name in ("ordered", "merged", "joined"):
        _sorted(lake, name)
    if "branch" in more:
        lake.spark.sql(f"ALTER TABLE {lake.name(name)} CREATE BRANCH audit")
    spec = lake.job(lake.output(name, KEYED, **more), sql=sql.format(fixed=lake.name("fixed")))
    spec["inputs"][0] |= {"bad_records": "drop"}
    spec["inputs"][0]["source"] |= {"reading": 2}
    records = 0
    for numbers in ((1, 2, 3), (3, 4), (5,)):
        lake.events(*((number, 1, "a") for number in numbers), ("bad", 1, "b"))
        records += len(numbers) + 1
    (query,) = lake.statuses(spec)
    assert query.input_rows == records * (2 if name == "joined" else 1)
    assert query.bad_records == {"raw": 3}


@pytest.mark.parametrize("is_sorted", [False, True])
def test_a_batch_job_says_how_many_rows_it_wrote(lake: Workshop, is_sorted: bool) -> None:
    """Rows that a merge copies are none of its own, and those that a sort computes twice count once."""
    lake.create("kept", KEYED)
    if is_sorted:
        _sorted(lake, "kept")
    lake.spark.sql(f"INSERT INTO {lake.name('kept')} SELECT id, 1, 'old' FROM range(50)")
    lake.create("source", KEYED)
    lake.spark.sql(f"INSERT INTO {lake.name('source')} SELECT id + 48, 2, 'new' FROM range(3)")
    output = lake.output(
        "kept", KEYED, mode="merge", merge={"on": ["id"], "latest_by": "at"}, checkpoint=None
    )
    table = {"name": "raw", "kind": "table", "identifier": ["lake", lake.namespace, "source"]}
    more: dict[str, Any] = {"mode": "batch", "inputs": [table], "trigger": {"kind": "default"}}

    def rows(run: str, wanted: dict[str, Any]) -> int | None:
        spec = job_spec_from_json(lake.job(wanted, sql=ALL, run_id=run, **more))
        return run_batch(lake.session(), spec, LOG).rows

    assert rows("merged", output) == 3
    assert rows("again", output) in (0, 3)
    assert rows("appended", {**output, "mode": "append", "merge": None}) == 3
    assert len(lake.rows("kept")) == 54


def test_rows_of_state_and_late_ones_are_counted_once(lake: Workshop) -> None:
    lake.create("hours", {"at": "timestamptz", "n": "long"})
    lake.spark.sql(f"ALTER TABLE {lake.name('hours')} WRITE ORDERED BY at")
    sql = "SELECT window(ts, '1 hour').start AS at, count(*) AS n FROM raw GROUP BY window(ts, '1 hour')"
    spec = lake.job(lake.output("hours", {"at": "timestamptz", "n": "long"}), sql=sql)
    lake.events((1, 1, "a", 1), (2, 1, "a", 9))
    lake.events((3, 1, "a", 10))
    lake.events((4, 1, "late", 2), (5, 1, "late", 3), (6, 1, "a", 10))
    (query,) = lake.statuses(spec)
    assert (query.input_rows, query.late_rows, query.state_rows) == (6, 2, 2)
