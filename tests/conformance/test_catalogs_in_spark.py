"""Spark opens every kind of catalog by the settings of its block alone, and both sides see the same
tables.
"""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from flareiac.sdk.changes import Action
from flareiac.sdk.secrets import resolve
from flareiac_iceberg_runtime.kinds.compaction.perform import RewriteDataFiles
from flareiac_iceberg_runtime.kinds.delete_rewrite.perform import RewriteDeleteFiles
from flareiac_iceberg_runtime.kinds.manifest_rewrite.perform import RewriteManifests
from flareiac_iceberg_runtime.kinds.orphan_removal.perform import RemoveOrphans
from flareiac_iceberg_runtime.kinds.retention.perform import DeleteRows
from flareiac_iceberg_runtime.kinds.snapshot_expiry.perform import ExpireSnapshots
from flareiac_spark.runtime.coordinates import parse_coordinates
from flareiac_spark.runtime.jars import fetch_jars
from flareiac_spark_runtime.control import Maintain
from flareiac_spark_runtime.driver import tables
from flareiac_spark_runtime.driver.maintenance import TableLocks, maintain
from flareiac_spark_runtime.driver.refusal import Refusal
from tests.iceberg.lake import CALLS, CATALOG, columns
from tests.support.catalog_kinds import KINDS, KindLake, Servers, kind_lake
from tests.support.performers import work_of
from tests.support.spark_session import spark_session

pytestmark = [
    pytest.mark.jvm,
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]
Sql = Callable[[str], list[Any]]


@pytest.fixture(scope="module")
def lakes(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, KindLake]]:
    """A project on each kind of catalog, which is called as the kind is."""
    servers = Servers(tmp_path_factory.mktemp("servers"))
    with ExitStack() as stack:
        stack.callback(servers.close)
        yield {
            kind: stack.enter_context(
                kind_lake(kind, tmp_path_factory.mktemp(kind), servers, request, name=kind)
            )
            for kind in KINDS
        }


@pytest.fixture(scope="module")
def spark(
    lakes: dict[str, KindLake], java_home: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    """A Spark that knows nothing but what the catalogs' attributes say."""
    blocks = [lake.references[CATALOG].attributes for lake in lakes.values()]
    packages = sorted({package for block in blocks for package in block["packages"]})
    jars = fetch_jars(parse_coordinates(tuple(packages)), lambda _text: None, locked={})
    conf = {name: resolve(value) for block in blocks for name, value in block["spark_conf"].items()} | {
        "spark.sql.extensions": ",".join({item for block in blocks for item in block["spark_extensions"]}),
    }
    with spark_session(
        conf, [jar.path for jar in jars], java_home, tmp_path_factory.mktemp("spark")
    ) as session:
        yield session


@pytest.fixture(scope="module")
def sql(spark: Any) -> Sql:
    """Runs a statement."""
    return lambda statement: [tuple(row) for row in spark.sql(statement).collect()]


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
    sql(
        f"CREATE TABLE {kind}.{namespace}.made (id bigint, ts timestamp) USING iceberg PARTITIONED BY "
        "(days(ts))"
    )
    assert lake.names(namespace) == ["made"]
    body = {
        "namespace": namespace,
        "column": columns(id="long", ts="timestamptz"),
        "partition_by": [CALLS["day"]("ts")],
    }
    imported = lake.plan("table.made", body, importing=True, import_id=f"lake.{namespace}.made")
    assert imported.action is Action.ADOPT
    assert [step.text for step in imported.steps] == ["mark the table as managed by this state"]
    sql(f"DROP TABLE {kind}.{namespace}.made")
    assert lake.names(namespace) == []


class Kept:
    """A table that is maintained, and the files below it as its own file access tells of them."""

    def __init__(self, spark: Any, kind: str, namespace: str, name: str) -> None:
        self.spark, self.identifier = spark, (kind, namespace, name)
        self.table = tables.load(spark, self.identifier, None)
        self.location = str(self.table.location())

    def maintain(self, work: object) -> dict[str, Any]:
        asked = Maintain(
            key=str(uuid4()),
            identifier=self.identifier,
            uuid=str(self.table.uuid().toString()),
            task=work_of(work),
        )
        log = logging.getLogger("tests")
        return dict(maintain(lambda: self.spark, asked, TableLocks(), lambda _seconds: None, log).result)

    def refused(self, work: object) -> str:
        with pytest.raises(Refusal) as failed:
            self.maintain(work)
        return failed.value.error_class

    def put(self, name: str, content: bytes = b"left") -> str:
        place = f"{self.location}{name}"
        stream = self.table.io().newOutputFile(place).create()
        stream.write(bytearray(content))
        stream.close()
        return place

    def there(self, place: str) -> bool:
        return bool(self.table.io().newInputFile(place).exists())

    def remove(self, place: str) -> None:
        self.table.io().deleteFile(place)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_maintenance(
    lakes: dict[str, KindLake], spark: Any, sql: Sql, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On every catalog and file system; files that are no writer's of the table stop the removal of
    orphans.
    """
    lake = lakes[kind]
    body = {
        "namespace": lake.namespace,
        "column": columns(id="long", ts="timestamptz"),
        "properties": {"write.delete.mode": "merge-on-read"},
        "partition_by": [CALLS["day"]("ts")],
    }
    lake.apply("table.kept", body)
    kept = Kept(spark, kind, lake.namespace, "kept")
    name = ".".join(kept.identifier)
    sql(
        f"INSERT INTO {name} VALUES (1, timestamp '2026-01-01 00:00:00'), (2, timestamp '2026-01-02 "
        "00:00:00')"
    )
    for number in (3, 4):
        sql(
            f"INSERT INTO {name} SELECT /*+ COALESCE(1) */ id + {number}, timestamp '2026-01-02 00:00:00' "
            "FROM range(0, 20, 10)"
        )
    assert (
        kept.maintain(DeleteRows(column="ts", type="timestamptz", before_ms=1767312000000))["deleted_rows"]
        == 1
    )
    assert (
        kept.maintain(RewriteDataFiles(strategy="binpack", options={"min-input-files": "2"}))["added_files"]
        == 1
    )
    for number in (2, 3):
        sql(f"DELETE FROM {name} WHERE id = {number}")
    assert kept.maintain(RewriteDeleteFiles(options={"rewrite-all": "true"}))["rewritten_delete_files"] == 1
    assert kept.maintain(RewriteManifests())["rows_after"] is not None
    now = int(time.time() * 1000)
    assert kept.maintain(ExpireSnapshots(older_than_ms=now, retain_last=1))["expired_snapshots"] > 1

    monkeypatch.setattr("flareiac_iceberg_runtime.kinds.orphan_removal.perform._DAY_MS", -60_000)
    one, other = str(uuid4()), str(uuid4())
    orphans = [
        kept.put(f"/data/ts_day=2026-01-02/00000-7-{one}-00001.parquet"),
        kept.put(f"/metadata/{one}-m0.avro"),
    ]
    beside = kept.put(f"2/data/00000-7-{one}-00001.parquet")
    work = RemoveOrphans(older_than_ms=now + 60_000)
    strangers = {
        "FOREIGN_FILES": ("/landing/a.json", b"{}"),
        "OTHER_TABLE": (f"/metadata/00000-{other}.metadata.json", f'{{"table-uuid": "{other}"}}'.encode()),
    }
    for code, (place, content) in strangers.items():
        stranger = kept.put(place, content)
        assert kept.refused(work) == code
        assert all(kept.there(item) for item in (*orphans, stranger))
        kept.remove(stranger)
    removed = kept.maintain(work)["orphans"]
    assert removed is not None
    assert removed >= len(orphans)
    assert [kept.there(item) for item in (*orphans, beside)] == [False, False, True]
    assert sorted(sql(f"SELECT id FROM {name}")) == [(4,), (13,), (14,)]
