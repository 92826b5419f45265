"""Topics that records arrive in while things are killed, on a broker that is killed too.

What a topic holds in the end is what is right: of a record that the broker did not confirm, only the topic
says whether it is there.
"""

import json
import random
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException, Producer

from flareiac_spark.runtime.java import require_java
from tests.bench.chaos_rows import COLUMNS, File, Row, file_of
from tests.bench.chaos_scenarios import Cells, Scenario, Target, Values
from tests.support.avro_resolution import Json
from tests.support.avro_values import decoded, framed
from tests.support.kafka_broker import Broker
from tests.support.kafka_topics import Record
from tests.support.schema_registry import SchemaRegistry

_PACE: Final = 1.0
"""Seconds between what is sent to each topic."""
_GIVEN_UP: Final = 9_000
"""Milliseconds after which the producer gives a record up: less than some outages last."""
_PATIENCE: Final = 120.0
_SCHEMAS: Final = 4
_PER_SCHEMA: Final = 25
"""So often something is sent with one schema before the next one is registered."""
_HEADER: Final = 5
_AVRO: Final = {"id": "long", "k": "int", "n": ["null", "int"], "part": "string", "city": "string"}
_UNREADABLE: Final[tuple[Callable[[bytes], bytes], ...]] = (
    lambda _: b"poison",
    lambda text: text[: len(text) // 2],
    lambda text: b"[" + text + b"]",
    lambda text: text + b" and more",
    lambda text: text + b'}, {"id": 1',
    lambda text: _with(text, n="many"),
    lambda text: _with(text, ts="soon"),
    lambda text: text.replace(b'"city": "', b'"city": "\xff\xfe'),
)


@dataclass(slots=True)
class _Sent:
    """To one topic. ``confirmed``: values by partition and offset; ``given_up``: values of which the broker
    did not say that it has them.
    """

    files: int = 0
    rows: int = 0
    confirmed: dict[tuple[int, int], bytes | None] = field(default_factory=dict)
    given_up: list[bytes | None] = field(default_factory=list)


class Topics:
    """The broker, the registry, and a producer that goes on sending between ``resume`` and ``rest``."""

    def __init__(self, root: Path, seed: int, scenarios: Sequence[Scenario]) -> None:
        self._seed = seed
        self._values = {item.name: item.values for item in scenarios if item.values is not None}
        self._sent = {name: _Sent() for name in self._values}
        self._read: dict[str, Sequence[File]] = {}
        self._schemas: dict[int, Any] = {}
        self._figures: dict[str, int] = {}
        self._lock, self._sending, self._ended = threading.Lock(), threading.Event(), threading.Event()
        self.broker: Final = Broker(root / "kafka", require_java().home)
        self.registry: Final = SchemaRegistry()
        self.registry.level = "NONE"
        with ExitStack() as stack:
            stack.enter_context(self.broker)
            stack.enter_context(self.registry)
            stack.callback(self._end)
            self._stack = stack.pop_all()
        self._producer = self._opened()
        self._thread = threading.Thread(target=self._go_on, daemon=True)
        self._thread.start()

    @property
    def declared(self) -> str:
        """The connection."""
        registry = f'schema_registry = {{ url = "{self.registry.url}" }}'
        return f'kafka "main" {{\n  bootstrap_servers = "{self.broker.bootstrap}"\n  {registry}\n}}\n'

    @property
    def figures(self) -> dict[str, object]:
        """The numbers of records that were sent and read, as of its last rest."""
        return dict(self._figures)

    # Sending

    def land(self, count: int) -> None:
        """So much more is sent to each topic; what of it the broker confirms, and when, is open."""
        with self._lock:
            for _ in range(count):
                for name in self._values:
                    self._send(name)

    def resume(self) -> None:
        """From now on records arrive without end."""
        self._sending.set()

    def rest(self) -> None:
        """Nothing arrives any more; of each record it is known whether it is there. Raises ``RuntimeError``
        where the broker lacks one that it has confirmed.
        """
        self._sending.clear()
        with self._lock:
            if self._producer.flush(_PATIENCE):
                raise RuntimeError("the producer did not come to an end")
        self._read = {name: [self._topic(name)] for name in self._values}
        confirmed = sum(len(sent.confirmed) for sent in self._sent.values())
        there = sum(len(file.rows) for files in self._read.values() for file in files)
        self._figures = {
            "records in topics": there,
            "records confirmed": confirmed,
            "records given up": sum(len(sent.given_up) for sent in self._sent.values()),
            "records there without a confirmation": there - confirmed,
        }

    def close(self) -> None:
        self._stack.close()

    def _end(self) -> None:
        self._ended.set()
        self._thread.join()

    def _go_on(self) -> None:
        while not self._ended.wait(_PACE):
            if self._sending.is_set():
                self.land(1)

    def _opened(self) -> Producer:
        return Producer(
            {
                "bootstrap.servers": self.broker.bootstrap,
                "log_level": 0,
                "enable.idempotence": True,
                "acks": "all",
                "linger.ms": 5,
                "message.timeout.ms": _GIVEN_UP,
                "reconnect.backoff.max.ms": 500,
                "topic.metadata.refresh.interval.ms": 2_000,
            }
        )

    def _send(self, name: str) -> None:
        sent = self._sent[name]
        file = file_of(f"{self._seed}/{name}", sent.files, sent.rows)
        sent.files += 1
        sent.rows += len(file.rows)
        for row in file.rows:
            record = self._record(name, file.number, row)
            try:
                self._producer.produce(
                    name,
                    value=record.value,
                    key=record.key,
                    partition=record.partition,
                    on_delivery=self._heard,
                )
            except BufferError:
                sent.given_up.append(_bytes(record.value))
            except KafkaException:  # the producer itself is of no more use
                self._producer.flush(_PATIENCE)
                self._producer = self._opened()
                sent.given_up.append(_bytes(record.value))
            self._producer.poll(0)

    def _heard(self, failure: KafkaError | None, message: Any) -> None:
        sent = self._sent[message.topic()]
        if failure is None:
            sent.confirmed[message.partition(), message.offset()] = message.value()
        else:
            sent.given_up.append(message.value())

    def _record(self, name: str, number: int, row: Row) -> Record:
        text = json.dumps({**row, "ts": row["ts"].isoformat()}).encode()
        match self._values[name]:
            case Values.JSON:
                return Record(value=text, key=str(row["k"]))
            case Values.POISON:
                return Record(value=self._perhaps_bad(row, text), partition=row["id"] % 2)
            case Values.AVRO:
                return Record(value=self._avro(name, number, row), key=str(row["k"]))

    def _perhaps_bad(self, row: Row, text: bytes) -> bytes | None:
        chance = random.Random(f"{self._seed}/value/{row['id']}")
        if chance.random() < 0.05:
            return None
        return chance.choice(_UNREADABLE)(text) if chance.random() < 0.25 else text

    def _avro(self, name: str, number: int, row: Row) -> bytes:
        """As a writer does whose schema gets a field more now and then."""
        more = {f"extra{at}": "string" for at in range(min(number // _PER_SCHEMA, _SCHEMAS - 1))}
        fields = [{"name": field, "type": kind} for field, kind in {**_AVRO, **more}.items()]
        schema: Json = {"type": "record", "name": "Row", "fields": fields}
        known = self.registry.register(f"{name}-value", schema)
        self._schemas[known] = schema
        return framed(known, schema, {**{field: row[field] for field in _AVRO}, **dict.fromkeys(more, "x")})

    # Reading

    def files(self, name: str) -> Sequence[File]:
        """Everything in a topic while it rests, in the order of its partitions and offsets."""
        return self._read[name]

    def _topic(self, name: str) -> File:
        """Raises ``RuntimeError`` where a record is missing that the broker has confirmed."""
        records = self.broker.topics.consume(name)
        values = {(record.partition, record.offset): record.value for record in records}
        for place, value in self._sent[name].confirmed.items():
            if values.get(place, b"") != value:
                raise RuntimeError(f"the broker lost the record of {name} at {place}, which it had confirmed")
        return File(number=0, rows=[self._row(name, record) for record in records])

    def _row(self, name: str, record: Record) -> Row:
        place = {
            "kafka_topic": name,
            "kafka_partition": record.partition,
            "kafka_offset": record.offset,
            "kafka_key": record.key.decode() if isinstance(record.key, bytes) else None,
            "raw": record.value,
        }
        value = _bytes(record.value)
        row: Row | None
        if value is None:
            row = dict.fromkeys(COLUMNS)
        elif self._values[name] is Values.AVRO:
            row = decoded(self._schemas[int.from_bytes(value[1:_HEADER])], value[_HEADER:])
        else:
            row = _json(value)
        return {**(row or dict.fromkeys(COLUMNS)), **place, "bad": row is None}

    def copies(self, target: Target) -> "Counter[Cells]":
        """The records of a topic that a job writes, each with how often it is there."""
        found = (json.loads(record.value or b"") for record in self.broker.topics.consume(target.topic))
        return Counter(tuple(row[name] for name in target.columns) for row in found)


def _with(text: bytes, **other: str) -> bytes:
    return json.dumps({**json.loads(text), **other}).encode()


def _bytes(value: str | bytes | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value


def _json(value: bytes) -> Row | None:
    """The row of a value, None where it cannot be read whole."""
    try:
        row = json.loads(value.decode())
        row["ts"] = datetime.fromisoformat(row["ts"])
        return row if isinstance(row["n"], int) else None
    except (ValueError, TypeError, KeyError):
        return None
