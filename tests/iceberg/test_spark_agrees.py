"""Spark and this provider see the same catalog and the same tables, before and after changes."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from flareiac.sdk.changes import Action
from tests.iceberg.lake import CALLS, CATALOG, Lake, columns

pytestmark = [
    pytest.mark.jvm,
    # PySpark leaves the sockets of collect() to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]
Sql = Callable[[str], list[Any]]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    made = Lake(tmp_path_factory.mktemp("with spaces é"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def sql(shared: Lake, jars: tuple[Path, ...], java_home: Path) -> Iterator[Sql]:
    """Runs a statement in a Spark that is configured with nothing but what the catalog's attributes say."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    catalog = shared.references[CATALOG].attributes
    conf = catalog["spark_conf"] | {
        "spark.sql.extensions": ",".join(catalog["spark_extensions"]),
        "spark.master": "local[1]",
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraClassPath": os.pathsep.join(map(str, jars)),
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(shared.project.root / "unused"),
    }
    builder = SparkSession.builder.appName("agrees")
    for key, value in conf.items():
        builder = builder.config(key, value)
    with pytest.MonkeyPatch.context() as environment:  # read when the JVM starts, and no business of other tests
        environment.setenv("JAVA_HOME", str(java_home))
        environment.setenv("PYSPARK_PYTHON", sys.executable)
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    gateway: Any = SparkContext._gateway
    yield lambda statement: [tuple(row) for row in session.sql(statement).collect()]
    session.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(60)
    SparkContext._gateway = SparkContext._jvm = None  # another suite of the same process starts a JVM of its own


def test_spark_writes_and_reads_what_was_made_and_changed(shared: Lake, sql: Sql) -> None:
    before: dict[str, Any] = {
        "namespace": "sales.eu",
        "column": columns(id="long not null", ts="timestamptz", region="string", a="struct<x: int, y: string>", n="int"),
        "partition_by": [CALLS["day"]("ts"), CALLS["bucket"](4, "id"), "region"],
        "sort_by": [CALLS["desc"]("n"), CALLS["asc"](CALLS["bucket"](2, "id"))],
        "identifier": ["id"],
        "distribution": "hash",
        "comment": "orders",
        "tags": {"team": "x"},
    }
    shared.apply("table.orders", before)
    sql("INSERT INTO lake.sales.eu.orders VALUES (1, TIMESTAMP '2026-01-02 03:04:05Z', 'eu', named_struct('x', 1, 'y', 'b'), 7)")
    assert shared.plan("table.orders", before).action is Action.NO_OP
    after = before | {
        "column": columns(id="long not null", ts="timestamptz", note="string", b="struct<y: string, x: long, z: list<int>>", n="long"),
        "renamed": {"a": "b"},
        "partition_by": [CALLS["hour"]("ts", "the_hour")],
        "sort_by": ["ts"],
        "distribution": "range",
    }
    changed = shared.apply("table.orders", after)
    assert "drop column region" in [step.text for step in changed.steps]
    sql(
        "INSERT INTO lake.sales.eu.orders VALUES "
        "(2, TIMESTAMP '2026-01-02 03:04:05Z', 'n', named_struct('y', 'c', 'x', 2L, 'z', array(1)), 8L)"
    )
    rows = sql("SELECT id, note, b.x, b.y, b.z, n FROM lake.sales.eu.orders ORDER BY id")
    assert rows == [(1, None, 1, "b", None, 7), (2, "n", 2, "c", [1], 8)]
    assert [row["id"] for row in sorted(shared.rows("sales.eu.orders"), key=lambda row: int(row["id"]))] == [1, 2]
    assert shared.plan("table.orders", after).action is Action.NO_OP
    assert len(sql("SELECT * FROM lake.sales.eu.orders.files")) == 2
    sql("CALL lake.system.rewrite_data_files(table => 'sales.eu.orders', options => map('rewrite-all', 'true'))")
    assert sql("SELECT sum(n) FROM lake.sales.eu.orders") == [(15,)]


def test_a_field_that_comes_back_is_the_same_field_for_spark(shared: Lake, sql: Sql) -> None:
    layout = {"namespace": "n", "column": columns(id="long", ts="timestamptz")}
    for index, fields in enumerate(([CALLS["day"]("ts")], [], [CALLS["day"]("ts"), CALLS["bucket"](2, "id")], [CALLS["day"]("ts")])):
        shared.apply("table.back", layout | {"partition_by": fields})
        sql(f"INSERT INTO lake.n.back VALUES ({index}, TIMESTAMP '2026-01-0{index + 1} 00:00:00Z')")
    assert sql("SELECT count(*), sum(id) FROM lake.n.back WHERE ts >= TIMESTAMP '2026-01-02 00:00:00Z'") == [(3, 6)]
    assert sorted(row["id"] for row in shared.rows("n.back")) == [0, 1, 2, 3]


def test_what_spark_made_is_adopted_and_changed(shared: Lake, sql: Sql) -> None:
    sql("CREATE NAMESPACE IF NOT EXISTS lake.made")
    sql("CREATE TABLE lake.made.t (id BIGINT NOT NULL COMMENT 'key', ts TIMESTAMP) USING iceberg PARTITIONED BY (days(ts), bucket(4, id))")
    sql("INSERT INTO lake.made.t VALUES (1, TIMESTAMP '2026-01-02 00:00:00Z')")
    body: dict[str, Any] = {
        "namespace": "made",
        "column": columns(id="long not null", ts="timestamptz", more="int"),
        "partition_by": [CALLS["day"]("ts"), CALLS["bucket"](4, "id")],
        "identifier": ["id"],
    }
    assert [item.code for item in shared.plan("table.t", body).blockers] == ["FII020"]
    adopted = shared.apply("table.t", body, importing=True)
    assert [step.text for step in adopted.steps] == ["add column more int", "identify rows by id"]
    assert sql("SELECT * FROM lake.made.t") == [(1, *sql("SELECT TIMESTAMP '2026-01-02 00:00:00Z'")[0], None)]
    sql("ALTER TABLE lake.made.t SET TBLPROPERTIES ('k' = 'v')")
    sql("ALTER TABLE lake.made.t RENAME COLUMN more TO less")
    drifted = shared.apply("table.t", body)
    assert drifted.drift == ('column "more" was renamed to "less" outside of FlareIaC',)
    assert shared.plan("table.t", body).action is Action.NO_OP


def test_spark_does_not_write_a_table_whose_earlier_sort_order_lost_its_column(shared: Lake, sql: Sql) -> None:
    """The reason for refusing such a drop. When this fails, Iceberg has changed and the refusal can go."""
    body: dict[str, Any] = {"namespace": "n", "column": columns(id="long", gone="long"), "sort_by": ["gone"]}
    shared.apply("table.sorted", body)
    shared.apply("table.sorted", body | {"sort_by": []})
    dropped = body | {"sort_by": [], "column": columns(id="long")}
    assert [item.code for item in shared.plan("table.sorted", dropped).blockers] == ["FII045"]
    with shared.table("n.sorted").update_schema() as schema:
        schema.delete_column("gone")
    with pytest.raises(Exception, match="Cannot find source column for sort field"):
        sql("INSERT INTO lake.n.sorted VALUES (1)")
