"""The changes that a schema registry allows a new version of a subject, as far as they affect declared
columns. Pure.
"""

from collections.abc import Sequence
from typing import Final

from flareiac_spark_runtime.sources.avro.columns import read_as
from flareiac_spark_runtime.sources.avro.types import AvroType, Primitive, Record
from flareiac_spark_runtime.sources.resolved import SpecColumn

_GROWS: Final = ("int", "long", "float")
_TRANSITIVE: Final = "_TRANSITIVE"


def tolerated(level: str, schema: AvroType, columns: Sequence[SpecColumn]) -> str | None:
    """The changes that a later version may make, without a full stop; None where they affect no column."""
    if not isinstance(schema, Record):
        return None
    match level.removesuffix(_TRANSITIVE):
        case "NONE":
            return (
                "a later version may change the type of any field or leave it out; a record that does not "
                "fit the columns is a bad record"
            )
        case "BACKWARD":
            return _backward(schema, columns)
        case "FORWARD" | "FULL":
            return _without(_names(schema, columns, defaults=True))
        case _:
            return None


def _backward(schema: Record, columns: Sequence[SpecColumn]) -> str:
    required = _without(_names(schema, columns, defaults=False))
    left_out = required or "a later version may leave out a field, and its column is null"
    growing = [
        column.name
        for column in columns
        if (field := schema.field(column.name)) is not None
        and isinstance(read := read_as(field.type), Primitive)
        and read.name in _GROWS
        and read.logical is None
        and column.type in _GROWS
    ]
    if not growing:
        return left_out
    return (
        f"{left_out}; it may widen a number, and a record that the type of its column "
        f"({', '.join(growing[:3])}{', ...' if len(growing) > 3 else ''}) does not take is a bad record"
    )


def _names(schema: Record, columns: Sequence[SpecColumn], *, defaults: bool) -> list[str]:
    """Required columns whose field may go."""
    fields = ((column, schema.field(column.name)) for column in columns if column.required)
    return [
        column.name for column, field in fields if field is not None and (field.has_default or not defaults)
    ]


def _without(names: Sequence[str]) -> str | None:
    if not names:
        return None
    text = ", ".join(names)
    return f"a later version may leave out {text}, which is not null: such a record is a bad record"
