"""Maintenance of tables as other writers leave them: afterwards the rows are exactly those that the
definition of each kind says.
"""

import json
import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flareiac.kernel.diagnostics import Severity
from flareiac.sdk.maintenance import MaintenanceTask
from flareiac_iceberg.maintenance.contents import Contents
from flareiac_iceberg.maintenance.contents import Table as MeasuredTable
from flareiac_iceberg.maintenance.live_rows import live_rows
from flareiac_iceberg.maintenance.plan import TableMaintainer
from tests.iceberg.lake import CATALOG, Lake, columns
from tests.iceberg.maintenance.maintenance import tasks
from tests.iceberg.maintenance.neighbours import Table, is_old, random_table, schema_of, wraps, write
from tests.support.performers import task_of
from tests.support.spark_session import spark_session

pytestmark = [
    pytest.mark.jvm,
    # PySpark leaves the sockets of collect() to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]
SAMPLE, ALL, STEP = 12, 2_000, 100
REWRITES: dict[str, dict[str, Any]] = {
    "compaction": {"min_input_files": 2, "run_if": {"small_files_over": 1}},
    "delete_rewrite": {"min_input_files": 2},
    "manifest_rewrite": {"run_if": {"manifests_over": 1}},
    "snapshot_expiry": {"older_than": "1s", "retain_last": 1},
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    made = Lake(tmp_path_factory.mktemp("neighbours"))
    made.apply("table.t", {"namespace": "n", "name": "first", "column": columns(id="long")})
    made.state.clear()
    yield made
    made.close()


@pytest.fixture(scope="module")
def spark(shared: Lake, jars: tuple[Path, ...], java_home: Path) -> Iterator[Any]:
    catalog = shared.references[CATALOG].attributes
    conf = catalog["spark_conf"] | {"spark.sql.extensions": ",".join(catalog["spark_extensions"])}
    with spark_session(conf, jars, java_home, shared.project.root) as session:
        yield session


def test_a_sample_of_neighbours(shared: Lake, spark: Any) -> None:
    run(shared, spark, range(SAMPLE))


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, ALL, STEP))
def test_neighbours(shared: Lake, spark: Any, start: int) -> None:
    run(shared, spark, range(start, start + STEP))


def run(lake: Lake, spark: Any, seeds: range) -> None:
    wrong = [(seed, why) for seed in seeds for why in [judged(lake, spark, seed)] if why]
    assert not wrong, f"{len(wrong)} of {len(seeds)}: {wrong[:3]}"


def judged(lake: Lake, spark: Any, seed: int) -> str:
    """The problem of the maintenance of one random table, in words; empty where there is none."""
    name = f"t{seed}"
    made = random_table(seed, int(time.time() * 1_000_000))
    try:
        return maintained(lake, spark, name, made, seed)
    except Exception as failure:  # noqa: BLE001 - one broken table must not hide the others
        return f"{type(failure).__name__}: {str(failure)[:300]} ({made})"
    finally:
        spark.sql(f"DROP TABLE IF EXISTS lake.n.{name}")


def maintained(lake: Lake, spark: Any, name: str, made: Table, seed: int) -> str:
    create(lake, spark, name, made)
    live = ids(spark, name)
    if why := miscounted(lake, name, len(live)):
        return f"{why} ({made})"
    kinds = REWRITES if seed % 4 == 0 else {}
    body = {
        "namespace": "n",
        "name": name,
        "column": None,
        "retention": {"column": made.column, "keep": f"{made.keep_days}d"},
        **kinds,
    }
    for kind in ("retention", *kinds):
        task = tasks(lake, body)[kind]
        before = ids(spark, name)
        if kind == "retention":
            why = aged(lake, spark, name, made, task, live)
        else:
            if task.due:
                perform(lake, spark, name, task)
            why = "" if ids(spark, name) == before else f"{kind} changed rows"
        if why:
            return f"{why} ({task.summary}; {made})"
    return ""


def miscounted(lake: Lake, name: str, live: int) -> str:
    """The figure of status: exact, or a bound that holds."""
    place = lake.table(f"n.{name}").metadata_location
    metadata = json.loads(file_of(place).read_text())
    table = MeasuredTable(metadata=metadata, metadata_location=place, attributes={})
    rows = live_rows(Contents(table, lambda location: file_of(location).read_bytes(), 0))
    if rows.exact is None:
        return "" if rows.at_most is not None and rows.at_most >= live else f"{rows} for {live} rows"
    return "" if rows.exact == live else f"{rows} for {live} rows"


def file_of(location: str) -> Path:
    return Path(location.removeprefix("file://").removeprefix("file:"))


def aged(lake: Lake, spark: Any, name: str, made: Table, task: MaintenanceTask, live: list[int]) -> str:
    """Retention: what stays and what goes."""
    rows = {row.id: row for row in made.rows}
    if not task.due:
        before_ms = int(time.time() * 1000) - made.keep_days * 86_400_000 - 366 * 86_400_000
        left = [
            number
            for number in live
            if is_old(made, rows[number], before_ms) and not wraps(made, rows[number])
        ]
        return f"not due, and {len(left)} rows are old" if left else ""
    before_ms = task_of(task.work).before_ms
    old = {number for number in live if is_old(made, rows[number], before_ms)}
    may_stay = {number for number in old if wraps(made, rows[number])}
    forecast = task.forecast.get("deleted_rows")
    if forecast is not None and not len(old) - len(may_stay) <= forecast <= len(old):
        return f"{forecast} forecast, {len(old)} are old"
    perform(lake, spark, name, task)
    after = ids(spark, name)
    if lost := set(live) - set(after) - old:
        return f"lost rows {sorted(lost)}"
    if kept := set(after) & (old - may_stay):
        return f"old rows {sorted(kept)} stayed"
    return "" if len(after) == len(set(after)) else "doubled rows"


def create(lake: Lake, spark: Any, name: str, made: Table) -> None:
    catalog = lake.other()
    properties = {"format-version": str(min(made.version, 2))}
    if made.version > 1:
        properties["write.delete.mode"] = "merge-on-read"
    write(made, catalog.create_table(f"n.{name}", schema_of(made), properties=properties))
    catalog.close()
    if made.version > 2:
        spark.sql(f"ALTER TABLE lake.n.{name} SET TBLPROPERTIES ('format-version' = '3')")
    gone = [row.id for row in made.rows][::3]
    if made.deletes == "positions":
        spark.sql(f"DELETE FROM lake.n.{name} WHERE id IN ({', '.join(map(str, gone))})")
    if made.deletes == "equality":
        delete_by_equality(spark, name, gone)
    if made.refs:
        spark.sql(f"ALTER TABLE lake.n.{name} CREATE TAG early")
        spark.sql(f"ALTER TABLE lake.n.{name} CREATE BRANCH other")


def delete_by_equality(spark: Any, name: str, gone: list[int]) -> None:
    """As Flink does it: a file with the ids that are deleted, for all partitions."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    jvm = spark._jvm
    table = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, f"lake.n.{name}")
    path = (
        Path(str(table.location()).removeprefix("file://").removeprefix("file:")) / "data" / "deletes.parquet"
    )
    field = pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "1"})
    pq.write_table(pa.Table.from_arrays([pa.array(gone, pa.int64())], schema=pa.schema([field])), path)
    spec = jvm.org.apache.iceberg.PartitionSpec.unpartitioned()
    known = {int(item.specId()): item for item in table.specs().values() if item.isUnpartitioned()}
    if not known:
        return
    numbers = spark.sparkContext._gateway.new_array(jvm.int, 1)
    numbers[0] = 1
    spec = next(iter(known.values()))
    deletes = (
        jvm.org.apache.iceberg.FileMetadata.deleteFileBuilder(spec)
        .ofEqualityDeletes(numbers)
        .withPath(f"file://{path}")
        .withFormat("parquet")
        .withFileSizeInBytes(path.stat().st_size)
        .withRecordCount(len(gone))
        .build()
    )
    table.newRowDelta().addDeletes(deletes).commit()


def ids(spark: Any, name: str) -> list[int]:
    """The rows that Spark reads, without any filter."""
    spark.sql(f"REFRESH TABLE lake.n.{name}")
    return sorted(row[0] for row in spark.sql(f"SELECT id FROM lake.n.{name}").collect())


def perform(lake: Lake, spark: Any, name: str, task: MaintenanceTask) -> None:
    """Carries a task out as the application would; nothing may be wrong with the result."""
    from flareiac_spark.control import Maintain
    from flareiac_spark.driver.maintenance import TableLocks, maintain

    assert task.work is not None
    asked = Maintain(
        key=task.id,
        identifier=("lake", "n", name),
        uuid=str(lake.table(f"n.{name}").metadata.table_uuid),
        task=task.work,
    )
    log = logging.getLogger("neighbours")
    done = maintain(lambda: spark, asked, TableLocks(), lambda _seconds: None, log)
    judgement = TableMaintainer().judge(task, done.result)
    errors = [item.detail for item in judgement.diagnostics if item.severity is Severity.ERROR]
    assert not errors, errors
