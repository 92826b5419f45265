"""Kafka in the matrix: how a stream of topics is written, and the brokers that hold the cells' records."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from tests.bench.matrix_rows import EVENT, PARTITIONS, Event, Row
from tests.support.kafka_broker import Broker, Login
from tests.support.kafka_topics import Record

LOGIN: Final = Login(user="flare", password="right")
SCHEMA_FILE: Final = "event.avsc"
_AVRO: Final[Mapping[str, Any]] = {
    "string": "string",
    "long": "long",
    "int": "int",
    "double": "double",
    "timestamptz": {"type": "long", "logicalType": "timestamp-micros"},
}
_SCHEMA: Final = {
    "type": "record",
    "name": "event",
    "fields": [{"name": name, "type": _AVRO[kind]} for name, kind in EVENT.items()],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kafka:
    """The way in which a stream of topics is written. ``also``: places whose topics it reads beside the job's
    own; ``cluster``: the label of the connection.
    """

    written: Literal["topic", "topics", "pattern", "block"] = "topic"
    also: tuple[str, ...] = ()
    cluster: str = "main"
    format: str = "json"

    def lines(self, cell: str, place: str) -> list[str]:
        """The lines of its block."""
        names = [topic_name(cell, item) for item in (place, *self.also)]
        which = {
            "topic": f'topic = "{names[0]}"',
            "topics": f"topics = {json.dumps(names)}",
            "pattern": f'topic_pattern = "{cell}-({"|".join((place, *self.also))})"',
            "block": f"topic = topic.{cell}",
        }
        schema = [f'schema = file("{SCHEMA_FILE}")'] if self.format == "avro" else []
        return [
            which[self.written],
            f"connection = kafka.{self.cluster}",
            f'format = "{self.format}"',
            *schema,
        ]

    def blocks(self, cell: str, place: str) -> list[str]:
        """The block of its topic, which is there already."""
        if self.written != "block":
            return []
        name = topic_name(cell, place)
        return [
            f'topic "{cell}" {{\nkafka = kafka.main\nname = "{name}"\n}}',
            f'import {{\nto = topic.{cell}\nid = "main/{name}"\n}}',
        ]


def topic_name(cell: str, place: str) -> str:
    """The topic that holds the rows of a place for one cell."""
    return f"{cell}-{place}"


class Cluster:
    """The broker of a run, and where ``two`` says so a second cluster; ``open`` starts them, ``close`` ends
    them.
    """

    def __init__(self, root: Path, *, two: bool) -> None:
        self._root, self._two, self._open = root, two, ExitStack()
        self._widened: set[str] = set()

    def open(self) -> str:
        """Returns the blocks of the connections."""
        root, java = self._root, _java_home()
        self.broker = self._open.enter_context(Broker(root / "broker", java, login=LOGIN))
        self.other = self._open.enter_context(Broker(root / "other", java)) if self._two else self.broker
        write_files(root)
        plain, login = self.broker.bootstrap, self.broker.login_bootstrap
        assert login is not None, "the broker was started with a login"
        return connections(root, Servers(plain=plain, login=login, other=self.other.bootstrap))

    def close(self) -> None:
        """See the class."""
        self._open.close()

    def create(self, topic: str) -> None:
        """A topic with two partitions, on every cluster."""
        for broker in dict.fromkeys([self.broker, self.other]):
            broker.topics.create(topic, partitions=2)

    def land(self, topic: str, rows: Iterable[Event], form: str, cluster: str = "main") -> None:
        """Rows as records."""
        broker = self.other if cluster == "other" else self.broker
        added = topic in self._widened
        sent = [Record(value=_encoded(row, form), partition=2 if added else _partition(row)) for row in rows]
        broker.topics.produce(topic, sent)

    def widen(self, topic: str) -> None:
        """A third partition, which gets what is sent from now on."""
        self.broker.topics.add_partitions(topic, 3)
        self._widened.add(topic)

    def trim(self, topic: str) -> None:
        """Deletes all that is in a topic."""
        self.broker.topics.trim(topic, self.broker.topics.ends(topic))

    def recreate(self, topic: str) -> None:
        """Another topic of the same name."""
        self.broker.topics.delete(topic)
        self.broker.topics.create(topic, partitions=2)

    def rows(self, topic: str) -> list[Row]:
        """The rows that an output has written to a topic, with the keys and the headers."""
        return [_row(record) for record in self.broker.topics.consume(topic)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Servers:
    """The addresses of the brokers' listeners."""

    plain: str
    login: str
    other: str


def connections(root: Path, servers: Servers) -> str:
    """The blocks of the connections, whose password files are in ``root``."""
    port = servers.plain.rpartition(":")[2]
    secrets = {"kafka": "secret", "moved": "secret-moved"}
    login = 'sasl = {{ mechanism = "PLAIN", username = "flare", password = secret.{} }}'
    blocks = [f'secret "{name}" {{\nfile = "{root / file}"\n}}' for name, file in secrets.items()]
    declared: dict[str, tuple[str, Sequence[str]]] = {
        "main": (servers.plain, ()),
        "same": (servers.plain, ()),
        "spelled": (f"localhost:{port}", ()),
        "tuned": (servers.plain, ['options = { "client.id" = "matrix" }']),
        "login": (servers.login, [login.format("kafka")]),
        "moved": (servers.login, [login.format("moved")]),
        "other": (servers.other, ()),
    }
    for label, (address, lines) in declared.items():
        blocks.append("\n".join([f'kafka "{label}" {{', f'bootstrap_servers = "{address}"', *lines, "}"]))
    return "\n".join(blocks) + "\n"


def write_files(root: Path) -> None:
    """The files that the connections and the streams name: the passwords and the schema."""
    for name in ("secret", "secret-moved"):
        (root / name).write_text(LOGIN.password)
    (root / SCHEMA_FILE).write_text(json.dumps(_SCHEMA))


def _java_home() -> Path:
    from flareiac_spark.runtime.java import require_java

    return require_java().home


def _partition(row: Event) -> int:
    return PARTITIONS.get(row["k"], 0)


def _encoded(row: Event, form: str) -> str | bytes:
    match form:
        case "avro":
            import fastavro

            body = io.BytesIO()
            fastavro.schemaless_writer(body, fastavro.parse_schema(_SCHEMA), dict(row))
            return body.getvalue()
        case "csv":
            line = io.StringIO()
            csv.writer(line, lineterminator="").writerow([_plain(row[name]) for name in EVENT])
            return line.getvalue()
        case _:
            return json.dumps({name: _plain(value) for name, value in row.items()})


def _plain(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else value


def _row(record: Record) -> Row:
    assert record.value is not None, "the matrix writes no tombstones"
    told = [_text(record.key), *(f"{name}={_text(value)}" for name, value in record.headers)]
    key = " ".join(item for item in told if item)
    return {**json.loads(record.value), "key": key or None}


def _text(value: str | bytes | None) -> str:
    return value.decode() if isinstance(value, bytes) else value or ""
