"""Avro records of several writers into a table through the command line, on a real broker with a schema
registry: each record exactly once, whatever schema it has and whatever is down.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.kafka_project import KafkaLake, cluster
from tests.integration.project import Project
from tests.support.avro_values import encoded, framed
from tests.support.kafka_broker import Broker
from tests.support.schema_registry import SchemaRegistry

pytestmark = pytest.mark.jvm

ORDERS = """
stream "orders" {
  kafka {
    topic      = "orders"
    connection = kafka.main
    format     = "avro"
  }
  column "id"     { type = "long not null" }
  column "amount" { type = "double" }
  column "place"  { type = "struct<zip: string>" }
}
table "orders" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id"     { type = "long" }
  column "amount" { type = "double" }
  column "zip"    { type = "string" }
}
checkpoint "orders" {}
job "orders" {
  checkpoint = checkpoint.orders
  trigger    = { processing_time = "200ms" }
  restart    = { backoff = "1s" }
  input "raw" { stream = stream.orders }
  step "clean" { sql = "SELECT id, amount, place.zip AS zip FROM raw" }
  output "rows" { table = table.orders }
}
"""
PLAIN = """
stream "plain" {
  kafka {
    topic      = "plain"
    connection = kafka.main
    format     = "avro"
    schema     = file("plain.avsc")
  }
}
table "plain" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id"   { type = "long" }
  column "name" { type = "string" }
}
checkpoint "plain" {}
job "plain" {
  checkpoint = checkpoint.plain
  trigger    = { processing_time = "200ms" }
  restart    = { backoff = "1s" }
  input "raw" { stream = stream.plain }
  step "clean" { sql = "SELECT id, name FROM raw" }
  output "rows" { table = table.plain }
}
"""
QUARANTINE = """
table "bad" {
  catalog   = catalog.lake
  namespace = "demo"
  column "raw"    { type = "binary" }
  column "error"  { type = "string" }
  column "offset" { type = "long" }
}
"""
FEWER_DIGITS = 'column "amount" { type = "decimal(9,2)" }\n  column "place"'
PUT_ASIDE = "  bad_records = { quarantine = table.bad }\n"
HEADER = (
    "the value does not begin with the header of a schema registry, a zero byte and the id of a schema in "
    "four bytes"
)
MISFIT = (
    "the record has the schema {number}: the field id is string, which the declared type long does not take"
)
PLAIN_SCHEMA = (
    '{"type": "record", "name": "P", "fields": [{"name": "id", "type": "long"}, '
    '{"name": "name", "type": ["null", "string"]}]}'
)


def order(*fields: dict[str, Any]) -> Any:
    return {"type": "record", "name": "Order", "namespace": "shop", "fields": list(fields)}


ID: Any = {"name": "id", "type": "int"}
AMOUNT: Any = {"name": "amount", "type": ["null", "float"], "default": None}
PLACE: Any = {
    "name": "place",
    "type": {
        "type": "record",
        "name": "Place",
        "fields": [{"name": "n", "type": "int"}, {"name": "zip", "type": "string"}],
    },
}
FIRST = order(ID)
SECOND = order(AMOUNT, ID)
NOTED = order(ID, AMOUNT, PLACE, {"name": "note", "type": "string"})
THIRD = order(ID, PLACE, {"name": "note", "type": "string"})


class Orders:
    """The numbers that a producer has sent, each once."""

    def __init__(self, broker: Broker, registry: SchemaRegistry) -> None:
        self._broker, self.registry, self.sent = broker, registry, 0
        registry.level = "NONE"

    def send(self, schema: Any, count: int = 3, *, subject: str = "orders-value", **more: Any) -> int:
        """The id of the schema with which so many records were written."""
        number = self.registry.register(subject, schema)
        ids = range(self.sent, self.sent + count)
        self._broker.topics.produce("orders", [framed(number, schema, {"id": at, **more}) for at in ids])
        self.sent += count
        return number


@pytest.fixture(scope="module")
def registry() -> Iterator[SchemaRegistry]:
    with SchemaRegistry() as started:
        yield started


@pytest.fixture(scope="module")
def lake(kafka: KafkaLake, registry: SchemaRegistry) -> Project:
    """A project whose cluster has a registry."""
    more = f'  schema_registry = {{ url = "{registry.url}" }}\n'
    kafka.project.write(kafka=cluster(kafka.broker.bootstrap, more=more), orders=ORDERS)
    kafka.project.run("init")
    return kafka.project


@pytest.fixture(scope="module")
def orders(lake: Project, kafka: KafkaLake, registry: SchemaRegistry) -> Orders:
    """A job that copies a topic in which two writers have written."""
    kafka.broker.topics.create("orders")
    found = Orders(kafka.broker, registry)
    found.send(FIRST)
    found.send(SECOND, amount=1.5)
    lake.apply()
    expect(lake, found)
    return found


def expect(lake: Project, orders: Orders) -> None:
    """Waits until all orders are there; then each must be there exactly once."""
    lake.until(lambda: len(set(lake.ids("orders"))) >= orders.sent, f"{orders.sent} orders")
    assert lake.ids("orders") == list(range(orders.sent))


def test_records_of_two_writers_are_rows_of_one_table(lake: Project, orders: Orders) -> None:
    rows = sorted(lake.rows("orders"), key=lambda row: row["id"])
    assert [row["amount"] for row in rows] == [None, None, None, 1.5, 1.5, 1.5]


def test_a_schema_that_appears_while_the_job_runs_is_learned_and_no_failure(
    lake: Project, orders: Orders
) -> None:
    orders.send(THIRD, place={"n": 1, "zip": "8000"}, note="x")
    expect(lake, orders)
    assert {row["zip"] for row in lake.rows("orders")} == {None, "8000"}
    found = lake.status()["job.orders"]
    assert found["phase"] in ("running", "idle")
    assert not found.get("failures"), lake.told()


def test_a_restart_needs_no_registry_for_what_was_met(lake: Project, orders: Orders) -> None:
    with orders.registry.outage():
        lake.kill_driver()
        lake.apply()
        number = orders.registry.register("orders-value", THIRD)
        assert number
        orders.send(THIRD, place={"n": 1, "zip": "9000"}, note="x")
        expect(lake, orders)


def test_an_unknown_schema_waits_for_the_registry(lake: Project, orders: Orders) -> None:
    with orders.registry.outage():
        orders.send(order(ID, {"name": "more", "type": "string"}), more="m")
        lake.until(
            lambda: "schema registry" in str(lake.status()["job.orders"].get("last_error")),
            "the job to say that it misses the registry",
        )
    expect(lake, orders)


def test_a_plan_names_a_new_field_with_its_column_and_says_what_it_does_not_know(
    lake: Project, orders: Orders
) -> None:
    orders.registry.register("orders-value", NOTED)
    done = lake.run("plan")
    assert "of the subject orders-value the field note (string) has no column" in done.err + done.out
    assert 'column "note" { type = "string" }' in done.err + done.out
    with orders.registry.outage():
        done = lake.run("plan")
    assert f"the schema registry {orders.registry.url} answers HTTP 503" in done.err + done.out


def test_a_column_that_the_newest_schema_does_not_fit_blocks_the_plan(lake: Project, orders: Orders) -> None:
    orders.registry.register("orders-value", NOTED)
    with lake.edited("orders", ('column "amount" { type = "double" }\n  column "place"', FEWER_DIGITS)):
        done = lake.run("plan", code=4)
    assert "the field amount is float, which the declared type decimal(9,2) does not take" in done.text


def test_values_of_one_schema_give_its_columns(lake: Project, kafka: KafkaLake, orders: Orders) -> None:
    kafka.broker.topics.create("plain")
    (lake.root / "plain.avsc").write_text(PLAIN_SCHEMA)
    lake.write(plain=PLAIN)
    values = [encoded(json.loads(PLAIN_SCHEMA), {"id": at, "name": None}) for at in range(4)]
    kafka.broker.topics.produce("plain", [*values, None])
    lake.apply()
    lake.until(lambda: len(lake.rows("plain")) == 5, "5 rows")
    assert sorted(str(row["id"]) for row in lake.rows("plain")) == ["0", "1", "2", "3", "None"]


def test_bytes_that_are_no_avro_are_put_aside_and_the_others_are_rows(
    lake: Project, kafka: KafkaLake, orders: Orders
) -> None:
    lake.write(bad=QUARANTINE)
    with lake.edited("orders", ('format     = "avro"\n  }', 'format     = "avro"\n  }\n' + PUT_ASIDE)):
        lake.apply()
        kafka.broker.topics.produce("orders", [b'{"id": 1}'])
        other = order({"name": "id", "type": "string"})
        number = orders.registry.register("orders-value", other)
        kafka.broker.topics.produce("orders", [framed(number, other, {"id": "x"})])
        orders.send(FIRST)
        expect(lake, orders)
        lake.until(lambda: len(lake.rows("bad")) == 2, "2 records put aside")
    assert [row["error"] for row in sorted(lake.rows("bad"), key=lambda row: row["offset"])] == [
        HEADER,
        MISFIT.format(number=number),
    ]
