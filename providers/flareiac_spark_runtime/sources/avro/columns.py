"""The columns that Spark reads of Avro types, in Iceberg's spelling. Pure."""

from collections.abc import Iterator, Mapping
from typing import Final

from flareiac.kernel.column_types import quoted_name
from flareiac_spark_runtime.sources.avro.types import (
    NULL,
    Array,
    AvroType,
    Decimal,
    Enum,
    Field,
    Fixed,
    Map,
    Primitive,
    Record,
    Recursive,
    Union,
)

_PLAIN: Final[Mapping[Primitive, str]] = {
    Primitive(name="boolean"): "boolean",
    Primitive(name="int"): "int",
    Primitive(name="long"): "long",
    Primitive(name="float"): "float",
    Primitive(name="double"): "double",
    Primitive(name="bytes"): "binary",
    Primitive(name="string"): "string",
    Primitive(name="int", logical="date"): "date",
    Primitive(name="int", logical="time-millis"): "int",
    Primitive(name="long", logical="time-micros"): "long",
    Primitive(name="long", logical="timestamp-millis"): "timestamptz",
    Primitive(name="long", logical="timestamp-micros"): "timestamptz",
    Primitive(name="long", logical="local-timestamp-millis"): "timestamp_ntz",
    Primitive(name="long", logical="local-timestamp-micros"): "timestamp_ntz",
    Primitive(name="string", logical="uuid"): "string",
}
_WIDE: Final = (("long", frozenset({"int", "long"})), ("double", frozenset({"float", "double"})))


class NoColumn(ValueError):
    """No column can hold values of the type; the message says why, as it goes on after "it"."""


def read_as(schema: AvroType) -> AvroType:
    """The type that Spark makes of a union: its only type beside null, the wider one of two numbers, or a
    struct with a field for each type. Any other type stays.
    """
    if not isinstance(schema, Union):
        return schema
    others = schema.others
    if not others:
        return NULL
    if len(others) == 1:
        return others[0]
    names = frozenset(other.name for other in others if isinstance(other, Primitive))
    for wide, pair in _WIDE:
        if len(others) == len(pair) and names == pair:
            return Primitive(name=wide)
    fields = tuple(Field(name=f"member{index}", type=other) for index, other in enumerate(others))
    return Record(name="", fields=fields)


def is_nullable(schema: AvroType) -> bool:
    """Returns True if null is a value of the type."""
    return schema == NULL or (isinstance(schema, Union) and NULL in schema.members)


def natural_type(schema: AvroType) -> str:
    """The type of the column that holds these values as they are. Raises ``NoColumn``."""
    read = read_as(schema)
    match read:
        case Array(items=items):
            return f"list<{natural_type(items)}>"
        case Map(values=values):
            return f"map<string, {natural_type(values)}>"
        case Record():
            return _struct(read)
        case _:
            return _single(read)


def _single(schema: AvroType) -> str:
    match schema:
        case Primitive() if schema == NULL:
            raise NoColumn("is always null")
        case Primitive():
            return _PLAIN[Primitive(name=schema.name, logical=schema.logical)]
        case Decimal(precision=precision, scale=scale):
            return f"decimal({precision},{scale})"
        case Fixed():
            return "binary"
        case Enum():
            return "string"
        case Recursive(name=name):
            raise NoColumn(f"contains itself ({name})")
        case _:
            raise AssertionError(schema)


def _struct(record: Record) -> str:
    if not record.fields:
        raise NoColumn("has a record without fields")
    if (pair := same_but_for_case(record)) is not None:
        raise NoColumn(f"has fields that differ in upper and lower case alone ({pair[0]}, {pair[1]})")
    members = (f"{quoted_name(field.name)}: {natural_type(field.type)}" for field in record.fields)
    return f"struct<{', '.join(members)}>"


def same_but_for_case(record: Record) -> tuple[str, str] | None:
    """Two names that Spark does not tell apart."""
    seen: dict[str, str] = {}
    for field in record.fields:
        if (other := seen.setdefault(field.name.lower(), field.name)) != field.name:
            return other, field.name
    return None


def columns_of(record: Record) -> Iterator[tuple[str, str]]:
    """The columns that hold a record as it is, by name. Fields that no column can hold are left out."""
    for field in record.fields:
        try:
            yield field.name, natural_type(field.type)
        except NoColumn:
            continue
