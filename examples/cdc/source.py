"""A table of orders in PostgreSQL, as far as Debezium tells of it: writes its change events to a topic, as
Avro behind the id of a schema in a registry.

    python source.py BOOTSTRAP REGISTRY PART

PART is one of ``PARTS``. ``rows_after`` says what the table holds then.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final
from urllib.request import Request, urlopen

from confluent_kafka import Producer

from tests.support.debezium import Kind, as_avro, avro_schema, decimal, envelope, postgresql, time, unscaled

TOPIC: Final = "shop.public.orders"
PARTS: Final = ("snapshot", "changes", "late", "column", "again", "unreadable")
ORDERS: Final = 2000
_STATUS: Final = ("paid", "packed", "sent")
_PLACED_US: Final = 1_760_000_000_000_000
_ROW: Final[Mapping[str, Kind]] = {
    "id": Kind(type="int64"),
    "status": Kind(type="string"),
    "total": decimal(10, 2),
    "placed_at": time("MicroTimestamp", "int64"),
}
_WITH_NOTE: Final[Mapping[str, Kind]] = {**_ROW, "note": Kind(type="string")}
_PARTITIONS: Final = 3
_CENT: Final = Decimal("0.01")


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A row of the table."""

    id: int
    status: str
    total: Decimal
    note: str | None = None

    def written(self) -> dict[str, Any]:
        """The row as Kafka Connect has it."""
        return {
            "id": self.id,
            "status": self.status,
            "total": unscaled(self.total),
            "placed_at": _PLACED_US + self.id,
            "note": self.note,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of one order. ``after`` None: it is deleted."""

    op: str
    id: int
    after: Order | None


def changes(part: str) -> Iterator[Change]:
    """The changes of the table, in order."""
    match part:
        case "snapshot":
            for number in range(1, ORDERS + 1):
                yield Change(op="r", id=number, after=_order(number, "new"))
        case "changes":
            for number in range(1, ORDERS + 1, 3):
                for status in _STATUS:
                    yield Change(op="u", id=number, after=_order(number, status))
            for number in range(10, ORDERS + 1, 10):
                yield Change(op="d", id=number, after=None)
            for number in range(ORDERS + 1, ORDERS + 101):
                yield Change(op="c", id=number, after=_order(number, "new"))
            yield Change(op="c", id=10, after=_order(10, "again"))
        case "column" | "again":
            for number in (each for each in range(1, 100, 3) if each % 10):
                yield Change(op="u", id=number, after=_order(number, "sent", note=f"note {number}"))
        case _:
            return


def rows_after(part: str) -> dict[int, Order]:
    """The table after a part, and all parts before it."""
    found: dict[int, Order] = {}
    for each in PARTS[: PARTS.index(part) + 1]:
        for change in changes(each):
            if change.after is None:
                del found[change.id]
            else:
                found[change.id] = change.after
    return found


def main() -> None:
    """Sends the records of a part, and returns when the broker has confirmed all of them."""
    parser = argparse.ArgumentParser(description="Sends change events of a table of orders.")
    parser.add_argument("bootstrap")
    parser.add_argument("registry")
    parser.add_argument("part", choices=PARTS)
    options = parser.parse_args()
    row = _WITH_NOTE if options.part in ("column", "again", "unreadable") else _ROW
    number = _registered(options.registry, avro_schema(row, postgresql(1)))
    producer = Producer({"bootstrap.servers": options.bootstrap, "enable.idempotence": True, "log_level": 0})
    sent = 0
    for key, value, partition in _records(options.part, row, number):
        while True:
            try:
                producer.produce(TOPIC, value, str(key), partition)
                break
            except BufferError:
                producer.poll(0.1)
        sent += 1
    if left := producer.flush(120):
        sys.exit(f"{left} records were not confirmed")
    print(f"sent {sent:,} records: {options.part}")


def _records(part: str, row: Mapping[str, Kind], number: int) -> Iterator[tuple[int, bytes | None, int]]:
    """Key, value and partition."""
    if part == "late":
        # All updates once more, each in the next partition: they are older than the rows that the table
        # holds, and than the deletes of those that it no longer holds.
        for at, change in enumerate(changes("changes")):
            if change.op == "u":
                yield change.id, _value(change, at, "changes", row, number), (change.id + 1) % _PARTITIONS
        return
    if part == "unreadable":
        truncated = envelope("t", source=postgresql(9_999_999, committed=9_999_990))
        yield 0, b"not Avro", 0
        yield 0, as_avro(truncated, row, number), 0
        return
    for at, change in enumerate(changes(part)):
        yield change.id, _value(change, at, part, row, number), change.id % _PARTITIONS
        if change.op == "d":
            yield change.id, None, change.id % _PARTITIONS


def _value(change: Change, at: int, part: str, row: Mapping[str, Kind], number: int) -> bytes:
    lsn = (PARTS.index(part) + 1) * 1_000_000 + at * 10
    source = postgresql(lsn, committed=lsn - 5, snapshot="true" if change.op == "r" else "false")
    before = {"id": change.id} if change.op == "d" else None
    after = change.after.written() if change.after is not None else None
    return as_avro(envelope(change.op, source=source, before=before, after=after), row, number)


def _order(number: int, status: str, note: str | None = None) -> Order:
    return Order(id=number, status=status, total=(Decimal(number) / 4).quantize(_CENT), note=note)


def _registered(url: str, schema: Any) -> int:
    """The id of a schema."""
    body = json.dumps({"schema": json.dumps(schema)}).encode()
    headers = {"Content-Type": "application/vnd.schemaregistry.v1+json"}
    request = Request(f"{url}/subjects/{TOPIC}-value/versions", data=body, headers=headers)  # noqa: S310
    with urlopen(request, timeout=30) as answer:  # noqa: S310  # the loopback
        found: int = json.loads(answer.read())["id"]
    return found


if __name__ == "__main__":
    main()
