"""The findings in the last records of a topic about the columns that a stream declares. Pure. Keeps names and
types of fields, never a value.
"""

from collections.abc import Iterator, Sequence
from typing import Final, Literal, TypeAlias

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.sources.avro.layout import is_value_of
from flareiac_spark.sources.json_shape import shape_of
from flareiac_spark_runtime.sources.avro.differences import NewField, differences
from flareiac_spark_runtime.sources.avro.types import NotAvro, parse
from flareiac_spark_runtime.sources.resolved import SpecColumn

LARGEST: Final = 256 * 1024
"""Bytes of a value that is looked at."""
_HEADER: Final = 5
_LARGEST_ID: Final = 100_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRead:
    """The way in which a stream reads values. ``columns`` are those of the value; ``schema``: the schema with
    which all values of Avro are written, None where they name theirs.
    """

    format: Literal["json", "avro"]
    columns: tuple[SpecColumn, ...]
    schema: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldsWithoutColumn:
    """``having`` of the last ``records`` have one of the fields."""

    topic: str
    records: int
    having: int
    fields: tuple[NewField, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValuesWithHeader:
    """All of the last ``records`` begin with the header of a schema registry, and are read without."""

    topic: str
    records: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ValuesWithoutHeader:
    """``bare`` of the last ``records`` do not begin with the header that they are read with."""

    topic: str
    records: int
    bare: int


SampleFinding: TypeAlias = FieldsWithoutColumn | ValuesWithHeader | ValuesWithoutHeader


def judged(read: SampleRead, topic: str, values: Sequence[bytes]) -> tuple[SampleFinding, ...]:
    """The findings in values of one topic."""
    small = [value for value in values if len(value) <= LARGEST]
    match read:
        case SampleRead(format="json", columns=columns):
            return tuple(_fields(columns, topic, small))
        case SampleRead(schema=None):
            return tuple(_bare(topic, small))
        case SampleRead(schema=schema):
            return tuple(_framed(schema or "", topic, small))


def _fields(
    columns: Sequence[SpecColumn], topic: str, values: Sequence[bytes]
) -> Iterator[FieldsWithoutColumn]:
    shape = shape_of(values)
    new = tuple(
        difference for difference in differences(shape.tree, columns) if isinstance(difference, NewField)
    )
    having = sum(any(column.path in paths for column in new) for paths in shape.paths)
    if new:
        yield FieldsWithoutColumn(topic=topic, records=len(shape.paths), having=having, fields=new)


def _bare(topic: str, values: Sequence[bytes]) -> Iterator[ValuesWithoutHeader]:
    bare = sum(len(value) < _HEADER or value[0] != 0 for value in values)
    if bare:
        yield ValuesWithoutHeader(topic=topic, records=len(values), bare=bare)


def _framed(schema: str, topic: str, values: Sequence[bytes]) -> Iterator[ValuesWithHeader]:
    """A value of the schema may begin with the same bytes: it is one to its last byte."""
    try:
        tree = parse(schema)
    except NotAvro:
        return
    if values and all(_has_header(value) and is_value_of(tree, value) is False for value in values):
        yield ValuesWithHeader(topic=topic, records=len(values))


def _has_header(value: bytes) -> bool:
    return len(value) > _HEADER and value[0] == 0 and 0 < int.from_bytes(value[1:_HEADER]) < _LARGEST_ID
