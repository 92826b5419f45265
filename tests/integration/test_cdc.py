"""Change events of Debezium merged into tables through the command line, on a real broker with a registry.
Each table is what the source has, whatever order its changes come in.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pytest

from tests.integration.kafka_project import KafkaLake, cluster
from tests.integration.project import Project
from tests.support.debezium import (
    PLACEHOLDER,
    Kind,
    as_avro,
    as_json,
    avro_schema,
    decimal,
    envelope,
    postgresql,
    unscaled,
)
from tests.support.kafka_topics import Record
from tests.support.schema_registry import SchemaRegistry

pytestmark = pytest.mark.jvm

_MERGED = """
stream "@" {
  kafka {
    topic      = "@"
    connection = kafka.main
    format     = "FORMAT"
  }
  column "id"    { type = "long not null" }
  column "name"  { type = "string" }
  column "price" { type = "decimal(8,2)" }
  bad_records = { quarantine = table.bad }
}
table "@" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id"              { type = "long" }
  column "name"            { type = "string" }
  column "price"           { type = "decimal(8,2)" }
  column "change_position" { type = "string" }
}
checkpoint "@" {}
job "@" {
  checkpoint = checkpoint.@
  trigger    = { processing_time = "200ms" }
  restart    = { backoff = "1s" }
  input "changes" { stream = stream.@ }
  step "rows" { sql = "SELECT id, name, price, change_op, change_position FROM changes" }
  output "rows" {
    table = table.@
    mode  = "merge"
    merge = { on = ["id"], latest_by = "change_position", delete_if = "s.change_op = 'd'" }
  }
}
"""
BAD = """
table "bad" {
  catalog   = catalog.lake
  namespace = "demo"
  column "error" { type = "string" }
  column "topic" { type = "string" }
}
"""
ROW: Mapping[str, Kind] = {"id": Kind(type="int64"), "name": Kind(type="string"), "price": decimal(8, 2)}
WIDER: Mapping[str, Kind] = {**ROW, "note": Kind(type="string")}


@dataclass(kw_only=True)
class Source:
    """A table of PostgreSQL: what its changes leave in it, and the records that tell them."""

    rows: dict[int, tuple[str, Decimal]] = field(default_factory=dict)
    records: list[tuple[int, dict[str, Any] | None]] = field(default_factory=list)
    lsn: int = 1000

    def put(self, op: str, number: int, name: str, price: str) -> dict[str, Any]:
        """Inserts or updates a row, or reads it for a snapshot."""
        self.rows[number] = (name, Decimal(price))
        row = {"id": number, "name": name, "price": unscaled(Decimal(price))}
        return self._told(number, envelope(op, source=self._place(), after=row))

    def delete(self, number: int) -> None:
        """Deletes a row, which ends with a tombstone of Kafka."""
        del self.rows[number]
        self._told(number, envelope("d", source=self._place(), before={"id": number}))
        self.records.append((number, None))

    def taken(self) -> list[tuple[int, dict[str, Any] | None]]:
        """The records that were not yet sent."""
        found, self.records = self.records, []
        return found

    def _place(self) -> dict[str, Any]:
        self.lsn += 10
        return postgresql(self.lsn, committed=self.lsn - 5)

    def _told(self, number: int, change: dict[str, Any]) -> dict[str, Any]:
        self.records.append((number, change))
        return change


@pytest.fixture(scope="module")
def registry() -> Iterator[SchemaRegistry]:
    with SchemaRegistry() as started:
        started.level = "NONE"
        yield started


@pytest.fixture(scope="module")
def lake(kafka: KafkaLake, registry: SchemaRegistry) -> Project:
    """Two jobs that merge: one reads JSON, one Avro."""
    more = f'  schema_registry = {{ url = "{registry.url}" }}\n'
    texts = {
        name: _MERGED.replace("@", name).replace("FORMAT", kind)
        for name, kind in (("orders", "debezium_json"), ("people", "debezium_avro"))
    }
    kafka.project.write(kafka=cluster(kafka.broker.bootstrap, more=more), bad=BAD, **texts)
    kafka.project.run("init")
    for topic in texts:
        kafka.broker.topics.create(topic, partitions=2)
    return kafka.project


def expect(lake: Project, table: str, source: Source) -> None:
    """Waits until a table is what the source has."""

    def there() -> bool:
        return {row["id"]: (row["name"], row["price"]) for row in lake.rows(table)} == source.rows

    lake.until(there, f"{table} to be {source.rows}")
    assert len(lake.rows(table)) == len(source.rows)


def test_changes_of_json_leave_the_table_as_the_source_is(lake: Project, kafka: KafkaLake) -> None:
    source = Source()

    def send(*others: bytes, partition: int | None = None) -> None:
        records = [
            Record(
                key=str(number),
                value=None if change is None else as_json(change, ROW, with_schema=True),
                partition=number % 2 if partition is None else partition,
            )
            for number, change in source.taken()
        ]
        kafka.broker.topics.produce("orders", [*records, *(Record(value=each) for each in others)])

    for number in range(1, 6):
        source.put("r", number, "first", "1.00")
    late = source.put("u", 1, "second", "2.00")
    source.put("u", 1, "third", "-3.25")
    source.delete(2)
    source.put("c", 2, "again", "0.01")
    source.delete(3)
    unchanged = envelope("u", source=postgresql(5000, committed=4990), after={"id": 4, "name": PLACEHOLDER})
    send(
        b"not JSON",
        json.dumps(unchanged).encode(),
        as_json(envelope("t", source=postgresql(1)), ROW, with_schema=True),
    )
    lake.apply()
    expect(lake, "orders", source)
    lake.until(lambda: len(lake.rows("bad")) == 3, "3 records put aside")
    errors = "\n".join(sorted(row["error"] for row in lake.rows("bad")))
    assert "the value is not one JSON object" in errors
    assert "REPLICA IDENTITY FULL" in errors
    assert "was truncated" in errors

    source.records.append((1, late))  # once more, by another way: it is older than what the table has
    send(partition=0)
    source.put("c", 6, "last", "6.00")
    source.put("u", 5, "changed", "5.55")
    source.delete(4)
    send()
    expect(lake, "orders", source)


def test_changes_of_avro_go_on_when_the_source_gets_a_column(
    lake: Project, kafka: KafkaLake, registry: SchemaRegistry
) -> None:
    source = Source()

    def send(row: Mapping[str, Kind]) -> None:
        number = registry.register("people-value", avro_schema(row, postgresql(1)))
        values = [(key, None if each is None else as_avro(each, row, number)) for key, each in source.taken()]
        records = [Record(key=str(key), value=value, partition=key % 2) for key, value in values]
        kafka.broker.topics.produce("people", records)

    for number in range(1, 4):
        source.put("r", number, "first", "1.00")
    source.delete(3)
    send(ROW)
    lake.apply()
    expect(lake, "people", source)
    change = source.put("u", 1, "wider", "12.50")
    change["after"]["note"] = "new"
    source.put("c", 4, "wider", "0.00")
    send(WIDER)
    expect(lake, "people", source)
    found = lake.status()["job.people"]
    assert found["phase"] in ("running", "idle")
    assert not found.get("failures"), lake.told()
    done = lake.run("plan")
    assert 'column "note" { type = "string" }' in done.err + done.out
