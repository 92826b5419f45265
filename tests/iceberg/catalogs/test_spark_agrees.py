"""Spark and this provider see the same catalog and the same tables, before and after changes."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from flareiac.sdk.changes import Action
from flareiac_iceberg.table.column_changes import AddColumn
from flareiac_iceberg.table.schema_updates import SchemaDraft
from tests.iceberg.lake import CALLS, CATALOG, Lake, columns
from tests.support.spark_session import spark_session

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
    catalog = shared.references[CATALOG].attributes
    conf = catalog["spark_conf"] | {"spark.sql.extensions": ",".join(catalog["spark_extensions"])}
    with spark_session(conf, jars, java_home, shared.project.root) as session:
        yield lambda statement: [tuple(row) for row in session.sql(statement).collect()]


def test_spark_writes_and_reads_what_was_made_and_changed(shared: Lake, sql: Sql) -> None:
    before: dict[str, Any] = {
        "namespace": "sales.eu",
        "column": columns(
            id="long not null", ts="timestamptz", region="string", a="struct<x: int, y: string>", n="int"
        ),
        "partition_by": [CALLS["day"]("ts"), CALLS["bucket"](4, "id"), "region"],
        "sort_by": [CALLS["desc"]("n"), CALLS["asc"](CALLS["bucket"](2, "id"))],
        "identifier": ["id"],
        "distribution": "hash",
        "comment": "orders",
        "tags": {"team": "x"},
    }
    shared.apply("table.orders", before)
    sql(
        "INSERT INTO lake.sales.eu.orders VALUES (1, TIMESTAMP '2026-01-02 03:04:05Z', 'eu', "
        "named_struct('x', 1, 'y', 'b'), 7)"
    )
    assert shared.plan("table.orders", before).action is Action.NO_OP
    after = before | {
        "column": columns(
            id="long not null",
            ts="timestamptz",
            note="string",
            b="struct<y: string, x: long, z: list<int>>",
            n="long",
        ),
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
    assert [row["id"] for row in sorted(shared.rows("sales.eu.orders"), key=lambda row: int(row["id"]))] == [
        1,
        2,
    ]
    assert shared.plan("table.orders", after).action is Action.NO_OP
    assert len(sql("SELECT * FROM lake.sales.eu.orders.files")) == 2
    sql(
        "CALL lake.system.rewrite_data_files(table => 'sales.eu.orders', options => map('rewrite-all', "
        "'true'))"
    )
    assert sql("SELECT sum(n) FROM lake.sales.eu.orders") == [(15,)]


def test_a_field_that_comes_back_is_the_same_field_for_spark(shared: Lake, sql: Sql) -> None:
    layout = {"namespace": "n", "column": columns(id="long", ts="timestamptz")}
    for index, fields in enumerate(
        ([CALLS["day"]("ts")], [], [CALLS["day"]("ts"), CALLS["bucket"](2, "id")], [CALLS["day"]("ts")])
    ):
        shared.apply("table.back", layout | {"partition_by": fields})
        sql(f"INSERT INTO lake.n.back VALUES ({index}, TIMESTAMP '2026-01-0{index + 1} 00:00:00Z')")
    assert sql("SELECT count(*), sum(id) FROM lake.n.back WHERE ts >= TIMESTAMP '2026-01-02 00:00:00Z'") == [
        (3, 6)
    ]
    assert sorted(row["id"] for row in shared.rows("n.back")) == [0, 1, 2, 3]


def test_what_spark_made_is_adopted_and_changed(shared: Lake, sql: Sql) -> None:
    sql("CREATE NAMESPACE IF NOT EXISTS lake.made")
    sql(
        "CREATE TABLE lake.made.t (id BIGINT NOT NULL COMMENT 'key', ts TIMESTAMP) USING iceberg "
        "PARTITIONED BY (days(ts), bucket(4, id))"
    )
    sql("INSERT INTO lake.made.t VALUES (1, TIMESTAMP '2026-01-02 00:00:00Z')")
    body: dict[str, Any] = {
        "namespace": "made",
        "column": columns(id="long not null", ts="timestamptz", more="int"),
        "partition_by": [CALLS["day"]("ts"), CALLS["bucket"](4, "id")],
        "identifier": ["id"],
    }
    assert [item.code for item in shared.plan("table.t", body).blockers] == ["FII020"]
    adopted = shared.apply("table.t", body, importing=True)
    assert [step.text for step in adopted.steps] == [
        "mark the table as managed by this state",
        "add column more int",
        "identify rows by id",
    ]
    assert sql("SELECT * FROM lake.made.t") == [(1, *sql("SELECT TIMESTAMP '2026-01-02 00:00:00Z'")[0], None)]
    sql("ALTER TABLE lake.made.t SET TBLPROPERTIES ('k' = 'v')")
    sql("ALTER TABLE lake.made.t RENAME COLUMN more TO less")
    drifted = shared.apply("table.t", body)
    assert drifted.drift == ('column "more" was renamed to "less" outside of FlareIaC',)
    assert shared.plan("table.t", body).action is Action.NO_OP


BRANCH = {"retain": None, "min_snapshots_to_keep": None, "max_snapshot_age": None}


def with_default(kind: str, default: Any) -> dict[str, Any]:
    return {"type": kind, "comment": None, "tags": None, "default": default}


def test_version_3_with_defaults_is_read_and_written_by_spark(shared: Lake, sql: Sql) -> None:
    cols = columns(id="long", name="string")
    body: dict[str, Any] = {"namespace": "n", "name": "v3", "column": cols}
    shared.apply("table.v3", body)
    sql("INSERT INTO lake.n.v3 VALUES (1, 'a')")
    added = {
        "n": with_default("int", 7),
        "kind": with_default("string", "web"),
        "at": with_default("timestamptz", "2026-01-02T03:04:05Z"),
        "raw": with_default("binary", "00ff"),
    }
    third = body | {"format_version": 3, "column": {**cols, **added}, "branch": {"audit": BRANCH}}
    shared.apply("table.v3", third)
    sql("INSERT INTO lake.n.v3 (id, name) VALUES (2, 'b')")
    filled = "id, n, kind, CAST(at AS STRING), hex(raw)"
    assert sql(f"SELECT {filled} FROM lake.n.v3 ORDER BY id") == [
        (1, None, None, None, None),
        (2, 7, "web", "2026-01-02 03:04:05", "00FF"),
    ]
    assert sql("SELECT id FROM lake.n.v3 WHERE n = 7 AND kind = 'web'") == [(2,)]
    sql("INSERT INTO lake.n.v3.branch_audit (id) VALUES (3)")
    sql("DELETE FROM lake.n.v3 WHERE id = 1")
    assert [row["id"] for row in shared.rows("n.v3")] == [2]
    more = third | {"column": {**cols, **added, **columns(z="long")}}
    shared.apply("table.v3", more)
    sql("INSERT INTO lake.n.v3 (id, z) VALUES (4, 5)")
    assert sql("SELECT count(DISTINCT _row_id), sum(z) FROM lake.n.v3") == [(2, 5)]
    assert shared.plan("table.v3", more).action is Action.NO_OP


def test_spark_finds_rows_that_read_as_an_initial_default_since_iceberg_1_12(
    shared: Lake, sql: Sql, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With 1.11 the last query gave no row, which is why no initial defaults are written: a lock file may
    name it.
    """
    body: dict[str, Any] = {
        "namespace": "n",
        "name": "initial",
        "format_version": 3,
        "column": columns(id="long"),
    }
    shared.apply("table.initial", body)
    sql("INSERT INTO lake.n.initial VALUES (1)")

    class Draft(SchemaDraft):
        def add(self, change: AddColumn) -> None:
            super().add(change)
            self.field(change.path)["initial-default"] = change.default

    with monkeypatch.context() as patch:
        patch.setattr("flareiac_iceberg.table.schema_updates.SchemaDraft", Draft)
        shared.apply("table.initial", body | {"column": {**columns(id="long"), "n": with_default("int", 7)}})
    assert sql("SELECT id, n FROM lake.n.initial") == [(1, 7)]
    assert sql("SELECT id, n FROM lake.n.initial WHERE n = 7") == [(1, 7)]


def test_spark_reads_a_decimal_with_a_default_since_iceberg_1_12(
    shared: Lake, sql: Sql, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With 1.11 it failed ("Cannot cast default value"), which is why they are refused: a lock file may name
    it.
    """
    monkeypatch.setattr("flareiac_iceberg.table.canonical.NO_DEFAULT", ())
    cols = {**columns(id="long"), "price": with_default("decimal(30,2)", 1.5)}
    shared.apply("table.price", {"namespace": "n", "name": "price", "format_version": 3, "column": cols})
    sql("INSERT INTO lake.n.price (id) VALUES (1), (2), (3)")
    assert [row[0] for row in sql("SELECT * FROM lake.n.price WHERE id = 3")] == [3]


def test_a_branch_of_a_new_table_is_written_and_published_by_spark(shared: Lake, sql: Sql) -> None:
    for version in (1, 2, 3):
        body = {
            "namespace": "n",
            "name": f"wap{version}",
            "column": columns(id="long"),
            "format_version": version,
            "branch": {"audit": BRANCH},
        }
        shared.apply(f"table.wap{version}", body)
        sql(f"INSERT INTO lake.n.wap{version}.branch_audit VALUES (1)")
        assert sql(f"SELECT count(*) FROM lake.n.wap{version}") == [(0,)]
        sql(f"CALL lake.system.fast_forward('n.wap{version}', 'main', 'audit')")
        assert sql(f"SELECT id FROM lake.n.wap{version}") == [(1,)]
        assert shared.plan(f"table.wap{version}", body).action is Action.NO_OP


def test_version_1_from_void_fields_to_version_3(shared: Lake, sql: Sql) -> None:
    layouts = ([CALLS["bucket"](4, "id"), "name"], ["name"], [CALLS["bucket"](4, "id"), "name"], ["name"])
    body: dict[str, Any] = {"namespace": "n", "name": "v1", "column": columns(id="long", name="string")}
    for index, (layout, version) in enumerate(zip(layouts, (1, 1, 1, 3), strict=True)):
        body |= {"partition_by": layout, "format_version": version}
        shared.apply("table.v1", body)
        sql(f"INSERT INTO lake.n.v1 VALUES ({index}, 'a')")
        assert shared.plan("table.v1", body).action is Action.NO_OP
    assert sql("SELECT sum(id), count(*) FROM lake.n.v1 WHERE name = 'a'") == [(6, 4)]
    assert len(shared.rows("n.v1")) == 4


def test_a_stream_runs_on_while_the_table_gets_version_3_and_writes_null_where_it_gives_nothing(
    shared: Lake, sql: Sql, tmp_path: Path
) -> None:
    from pyspark.sql import SparkSession

    cols = columns(id="long")
    body: dict[str, Any] = {"namespace": "n", "name": "live", "column": cols}
    shared.apply("table.live", body)
    spark = SparkSession.getActiveSession()
    assert spark is not None
    source = spark.readStream.format("rate").option("rowsPerSecond", 50).load().selectExpr("value AS id")

    def run(checkpoint: str, rows: int, between: Callable[[], object]) -> None:
        writer = source.writeStream.format("iceberg").option("checkpointLocation", str(tmp_path / checkpoint))
        query = writer.trigger(processingTime="100 milliseconds").toTable("lake.n.live")
        try:
            for step in (between, lambda: None):
                least = sql("SELECT count(*) FROM lake.n.live")[0][0] + rows
                _wait(lambda: not query.isActive or sql("SELECT count(*) FROM lake.n.live")[0][0] > least)  # noqa: B023  # waits at once
                step()
            assert query.exception() is None
        finally:
            query.stop()

    third = body | {"format_version": 3, "column": {**cols, "n": with_default("int", 7)}}
    run("first", 50, lambda: shared.apply("table.live", third))
    run("second", 50, lambda: None)
    assert sql("SELECT DISTINCT n FROM lake.n.live") == [(None,)]


def _wait(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not done():
        assert time.monotonic() < deadline, "the stream makes no progress"
        time.sleep(0.2)


def test_spark_writes_a_table_whose_earlier_sort_order_lost_its_column_since_iceberg_1_12(
    shared: Lake, sql: Sql
) -> None:
    """With 1.11 it failed ("Cannot find source column for sort field"), which is why such a drop is refused:
    a lock file may name it.
    """
    body: dict[str, Any] = {"namespace": "n", "column": columns(id="long", gone="long"), "sort_by": ["gone"]}
    shared.apply("table.sorted", body)
    shared.apply("table.sorted", body | {"sort_by": []})
    dropped = body | {"sort_by": [], "column": columns(id="long")}
    assert [item.code for item in shared.plan("table.sorted", dropped).blockers] == ["FII045"]
    with shared.table("n.sorted").update_schema() as schema:
        schema.delete_column("gone")
    sql("INSERT INTO lake.n.sorted VALUES (1)")
    assert sql("SELECT id FROM lake.n.sorted") == [(1,)]
