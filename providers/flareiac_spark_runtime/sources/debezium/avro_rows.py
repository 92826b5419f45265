"""The row in the Avro schema of an envelope, as a stream reads it: types by what Kafka Connect says of
values. Pure.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from flareiac.kernel.column_types import ColumnType, DecimalOf, ListOf, MapOf, Plain, StructOf, type_of
from flareiac_spark_runtime.sources.avro.columns import read_as
from flareiac_spark_runtime.sources.avro.types import (
    MOST_DIGITS,
    Array,
    AvroType,
    Decimal,
    Field,
    Map,
    Primitive,
    Record,
    Union,
)
from flareiac_spark_runtime.sources.debezium.meanings import DECIMAL, MEANINGS, VARIABLE_SCALE, is_meant
from flareiac_spark_runtime.sources.debezium.names import BINARIES, DECIMALS
from flareiac_spark_runtime.sources.resolved import SpecColumn

_READ_AS: Final[Mapping[str, Primitive]] = {
    "date": Primitive(name="int", logical="date"),
    "timestamptz": Primitive(name="long", logical="timestamp-micros"),
    "timestamp_ntz": Primitive(name="long", logical="local-timestamp-micros"),
    "int": Primitive(name="int"),
    "long": Primitive(name="long"),
    "string": Primitive(name="string"),
}
NOT_ENVELOPES: Final = (
    "The schema is not that of envelopes of Debezium: it has no fields before, after, source and op, the "
    "first two with the same record"
)
TEXT_MODES: Final = ("base64", "base64-url-safe", "hex")
"""Values of ``binary.handling.mode`` under which bytes are texts."""


def row_of(schema: AvroType) -> Record | None:
    """The record of the captured table's row; None for a schema that is not that of envelopes."""
    if not isinstance(schema, Record):
        return None
    parts = [schema.field(name) for name in ("before", "after", "source", "op")]
    if any(part is None for part in parts):
        return None
    before, after = (read_as(part.type) for part in parts[:2] if part is not None)
    return after if isinstance(after, Record) and before == after else None


def effective(row: Record, columns: Sequence[SpecColumn], options: Mapping[str, str]) -> Record:
    """The row with types as they are read: those that ``differences`` compares with declared ones."""
    kinds = {column.name: type_of(column.type) for column in columns}
    return _record(row, kinds, options)


def row_read(
    columns: Sequence[SpecColumn], options: Mapping[str, str]
) -> Callable[[AvroType], Record | None]:
    """``effective`` of the row in a schema; None for one that is not that of envelopes."""

    def row(schema: AvroType) -> Record | None:
        record = row_of(schema)
        return effective(record, columns, options) if record is not None else None

    return row


def unreadable(row: Record, columns: Sequence[SpecColumn], options: Mapping[str, str]) -> Iterator[str]:
    """The reasons that columns cannot be read because their values have no known meaning."""
    for column in columns:
        field = row.field(column.name)
        if field is not None:
            for why in _unreadable(field.type, type_of(column.type), options):
                yield f"the field {column.name} {why}"


def bare(schema: AvroType) -> AvroType:
    """Without conversions of Avro's own where Kafka Connect says what a value means."""
    match schema:
        case Primitive(connect=str()):
            return replace(schema, logical=None)
        case Union(members=members):
            return Union(members=tuple(map(bare, members)))
        case Array(items=items):
            return Array(items=bare(items))
        case Map(values=values):
            return Map(values=bare(values))
        case Record():
            return replace(
                schema, fields=tuple(replace(field, type=bare(field.type)) for field in schema.fields)
            )
        case _:
            return schema


def _record(record: Record, kinds: Mapping[str, ColumnType], options: Mapping[str, str]) -> Record:
    fields = tuple(
        Field(name=field.name, type=_effective(field.type, kinds.get(field.name), options))
        for field in record.fields
    )
    return replace(record, fields=fields)


def _effective(schema: AvroType, kind: ColumnType | None, options: Mapping[str, str]) -> AvroType:
    read = read_as(schema)
    match read, kind:
        case Record(name=name), DecimalOf() if name == VARIABLE_SCALE:
            return _decimal(kind)
        case Record(), StructOf(members=members):
            return _record(read, {member.name: member.type for member in members}, options)
        case Record(), _:
            return _record(read, {}, options)
        case Array(items=items), _:
            return Array(items=_effective(items, kind.element if isinstance(kind, ListOf) else None, options))
        case Map(values=values), _:
            return Map(values=_effective(values, kind.value if isinstance(kind, MapOf) else None, options))
        case Primitive(), _:
            return _primitive(read, kind, options)
        case _:
            return read


def _primitive(read: Primitive, kind: ColumnType | None, options: Mapping[str, str]) -> AvroType:
    meaning = MEANINGS.get(read.connect or "")
    if meaning is not None:
        wanted = kind.name if isinstance(kind, Plain) and kind.name in meaning.takes else meaning.natural
        return _READ_AS[wanted]
    if isinstance(kind, DecimalOf) and is_decimal(read, options):
        return _decimal(kind)
    if read.connect == DECIMAL:
        scale = min(max(read.scale or 0, 0), MOST_DIGITS)
        return Decimal(precision=min(read.precision or MOST_DIGITS, MOST_DIGITS), scale=scale)
    if read.name == "string" and kind == Plain(name="binary") and options.get(BINARIES) in TEXT_MODES:
        return Primitive(name="bytes")
    return Primitive(name=read.name, logical=read.logical)


def is_decimal(read: Primitive, options: Mapping[str, str]) -> bool:
    """Returns True if its values are read as decimals, each as far as its digits fit."""
    if read.connect is not None:
        return read.connect == DECIMAL
    return read.name == "string" or (read.name in ("float", "double") and options.get(DECIMALS) == "double")


def _decimal(kind: DecimalOf) -> Decimal:
    return Decimal(precision=kind.precision, scale=kind.scale)


def _unreadable(schema: AvroType, kind: ColumnType, options: Mapping[str, str]) -> Iterator[str]:
    read = read_as(schema)
    match read, kind:
        case Primitive(connect=str(name)), _ if is_meant(name) and name not in (*MEANINGS, DECIMAL):
            yield f"is {name}, whose meaning is not known"
        case Primitive(name="string"), Plain(name="binary") if options.get(BINARIES) not in TEXT_MODES:
            yield f"is a text: write {BINARIES} in options as the connector has it"
        case Array(items=items), ListOf(element=element):
            yield from _unreadable(items, element, options)
        case Map(values=values), MapOf(value=value):
            yield from _unreadable(values, value, options)
        case Record() as record, StructOf(members=members):
            for member in members:
                if (field := record.field(member.name)) is not None:
                    yield from _unreadable(field.type, member.type, options)
        case _:
            return
