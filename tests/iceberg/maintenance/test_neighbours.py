"""Maintenance of tables as other writers leave them: afterwards the rows are exactly those that the
definition of each kind says.
"""

import itertools
import json
import logging
import time
from collections.abc import Generator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.catalog.sql import SqlCatalog

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
from tests.support.spark_session import FEW_ROWS, spark_session

pytestmark = [
    pytest.mark.jvm,
    # PySpark leaves the sockets of collect() to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]
SAMPLE, TURNS, CASES, BLOCKS, TOGETHER, REWRITTEN = 6, 2, 2_000, 100, 20, 10
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
    extensions = {"spark.sql.extensions": ",".join(catalog["spark_extensions"])}
    with spark_session(
        catalog["spark_conf"] | extensions | FEW_ROWS, jars, java_home, shared.project.root
    ) as session:
        yield session


@pytest.mark.parametrize(
    "turn", [pytest.param(turn, marks=pytest.mark.turn(turn, TURNS)) for turn in range(TURNS)]
)
def test_a_sample_of_neighbours(shared: Lake, spark: Any, turn: int) -> None:
    run(shared, spark, range(turn * SAMPLE, (turn + 1) * SAMPLE))


@pytest.mark.slow
@pytest.mark.parametrize("block", range(BLOCKS))
def test_neighbours(shared: Lake, spark: Any, block: int) -> None:
    """A case is a partition spec with the files that were written under it; one maintenance judges all of a
    table. Blocks are small: a test has its time limit on a busy machine, too.
    """
    seeds = range(block * 1_000, block * 1_000 + 1_000)
    cases = itertools.accumulate(len(random_table(seed, 0).eras) for seed in seeds)
    tables = next(number for number, sum_of in enumerate(cases, 1) if sum_of >= CASES // BLOCKS)
    run(shared, spark, seeds[:tables])


def run(lake: Lake, spark: Any, seeds: range) -> None:
    wrong: dict[int, str] = {}
    catalog = lake.other()
    for start in range(seeds.start, seeds.stop, TOGETHER):
        wrong |= together(lake, spark, catalog, seeds[start - seeds.start :][:TOGETHER])
    catalog.close()
    assert not wrong, f"{len(wrong)} of {len(seeds)}: {list(wrong.items())[:3]}"


def together(lake: Lake, spark: Any, catalog: SqlCatalog, seeds: range) -> dict[int, str]:
    """The problems of the maintenance of random tables, in words, by seed. Each table stops where its rows
    are to be read, so that one query reads those of all.
    """
    made = {seed: random_table(seed, int(time.time() * 1_000_000)) for seed in seeds}
    going = {seed: maintained(lake, spark, catalog, f"t{seed}", made[seed], seed) for seed in seeds}
    rows: Mapping[int, list[int]] = {}
    wrong: dict[int, str] = {}
    while going:
        for seed, case in list(going.items()):
            try:
                case.send(rows.get(seed))
                continue
            except StopIteration as end:
                problem = end.value
            except Exception as failure:  # noqa: BLE001 - one broken table must not hide the others
                problem = f"{type(failure).__name__}: {str(failure)[:300]}"
            if problem:
                wrong[seed] = f"{problem} ({made[seed]})"
            del going[seed]
            catalog.drop_table(f"n.t{seed}")
        rows = ids(spark, going)
    return wrong


def maintained(
    lake: Lake, spark: Any, catalog: SqlCatalog, name: str, made: Table, seed: int
) -> Generator[None, list[int] | None, str]:
    """The problem of a table; empty where there is none. Yields for the ids of its rows."""
    create(spark, catalog, name, made)
    live = (yield) or []
    if why := miscounted(catalog, name, len(live)):
        return why
    kinds = REWRITES if seed % REWRITTEN == 0 else {}
    body = {
        "namespace": "n",
        "name": name,
        "column": None,
        "retention": {"column": made.column, "keep": f"{made.keep_days}d"},
        **kinds,
    }
    before = live
    for kind in ("retention", *kinds):
        task = tasks(lake, body)[kind]
        if task.due:
            perform(spark, catalog, name, task)
            after = (yield) or []
        else:
            after = before
        if why := aged(made, task, live, after) if kind == "retention" else changed(kind, before, after):
            return f"{why} ({task.summary})"
        before = after
    return ""


def changed(kind: str, before: list[int], after: list[int]) -> str:
    return "" if before == after else f"{kind} changed rows"


def miscounted(catalog: SqlCatalog, name: str, live: int) -> str:
    """The figure of status: exact, or a bound that holds."""
    place = catalog.load_table(f"n.{name}").metadata_location
    metadata = json.loads(file_of(place).read_text())
    table = MeasuredTable(metadata=metadata, metadata_location=place, attributes={})
    rows = live_rows(Contents(table, lambda location: file_of(location).read_bytes(), 0))
    if rows.exact is None:
        return "" if rows.at_most is not None and rows.at_most >= live else f"{rows} for {live} rows"
    return "" if rows.exact == live else f"{rows} for {live} rows"


def file_of(location: str) -> Path:
    return Path(location.removeprefix("file://").removeprefix("file:"))


def aged(made: Table, task: MaintenanceTask, live: list[int], after: list[int]) -> str:
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
    if lost := set(live) - set(after) - old:
        return f"lost rows {sorted(lost)}"
    if kept := set(after) & (old - may_stay):
        return f"old rows {sorted(kept)} stayed"
    return "" if len(after) == len(set(after)) else "doubled rows"


def create(spark: Any, catalog: SqlCatalog, name: str, made: Table) -> None:
    properties = {"format-version": str(min(made.version, 2))}
    if made.version > 1:
        properties["write.delete.mode"] = "merge-on-read"
    write(made, catalog.create_table(f"n.{name}", schema_of(made), properties=properties))
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


def ids(spark: Any, seeds: Iterable[int]) -> dict[int, list[int]]:
    """The rows of each table that Spark reads, without any filter."""
    seeds = list(seeds)
    read = [f"SELECT {seed} AS seed, id FROM lake.n.t{seed}" for seed in seeds]
    rows: dict[int, list[int]] = {seed: [] for seed in seeds}
    for seed, number in spark.sql(" UNION ALL ".join(read)).collect() if read else ():
        rows[seed].append(number)
    return {seed: sorted(numbers) for seed, numbers in rows.items()}


def perform(spark: Any, catalog: SqlCatalog, name: str, task: MaintenanceTask) -> None:
    """Carries a task out as the application would; nothing may be wrong with the result."""
    from flareiac_spark_runtime.control import Maintain
    from flareiac_spark_runtime.driver.maintenance import TableLocks, maintain

    assert task.work is not None
    asked = Maintain(
        key=task.id,
        identifier=("lake", "n", name),
        uuid=str(catalog.load_table(f"n.{name}").metadata.table_uuid),
        task=task.work,
    )
    log = logging.getLogger("neighbours")
    done = maintain(lambda: spark, asked, TableLocks(), lambda _seconds: None, log)
    judgement = TableMaintainer().judge(task, done.result)
    errors = [item.detail for item in judgement.diagnostics if item.severity is Severity.ERROR]
    assert not errors, errors
