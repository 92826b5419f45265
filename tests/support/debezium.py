"""Change events as Debezium's connectors for PostgreSQL and MySQL write them, as JSON and as Avro, and the
rows that they stand for: made of Kafka Connect's schemas, by rules of its own.

    row = {"id": 1, "name": "x"}
    value = envelope("c", POSTGRESQL, after=row, source=postgresql(lsn=7))
    as_json(value, POSTGRESQL, with_schema=True)
"""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from tests.support.avro_values import framed

Json = Any
PLACEHOLDER: Final = "__debezium_unavailable_value"
NOW_MS: Final = 1_760_000_000_123
_TIME: Final = "io.debezium.time."
_CONNECT: Final = "org.apache.kafka.connect.data."
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A schema of Kafka Connect. ``fields`` of a struct, ``items`` of an array, ``values`` of a map."""

    type: str
    name: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    items: "Kind | None" = None
    values: "Kind | None" = None
    fields: Mapping[str, "Kind"] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A column of the source: how its values are written, the type that a stream declares, and some values as
    they are written, each with what a stream reads.
    """

    kind: Kind
    declared: str
    values: Sequence[tuple[Any, Any]]


def time(name: str, of: str) -> Kind:
    """A meaning of Debezium."""
    return Kind(type=of, name=f"{_TIME}{name}")


def connect(name: str, of: str) -> Kind:
    """A meaning of Kafka Connect."""
    return Kind(type=of, name=f"{_CONNECT}{name}")


def decimal(precision: int, scale: int) -> Kind:
    """A decimal as its unscaled bytes."""
    parameters = {"scale": str(scale), "connect.decimal.precision": str(precision)}
    return Kind(type="bytes", name=f"{_CONNECT}Decimal", parameters=parameters)


def unscaled(number: Decimal) -> bytes:
    """The digits of a decimal in two's complement, as Java writes a BigInteger."""
    sign, digits, _ = number.as_tuple()
    whole = int("".join(map(str, digits))) * (-1 if sign else 1)
    bits = whole.bit_length() if whole >= 0 else (whole + 1).bit_length()
    return whole.to_bytes(bits // 8 + 1, "big", signed=True)


VARIABLE: Final = Kind(
    type="struct",
    name="io.debezium.data.VariableScaleDecimal",
    fields={"scale": Kind(type="int32"), "value": Kind(type="bytes")},
)
_INT, _LONG, _TEXT = Kind(type="int32"), Kind(type="int64"), Kind(type="string")
_POINT: Final = Kind(
    type="struct",
    name="io.debezium.data.geometry.Point",
    fields={"x": Kind(type="double"), "y": Kind(type="double"), "wkb": Kind(type="bytes"), "srid": _INT},
)


def _moment(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)


def _numbers(text: str) -> tuple[dict[str, Any], Decimal]:
    number = Decimal(text)
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    return {"scale": -exponent, "value": unscaled(number)}, number


_COMMON: Final[dict[str, Sample]] = {
    "flag": Sample(kind=Kind(type="boolean"), declared="boolean", values=((True, True), (False, False))),
    "small": Sample(kind=Kind(type="int16"), declared="int", values=((-32768, -32768), (7, 7))),
    "whole": Sample(kind=_INT, declared="long", values=((2**31 - 1, 2**31 - 1), (0, 0))),
    "large": Sample(kind=_LONG, declared="long", values=((-(2**63), -(2**63)), (2**53 + 1, 2**53 + 1))),
    "as_decimal": Sample(kind=_LONG, declared="decimal(20,1)", values=((12, Decimal("12.0")),)),
    "real": Sample(kind=Kind(type="float"), declared="float", values=((0.5, 0.5), (-1.25, -1.25))),
    "ratio": Sample(kind=Kind(type="double"), declared="double", values=((0.1, 0.1), (1e300, 1e300))),
    "label": Sample(
        kind=_TEXT, declared="string", values=(("5", "5"), ('ß "q" \n \\', 'ß "q" \n \\'), ("", ""))
    ),
    "price": Sample(
        kind=decimal(12, 2),
        declared="decimal(12,2)",
        values=tuple(
            (unscaled(Decimal(text)), Decimal(text))
            for text in ("0.00", "1.27", "1.28", "-1.28", "-1.29", "9999999999.99", "-9999999999.99")
        ),
    ),
    "huge": Sample(
        kind=decimal(38, 0),
        declared="decimal(38,0)",
        values=tuple(
            (unscaled(Decimal(text)), Decimal(text)) for text in ("9" * 38, "-" + "9" * 38, str(2**64), "-1")
        ),
    ),
    "wider": Sample(
        kind=decimal(10, 1),
        declared="decimal(20,3)",
        values=((unscaled(Decimal("-2.5")), Decimal("-2.500")),),
    ),
    "raw": Sample(
        kind=Kind(type="bytes"), declared="binary", values=((b"\x00\xff", b"\x00\xff"), (b"", b""))
    ),
    "day": Sample(
        kind=time("Date", "int32"),
        declared="date",
        values=((-719162, date(1, 1, 1)), (20454, date(1970, 1, 1) + timedelta(days=20454))),
    ),
    "at_ms": Sample(
        kind=time("Timestamp", "int64"),
        declared="timestamp_ntz",
        values=((1_700_000_000_001, _moment(1_700_000_000_001_000)), (-1, _moment(-1000))),
    ),
    "at_us": Sample(
        kind=time("MicroTimestamp", "int64"),
        declared="timestamp_ntz",
        values=((1_700_000_000_000_001, _moment(1_700_000_000_000_001)), (-1, _moment(-1))),
    ),
    "at_us_utc": Sample(
        kind=time("MicroTimestamp", "int64"),
        declared="timestamptz",
        values=((1_700_000_000_000_001, _moment(1_700_000_000_000_001).replace(tzinfo=UTC)),),
    ),
    "at_ns": Sample(
        kind=time("NanoTimestamp", "int64"),
        declared="timestamp_ntz",
        values=((1_700_000_000_000_001_999, _moment(1_700_000_000_000_001)), (-1, _moment(-1))),
    ),
    "at": Sample(
        kind=time("ZonedTimestamp", "string"),
        declared="timestamptz",
        values=(
            ("2026-01-31T23:59:59.123456Z", datetime(2026, 1, 31, 23, 59, 59, 123456, UTC)),
            ("2026-01-31T23:59:59+02:00", datetime(2026, 1, 31, 21, 59, 59, 0, UTC)),
        ),
    ),
    "iso_at": Sample(
        kind=time("IsoTimestamp", "string"),
        declared="timestamp_ntz",
        values=(("2026-01-31T23:59:59.5Z", _moment(1_769_903_999_500_000)),),
    ),
    "iso_day": Sample(
        kind=time("IsoDate", "string"), declared="date", values=(("2026-01-31Z", date(2026, 1, 31)),)
    ),
    "clock_ms": Sample(kind=time("Time", "int32"), declared="int", values=((86399999, 86399999),)),
    "clock_us": Sample(kind=time("MicroTime", "int64"), declared="long", values=((1, 1),)),
    "clock_ns": Sample(kind=time("NanoTime", "int64"), declared="long", values=((1, 1),)),
    "clock": Sample(
        kind=time("ZonedTime", "string"), declared="string", values=(("12:00:00Z", "12:00:00Z"),)
    ),
    "connect_day": Sample(kind=connect("Date", "int32"), declared="date", values=((1, date(1970, 1, 2)),)),
    "connect_at": Sample(
        kind=connect("Timestamp", "int64"),
        declared="timestamp_ntz",
        values=((1_700_000_000_001, _moment(1_700_000_000_001_000)),),
    ),
    "connect_clock": Sample(kind=connect("Time", "int32"), declared="int", values=((5, 5),)),
    "document": Sample(
        kind=Kind(type="string", name="io.debezium.data.Json"),
        declared="string",
        values=(('{"a": [1]}', '{"a": [1]}'),),
    ),
    "choice": Sample(
        kind=Kind(type="string", name="io.debezium.data.Enum", parameters={"allowed": "a,b"}),
        declared="string",
        values=(("a", "a"),),
    ),
}
POSTGRESQL: Final[dict[str, Sample]] = {
    **_COMMON,
    "any_scale": Sample(
        kind=VARIABLE,
        declared="decimal(20,4)",
        values=tuple(map(_numbers, ("1.50", "-7", "0.1234", "12.340000"))),
    ),
    "token": Sample(
        kind=Kind(type="string", name="io.debezium.data.Uuid"),
        declared="uuid",
        values=(("6f9619ff-8b86-d011-b42d-00c04fc964ff",) * 2,),
    ),
    "span": Sample(kind=time("MicroDuration", "int64"), declared="long", values=((60_000_000, 60_000_000),)),
    "bits": Sample(
        kind=Kind(type="bytes", name="io.debezium.data.Bits", parameters={"length": "9"}),
        declared="binary",
        values=((b"\x01\x01",) * 2,),
    ),
    "texts": Sample(
        kind=Kind(type="array", items=_TEXT),
        declared="list<string>",
        values=((["a", None, ""],) * 2, ([],) * 2),
    ),
    "times": Sample(
        kind=Kind(type="array", items=time("MicroTimestamp", "int64")),
        declared="list<timestamp_ntz>",
        values=(([1, None], [_moment(1), None]),),
    ),
    "amounts": Sample(
        kind=Kind(type="array", items=decimal(6, 2)),
        declared="list<decimal(6,2)>",
        values=(([unscaled(Decimal("1.10"))], [Decimal("1.10")]),),
    ),
    "pairs": Sample(
        kind=Kind(type="map", values=_TEXT),
        declared="map<string, string>",
        values=(({"k": "v", "n": None},) * 2,),
    ),
    "spot": Sample(
        kind=_POINT,
        declared="struct<y: double, x: double, wkb: binary>",
        values=(({"x": 1.0, "y": 2.5, "wkb": b"\x01", "srid": None}, (2.5, 1.0, b"\x01")),),
    ),
}
MYSQL: Final[dict[str, Sample]] = {
    **_COMMON,
    "year": Sample(kind=time("Year", "int32"), declared="int", values=((2026, 2026),)),
    "choices": Sample(
        kind=Kind(type="string", name="io.debezium.data.EnumSet", parameters={"allowed": "a,b"}),
        declared="string",
        values=(("a,b", "a,b"),),
    ),
}


def postgresql(lsn: int, *, committed: int | None = None, snapshot: str = "false") -> dict[str, Any]:
    """``source`` of a change of PostgreSQL. ``committed``: the last commit before it."""
    sequence = json.dumps([None if committed is None else str(committed), str(lsn)])
    return {
        "version": "3.0.0.Final",
        "connector": "postgresql",
        "name": "shop",
        "ts_ms": NOW_MS,
        "snapshot": snapshot,
        "db": "shop",
        "sequence": sequence,
        "schema": "public",
        "table": "orders",
        "txId": 555,
        "lsn": lsn,
        "xmin": None,
    }


def mysql(file: str, pos: int, row: int = 0) -> dict[str, Any]:
    """``source`` of a change of MySQL."""
    return {
        "version": "3.0.0.Final",
        "connector": "mysql",
        "name": "shop",
        "ts_ms": NOW_MS,
        "snapshot": "false",
        "db": "shop",
        "sequence": None,
        "table": "orders",
        "server_id": 1,
        "gtid": None,
        "file": file,
        "pos": pos,
        "row": row,
        "thread": 7,
        "query": None,
    }


_SOURCE: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(("version", "connector", "name", "snapshot", "db", "sequence", "schema", "table"), _TEXT),
    **dict.fromkeys(("ts_ms", "txId", "lsn", "xmin", "server_id", "pos", "thread"), _LONG),
    **dict.fromkeys(("gtid", "file", "query"), _TEXT),
    "row": _INT,
}


def envelope(op: str, *, source: Mapping[str, Any], before: Any = None, after: Any = None) -> dict[str, Any]:
    """A change as Debezium's own structure."""
    return {
        "before": before,
        "after": after,
        "source": dict(source),
        "op": op,
        "ts_ms": NOW_MS + 5,
        "transaction": None,
    }


def kind_of(row: Mapping[str, Kind], source: Mapping[str, Any]) -> Kind:
    """The schema of the envelopes of a table."""
    value = Kind(type="struct", name="shop.public.orders.Value", fields=row)
    of_source = Kind(
        type="struct", name="io.debezium.connector.Source", fields={name: _SOURCE[name] for name in source}
    )
    fields = {"before": value, "after": value, "source": of_source, "op": _TEXT, "ts_ms": _LONG}
    return Kind(type="struct", name="shop.public.orders.Envelope", fields=fields)


def as_json(change: Mapping[str, Any], row: Mapping[str, Kind], *, with_schema: bool) -> bytes:
    """The message as Kafka Connect's JsonConverter writes it."""
    kind = kind_of(row, change["source"])
    payload = {**_json(change, kind), "transaction": None}
    if not with_schema:
        return json.dumps(payload).encode()
    return json.dumps({"schema": _json_schema(kind), "payload": payload}).encode()


def as_avro(change: Mapping[str, Any], row: Mapping[str, Kind], number: int) -> bytes:
    """The message as Confluent's converter writes it, behind the id of its schema."""
    return framed(number, avro_schema(row, change["source"]), _plain(change, kind_of(row, change["source"])))


def avro_schema(row: Mapping[str, Kind], source: Mapping[str, Any]) -> Json:
    """The schema that a registry holds."""
    return _avro(kind_of(row, source), set())


def _json(value: Any, kind: Kind) -> Json:
    match value, kind:
        case None, _:
            return None
        case bytes(), _:
            return base64.b64encode(value).decode()
        case _, Kind(type="struct", fields=fields):
            return {name: _json(value.get(name), inner) for name, inner in fields.items() if name in value}
        case _, Kind(type="array", items=Kind() as items):
            return [_json(item, items) for item in value]
        case _, Kind(type="map", values=Kind() as values):
            return {name: _json(item, values) for name, item in value.items()}
        case _:
            return value


def _json_schema(kind: Kind, name: str | None = None) -> Json:
    found: dict[str, Json] = {"type": kind.type, "optional": True}
    if kind.fields:
        found["fields"] = [_json_schema(inner, field_name) for field_name, inner in kind.fields.items()]
    if kind.items is not None:
        found["items"] = _json_schema(kind.items)
    if kind.values is not None:
        found |= {"keys": {"type": "string", "optional": False}, "values": _json_schema(kind.values)}
    if kind.name is not None:
        found |= {"name": kind.name, "version": 1}
    if kind.parameters:
        found["parameters"] = dict(kind.parameters)
    return found if name is None else {**found, "field": name}


_AVRO: Final = {
    "int8": "int",
    "int16": "int",
    "int32": "int",
    "int64": "long",
    "float": "float",
    "double": "double",
    "boolean": "boolean",
    "string": "string",
    "bytes": "bytes",
}
_AVRO_MEANS: Final = {"Date": "date", "Time": "time-millis", "Timestamp": "timestamp-millis"}


def _avro(kind: Kind, known: set[str]) -> Json:
    match kind:
        case Kind(type="struct", name=name) if name in known:
            return name
        case Kind(type="struct", name=name, fields=fields):
            assert name is not None
            known.add(name)
            namespace, _, last = name.rpartition(".")
            made = [
                {"name": each, "type": ["null", _avro(inner, known)], "default": None}
                for each, inner in fields.items()
            ]
            return {
                "type": "record",
                "name": last,
                "namespace": namespace,
                "fields": made,
                "connect.name": name,
            }
        case Kind(type="array", items=Kind() as items):
            return {"type": "array", "items": ["null", _avro(items, known)]}
        case Kind(type="map", values=Kind() as values):
            return {"type": "map", "values": ["null", _avro(values, known)]}
        case _:
            return _avro_plain(kind)


def _avro_plain(kind: Kind) -> Json:
    of = _AVRO[kind.type]
    if kind.name is None:
        return of if kind.type not in ("int8", "int16") else {"type": of, "connect.type": kind.type}
    found: dict[str, Json] = {"type": of, "connect.version": 1, "connect.name": kind.name}
    if kind.parameters:
        found["connect.parameters"] = dict(kind.parameters)
    short = kind.name.removeprefix(_CONNECT)
    if short == "Decimal":
        scale, precision = kind.parameters["scale"], kind.parameters["connect.decimal.precision"]
        found |= {"scale": int(scale), "precision": max(int(precision), 64), "logicalType": "decimal"}
    elif kind.name.startswith(_CONNECT):
        found["logicalType"] = _AVRO_MEANS[short]
    return found


def _plain(value: Any, kind: Kind) -> Any:
    """As Avro's writer takes it: fields that are not given are null."""
    match value, kind:
        case None, _:
            return None
        case _, Kind(type="struct", fields=fields):
            return {name: _plain(value.get(name), inner) for name, inner in fields.items()}
        case _:
            return value


def kinds(samples: Mapping[str, Sample]) -> dict[str, Kind]:
    """The schemas of a row's fields."""
    return {name: sample.kind for name, sample in samples.items()}


def rows(samples: Mapping[str, Sample]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Rows that together have every value, each as it is written and as a stream reads it; a last one is all
    null.
    """
    longest = max(len(sample.values) for sample in samples.values())
    found = []
    for index in range(longest):
        pairs = {name: sample.values[index % len(sample.values)] for name, sample in samples.items()}
        found.append(
            ({name: pair[0] for name, pair in pairs.items()}, {name: pair[1] for name, pair in pairs.items()})
        )
    return [*found, (dict.fromkeys(samples), dict.fromkeys(samples))]


def comparable(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with moments as microseconds since 1970, which no zone of a process changes."""
    return {name: _micros(value) for name, value in row.items()}


def _micros(value: Any) -> Any:
    if isinstance(value, datetime) and value.tzinfo is not None:
        return (value - _EPOCH.replace(tzinfo=UTC)) // timedelta(microseconds=1)
    return value
