"""The forecast of each kind is the work that Spark and Iceberg then do, and nothing is due of it
afterwards.
"""

import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from pyiceberg.schema import Schema
from pyiceberg.transforms import parse_transform
from pyiceberg.types import LongType, NestedField

from flareiac.sdk.maintenance import Judgement, MaintenanceTask
from flareiac_iceberg.maintenance.contents import Contents
from flareiac_iceberg.maintenance.contents import Table as MeasuredTable
from flareiac_iceberg.maintenance.kinds.compaction.file_filter import filter_of
from flareiac_iceberg.maintenance.kinds.compaction.settings import OPTIONS as COMPACTION
from flareiac_iceberg.maintenance.kinds.delete_rewrite.settings import OPTIONS as DELETE_REWRITE
from flareiac_iceberg.maintenance.plan import TableMaintainer
from flareiac_iceberg_runtime.kinds.compaction.perform import _condition as condition
from flareiac_spark_runtime.driver.refusal import Refusal
from tests.iceberg.lake import CALLS, CATALOG, Lake
from tests.iceberg.maintenance.filters import KINDS, conditions, table_of
from tests.iceberg.maintenance.maintenance import DAY, ORDERS, measured, tasks
from tests.support.performers import task_of, work_of
from tests.support.spark_session import spark_session

pytestmark = [
    pytest.mark.jvm,
    # PySpark leaves the sockets of collect() to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]
NOW = datetime.now(UTC)
NAME = "lake.n.t"
ALLOWED = {**COMPACTION, "delete_rewrite": DELETE_REWRITE}
"""Options by strategy, or by block."""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    made = Lake(tmp_path_factory.mktemp("upkeep"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def spark(shared: Lake, jars: tuple[Path, ...], java_home: Path) -> Iterator[Any]:
    """A Spark that is configured with nothing but what the catalog's attributes say."""
    catalog = shared.references[CATALOG].attributes
    conf = catalog["spark_conf"] | {"spark.sql.extensions": ",".join(catalog["spark_extensions"])}
    with spark_session(conf, jars, java_home, shared.project.root) as session:
        yield session


Do = Callable[[MaintenanceTask], Judgement]


@pytest.fixture
def do(shared: Lake, spark: Any) -> Iterator[Do]:
    """Carries out a maintenance task of the table n.t as the application would, and judges the result."""
    from flareiac_spark_runtime.control import Maintain
    from flareiac_spark_runtime.driver.maintenance import TableLocks, maintain

    def carried_out(task: MaintenanceTask) -> Judgement:
        assert task.due, task.summary
        assert task.work is not None
        table = shared.table("n.t")
        asked = Maintain(
            key=task.id,
            identifier=("lake", "n", "t"),
            uuid=str(table.metadata.table_uuid),
            task=task.work,
        )
        done = maintain(
            lambda: spark, asked, TableLocks(), lambda _seconds: None, logging.getLogger("forecasts")
        )
        return TableMaintainer().judge(task, done.result)

    yield carried_out
    spark.sql(f"DROP TABLE {NAME}")
    shared.state.clear()


def as_forecast(found: Judgement) -> None:
    assert found.messages[1].endswith(": as forecast"), found.messages
    assert not found.diagnostics


def rows(*days_ago: int) -> list[dict[str, Any]]:
    return [{"id": number, "ts": NOW - timedelta(days=days)} for number, days in enumerate(days_ago)]


def test_rewrites_of_a_partitioned_table(shared: Lake, spark: Any, do: Do) -> None:
    body = ORDERS | {"partition_by": [CALLS["day"]("ts")]}
    shared.apply("table.t", body)
    for number in range(7):
        shared.append("n.t", rows(0, number % 2, 3))
    declared = body | {
        "compaction": {"run_if": {"small_files_over": 3}},
        "manifest_rewrite": {"run_if": {"manifests_over": 3}},
        "snapshot_expiry": {"older_than": "1d"},
    }
    found = tasks(shared, declared)
    as_forecast(do(found["compaction"]))
    again = tasks(shared, declared)
    assert not again["compaction"].due
    assert shared.table("n.t").current_snapshot().summary["added-data-files"] == "2"  # type: ignore[union-attr, index]
    as_forecast(do(again["manifest_rewrite"]))
    later = measured(shared, declared)["measured_ms"] + 2 * DAY
    assert not tasks(shared, declared, now=later)["manifest_rewrite"].due
    spark.sql(f"REFRESH TABLE {NAME}")
    expiry = tasks(shared, declared, now=later)["snapshot_expiry"]
    assert expiry.forecast["deleted_data_files"] == found["compaction"].forecast["rewritten_files"]
    as_forecast(do(expiry))
    assert not tasks(shared, declared, now=later)["snapshot_expiry"].due
    assert len(shared.rows("n.t")) == 21


def test_rewrites_of_deleted_rows(shared: Lake, spark: Any, do: Do) -> None:
    properties = {"write.delete.mode": "merge-on-read", "write.delete.granularity": "partition"}
    body = ORDERS | {"properties": properties}
    shared.apply("table.t", body)
    spark.sql(f"INSERT INTO {NAME} SELECT id, current_timestamp() FROM range(1000)")
    for number in range(6):
        spark.sql(f"DELETE FROM {NAME} WHERE id = {number}")
    declared = body | {
        "delete_rewrite": {"min_input_files": 3},
        "compaction": {"delete_ratio": 0.5, "run_if": {"small_files_over": 0}},
    }
    found = tasks(shared, declared)
    assert not found["compaction"].due
    as_forecast(do(found["delete_rewrite"]))
    assert not tasks(shared, declared)["delete_rewrite"].due
    spark.sql(f"ALTER TABLE {NAME} SET TBLPROPERTIES ('write.delete.granularity' = 'file')")
    spark.sql(f"DELETE FROM {NAME} WHERE id < 600")
    worn = tasks(shared, declared)["compaction"]
    assert worn.summary.startswith("1 file small or with many deleted rows (limit 0): ")
    judged = do(worn)
    as_forecast(judged)
    assert worn.forecast["rewritten_files"] == 1
    assert "1 data file rewritten" in judged.messages[0]
    assert len(shared.rows("n.t")) == 400


def four_with_deletes(lake: Lake, spark: Any) -> dict[str, Any]:
    """A table of four data files with a file of deletes each; returns its block."""
    body = ORDERS | {
        "properties": {"write.delete.mode": "merge-on-read"},
        "delete_rewrite": {"min_input_files": 3},
    }
    lake.apply("table.t", body)
    for _ in range(4):
        spark.sql(f"INSERT INTO {NAME} SELECT id, current_timestamp() FROM range(100)")
    spark.sql(f"DELETE FROM {NAME} WHERE id < 2")
    return body


def test_manifests_of_two_partitions_of_one_type_are_read(shared: Lake, spark: Any, do: Do) -> None:
    shared.other_made().create_namespace_if_not_exists("n")
    spark.sql(f"CREATE TABLE {NAME} (a DECIMAL(9,2), b DECIMAL(9,2)) USING iceberg PARTITIONED BY (a, b)")
    for number in range(3):
        spark.sql(f"INSERT INTO {NAME} VALUES ({number}.5, 1), ({number}.5, NULL)")
    body = {
        "column": None,
        "compaction": {"where": "b IS NULL", "rewrite_all": True, "every": "1s"},
        "manifest_rewrite": {"run_if": {"manifests_over": 1}},
    }
    assert tasks(shared, body)["compaction"].forecast["rewritten_files"] == 3
    as_forecast(do(tasks(shared, body)["manifest_rewrite"]))


@pytest.mark.parametrize("kind", ["uuid", "binary"])
def test_deletes_are_rewritten_where_iceberg_can_read_their_partitions(
    shared: Lake, spark: Any, do: Do, kind: str
) -> None:
    catalog = shared.other_made()
    catalog.create_namespace_if_not_exists("n")
    columns = (NestedField(1, "id", LongType(), required=False), NestedField(2, "k", KINDS[kind].type))
    properties = {"write.delete.mode": "merge-on-read", "write.delete.granularity": "partition"}
    made = catalog.create_table("n.t", Schema(*columns), properties=properties)
    with made.update_spec() as update:
        update.add_field("k", parse_transform("identity"), "p")
    catalog.close()
    spark.sql(f"INSERT INTO {NAME} SELECT id, {KINDS[kind].literals[0]} FROM range(4)")
    for number in range(3):
        spark.sql(f"DELETE FROM {NAME} WHERE id = {number}")
    task = tasks(shared, {"column": None, "delete_rewrite": {"min_input_files": 2}})["delete_rewrite"]
    if kind == "binary":
        assert not do(task).diagnostics
    else:
        assert "Iceberg cannot rewrite those of partitions" in task.summary
        assert not task.due


@pytest.mark.parametrize("name", ["row", "partition", "delete_file_path", "POS"])
def test_deletes_stay_where_iceberg_has_a_column_of_the_name_of_a_partition(
    shared: Lake, spark: Any, do: Do, name: str
) -> None:
    shared.other_made().create_namespace_if_not_exists("n")
    properties = "'write.delete.mode' = 'merge-on-read', 'write.delete.granularity' = 'partition'"
    spark.sql(
        f"CREATE TABLE {NAME} (id BIGINT, {name} STRING) USING iceberg PARTITIONED BY ({name}) "
        f"TBLPROPERTIES ({properties})"
    )
    spark.sql(f"INSERT INTO {NAME} SELECT id, 'a' FROM range(4)")
    for number in range(3):
        spark.sql(f"DELETE FROM {NAME} WHERE id = {number}")
    task = tasks(shared, {"column": None, "delete_rewrite": {"min_input_files": 2}})["delete_rewrite"]
    if name == "POS":
        assert not do(task).diagnostics
    else:
        assert f"a partition field called {name}" in task.summary
        assert not task.due


def test_deletes_of_data_files_that_are_gone_go(shared: Lake, spark: Any, do: Do) -> None:
    body = four_with_deletes(shared, spark)
    spark.sql(
        f"CALL lake.system.rewrite_data_files(table => '{NAME}', options => map('rewrite-all', 'true'))"
    )
    task = tasks(shared, body)["delete_rewrite"]
    assert (task.due, task.forecast["rewritten_delete_files"]) == (True, 4), task.summary
    as_forecast(do(task))
    assert tasks(shared, body)["delete_rewrite"].summary == "no position delete files"


def test_delete_files_of_one_data_file_each_are_left_as_they_are(shared: Lake, spark: Any, do: Do) -> None:
    """As Spark writes them of itself, a rewrite makes as many of them again."""
    body = four_with_deletes(shared, spark)
    task = tasks(shared, body)["delete_rewrite"]
    assert (task.due, task.summary) == (
        False,
        "4 position delete files, one for each data file: a rewrite would leave as many",
    )
    spark.sql(f"ALTER TABLE {NAME} SET TBLPROPERTIES ('write.delete.granularity' = 'partition')")
    together = tasks(shared, body)["delete_rewrite"]
    assert together.summary.endswith(") become about 1")
    as_forecast(do(together))
    assert not tasks(shared, body)["delete_rewrite"].due
    assert len(shared.rows("n.t")) == 392


@pytest.mark.parametrize("partitioned", [True, False])
def test_old_rows_go(shared: Lake, spark: Any, do: Do, partitioned: bool) -> None:
    body = ORDERS | ({"partition_by": [CALLS["day"]("ts")]} if partitioned else {})
    shared.apply("table.t", body)
    shared.append("n.t", rows(1, 2))
    shared.append("n.t", rows(20, 21, 21))
    shared.append("n.t", [{"id": 9, "ts": None}])
    declared = body | {"retention": {"column": "ts", "keep": "5d"}}
    task = tasks(shared, declared)["retention"]
    assert task.forecast["deleted_rows"] == 3
    less = replace(task, work=work_of(replace(task_of(task.work), forecast_rows=2)))
    with pytest.raises(Refusal, match=r"3 rows .* forecast for the same snapshot is 2"):
        do(less)
    assert len(shared.rows("n.t")) == 6
    as_forecast(do(task))
    assert not tasks(shared, declared)["retention"].due
    assert len(shared.rows("n.t")) == 3


@pytest.mark.parametrize(
    "compaction",
    [
        {"strategy": "sort", "sort_by": [CALLS["desc"]("ts"), CALLS["asc"](CALLS["bucket"](4, "id"))]},
        {"strategy": "zorder", "zorder_by": ["id", "ts"]},
        {"where": f"ts < '{(NOW - timedelta(days=3)).isoformat()}'"},
        {"partial_progress": {"max_commits": 2, "max_failed_commits": 1}, "max_concurrent_groups": 2},
        {"rewrite_all": True, "every": "1ms", "delete_file_threshold": 9, "max_file_group_size": "1GB"},
        {
            "options": {
                "remove-dangling-deletes": "true",
                "rewrite-job-order": "bytes-asc",
                "use-starting-sequence-number": "false",
            }
        },
    ],
    ids=["sort", "zorder", "where", "partial", "all", "options"],
)
def test_every_way_of_compaction(shared: Lake, spark: Any, do: Do, compaction: dict[str, Any]) -> None:
    shared.apply("table.t", ORDERS)
    for number in range(6):
        shared.append("n.t", rows(number))
    declared = ORDERS | {
        "compaction": {"min_input_files": 2, "run_if": {"small_files_over": 1}, **compaction}
    }
    task = tasks(shared, declared)["compaction"]
    assert task.forecast["rewritten_files"] == (2 if "where" in compaction else 6)
    as_forecast(do(task))
    assert len(shared.rows("n.t")) == 6


@pytest.mark.parametrize("strategy", ["binpack", "sort", "zorder", "delete_rewrite"])
def test_every_option_that_may_be_set_is_known_to_iceberg(
    shared: Lake, spark: Any, do: Do, strategy: str
) -> None:
    values = {
        "rewrite-job-order": "files-desc",
        "use-starting-sequence-number": "true",
        "remove-dangling-deletes": "false",
    }
    options = {name: values.get(name, "0" if name == "output-spec-id" else "4") for name in ALLOWED[strategy]}
    properties = {"write.delete.mode": "merge-on-read", "write.delete.granularity": "partition"}
    shared.apply("table.t", ORDERS | {"properties": properties})
    spark.sql(f"INSERT INTO {NAME} SELECT id, current_timestamp() FROM range(100)")
    for number in range(3):
        shared.append("n.t", rows(number))
        spark.sql(f"DELETE FROM {NAME} WHERE id = {number + 10}")
    columns = {"sort": {"sort_by": ["id"]}, "zorder": {"zorder_by": ["id", "ts"]}}.get(strategy, {})
    compaction = {
        "strategy": strategy,
        "min_input_files": 2,
        "run_if": {"small_files_over": 1},
        "options": options,
        **columns,
    }
    partial = {"partial_progress": {"max_commits": 2}}
    maintenance: dict[str, Any] = {"compaction": compaction}
    if strategy == "delete_rewrite":
        maintenance = {"delete_rewrite": {"min_input_files": 2, "options": options, **partial}}
    (task,) = tasks(shared, ORDERS | maintenance).values()
    assert bool(task.forecast) == ("max-files-to-rewrite" not in options)
    assert not do(task).diagnostics


def test_orphans_are_found(shared: Lake, spark: Any, do: Do) -> None:
    # The tables of other tests left their metadata in this folder, and metadata of another table stops the
    # removal.
    shutil.rmtree(shared.project.root / ".flareiac/lake/default/warehouse/n/t", ignore_errors=True)
    shared.apply("table.t", ORDERS)
    shared.append("n.t", rows(1))
    location = measured(shared, ORDERS | {"orphan_removal": {}})["location"]
    orphan = Path(location.removeprefix("file://")) / "data" / f"00000-1-{uuid4()}-00001.parquet"
    orphan.write_bytes(b"left")
    old = (NOW - timedelta(days=9)).timestamp()
    os.utime(orphan, (old, old))
    due = {"every": "1ms"}
    first = do(tasks(shared, ORDERS | {"orphan_removal": {"dry_run": True, **due}})["orphan_removal"])
    assert first.messages == ("orphan_removal: 1 file that no snapshot names, 4B in all",)
    assert orphan.exists()
    do(tasks(shared, ORDERS | {"orphan_removal": due})["orphan_removal"])
    assert not orphan.exists()


@pytest.mark.parametrize("transform", ["", "identity", "bucket[3]"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_filter_of_compaction_takes_the_files_that_iceberg_takes(
    shared: Lake, spark: Any, kind: str, transform: str
) -> None:
    """Or more of them, where it is not exact."""
    if transform == "bucket[3]" and kind in ("boolean", "float", "double"):
        return  # no such transform
    name = f"where_{kind}_{transform[:6]}"
    catalog = shared.other_made()
    catalog.create_namespace_if_not_exists("n")
    made = table_of(catalog, f"n.{name}", KINDS[kind], transform)
    metadata = json.loads(file_of(made.metadata_location).read_text())
    measured_table = MeasuredTable(metadata=metadata, metadata_location=made.metadata_location, attributes={})
    files = Contents(measured_table, lambda place: file_of(place).read_bytes(), 0)
    entries = list(files.entries(files.data_manifests))
    assert len(entries) == 4
    work: Any = SimpleNamespace(session=spark, name=f"lake.n.{name}")
    table = spark._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, work.name)
    wrong, weighed = [], 0
    for where in conditions(KINDS[kind]):
        ours = filter_of(where, metadata)
        found = {entry.path for spec, entry in entries if ours.may_match(spec, entry)}
        try:
            theirs = planned(table, condition(work, where))
        except Exception:  # noqa: BLE001 - what Spark refuses is taken by no one
            continue
        weighed += ours.exact
        if found != theirs if ours.exact else not found >= theirs:
            wrong.append((where, sorted(found - theirs), sorted(theirs - found)))
    catalog.drop_table(f"n.{name}")
    catalog.close()
    assert not wrong, (len(wrong), wrong[:4])
    assert weighed or kind == "fixed"


def planned(table: Any, expression: Any) -> set[str]:
    """The files of a scan, without opening one."""
    tasks_of = table.newScan().filter(expression).ignoreResiduals().planFiles().iterator()
    found = set()
    while tasks_of.hasNext():
        found.add(str(tasks_of.next().file().location()))
    return found


def file_of(location: str) -> Path:
    return Path(location.removeprefix("file://").removeprefix("file:"))
