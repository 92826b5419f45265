"""Spark opens every kind of catalog by the settings of its block alone, and both sides see the same tables."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from flareiac.sdk.changes import Action
from flareiac.sdk.secrets import resolve
from flareiac_spark.runtime.coordinates import parse_coordinates
from flareiac_spark.runtime.jars import fetch_jars
from tests.iceberg.lake import CALLS, CATALOG, columns
from tests.support.catalog_kinds import KINDS, KindLake, Servers, kind_lake

pytestmark = [
    pytest.mark.jvm,
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]
Sql = Callable[[str], list[Any]]


@pytest.fixture(scope="module")
def lakes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, KindLake]]:
    """A project on each kind of catalog, which is called as the kind is."""
    servers = Servers(tmp_path_factory.mktemp("servers"))
    with ExitStack() as stack:
        stack.callback(servers.close)
        yield {kind: stack.enter_context(kind_lake(kind, tmp_path_factory.mktemp(kind), servers, request, name=kind)) for kind in KINDS}


@pytest.fixture(scope="module")
def sql(lakes: dict[str, KindLake], java_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sql]:
    """Runs a statement in a Spark that knows nothing but what the catalogs' attributes say."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    blocks = [lake.references[CATALOG].attributes for lake in lakes.values()]
    packages = sorted({package for block in blocks for package in block["packages"]})
    jars = fetch_jars(parse_coordinates(tuple(packages)), lambda _text: None, locked={})
    conf = {name: resolve(value) for block in blocks for name, value in block["spark_conf"].items()} | {
        "spark.sql.extensions": ",".join({item for block in blocks for item in block["spark_extensions"]}),
        "spark.master": "local[1]",
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraClassPath": os.pathsep.join(str(jar.path) for jar in jars),
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("unused")),
    }
    builder = SparkSession.builder.appName("catalogs")
    for key, value in conf.items():
        builder = builder.config(key, value)
    with pytest.MonkeyPatch.context() as environment:
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


@pytest.mark.parametrize("kind", KINDS)
def test_what_we_made_spark_writes_and_we_see_it(lakes: dict[str, KindLake], sql: Sql, kind: str) -> None:
    lake = lakes[kind]
    body = {
        "namespace": lake.namespace,
        "column": columns(id="long not null", region="string"),
        "partition_by": [CALLS["bucket"](2, "id")],
    }
    lake.apply("table.orders", body)
    name = f"{kind}.{lake.namespace}.orders"
    sql(f"INSERT INTO {name} VALUES (1, 'eu'), (2, 'us')")
    assert sorted(row["id"] for row in lake.rows(f"{lake.namespace}.orders")) == [1, 2]
    assert lake.plan("table.orders", body).action is Action.NO_OP
    wider = body | {"column": columns(id="long not null", region="string", n="int"), "comment": "wider"}
    assert lake.apply("table.orders", wider).action is Action.UPDATE
    assert sorted(sql(f"SELECT id, region, n FROM {name}")) == [(1, "eu", None), (2, "us", None)]
    sql(f"INSERT INTO {name} VALUES (3, 'de', 7)")
    assert lake.plan("table.orders", wider).action is Action.NO_OP


@pytest.mark.parametrize("kind", KINDS)
def test_what_spark_made_we_find(lakes: dict[str, KindLake], sql: Sql, kind: str) -> None:
    lake = lakes[kind]
    namespace = f"{lake.namespace}_theirs"
    sql(f"CREATE NAMESPACE {kind}.{namespace}")
    sql(f"CREATE TABLE {kind}.{namespace}.made (id bigint, ts timestamp) USING iceberg PARTITIONED BY (days(ts))")
    assert lake.names(namespace) == ["made"]
    body = {"namespace": namespace, "column": columns(id="long", ts="timestamptz"), "partition_by": [CALLS["day"]("ts")]}
    imported = lake.plan("table.made", body, importing=True, import_id=f"lake.{namespace}.made")
    assert imported.action is Action.ADOPT
    assert not imported.steps
    sql(f"DROP TABLE {kind}.{namespace}.made")
    assert lake.names(namespace) == []
