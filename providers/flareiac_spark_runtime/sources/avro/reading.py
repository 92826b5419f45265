"""Expressions of Spark's SQL that read values of one writer's schema into declared columns. Pure.

Spark's ``from_avro`` gives a struct of nulls for bytes that are no value of the schema, as it does for a
record of nulls. So the reading schema has a field of its own, ``MARK``, with a default: it is null in the
former alone. Avro's own conversions are not used, since Spark takes what a value means from the reading
schema alone: milliseconds would be read as microseconds. Fields are read as they were written, and cast.
"""

from collections.abc import Sequence
from typing import Final

from flareiac.kernel.column_types import ColumnType, ListOf, MapOf, StructOf, type_of
from flareiac_spark_runtime.sources.avro.columns import read_as
from flareiac_spark_runtime.sources.avro.spelling import reader_of, spelled
from flareiac_spark_runtime.sources.avro.types import NULL, Array, AvroType, Map, Record
from flareiac_spark_runtime.sources.resolved import SpecColumn

MARK: Final = "__flareiac_read"


def reading(schema: Record, payload: str, columns: Sequence[SpecColumn]) -> str:
    """A struct of ``MARK`` and the columns, by their order alone: names and types are those of a cast.
    ``payload``: the expression of the bytes. The columns fit the schema.
    """
    names = [column.name for column in columns]
    options = f"map('mode', 'PERMISSIVE', 'avroSchema', '{reader_of(schema, names, MARK)}')"
    value = f"from_avro({payload}, '{spelled(schema)}', {options})"
    if all(is_in_shape(schema, column) for column in columns):
        return value
    parts = [f"'{MARK}', v.`{MARK}`"]
    for index, column in enumerate(columns):
        parts.append(f"'c{index}', {_of_column(schema, column)}")
    # A lambda evaluates the value once for all its fields.
    return f"transform(array({value}), v -> named_struct({', '.join(parts)}))[0]"


def is_in_shape(schema: Record, column: SpecColumn) -> bool:
    """Returns True if a cast is enough: structs have the same fields in the same order."""
    return _of_column(schema, column) == _plain(schema, column)


def _plain(schema: Record, column: SpecColumn) -> str:
    return "NULL" if schema.field(column.name) is None else f"v.`{column.name}`"


def _of_column(schema: Record, column: SpecColumn) -> str:
    field = schema.field(column.name)
    if field is None:
        return "NULL"
    return _shaped(field.type, type_of(column.type), f"v.`{column.name}`", 0)


def _shaped(schema: AvroType, kind: ColumnType, sql: str, depth: int) -> str:
    match read_as(schema), kind:
        case Record() as record, StructOf(members=members):
            return _struct(
                record, members=[(member.name, member.type) for member in members], sql=sql, depth=depth
            )
        case Array(items=items), ListOf(element=element):
            each = f"e{depth}"
            inner = _shaped(items, element, each, depth + 1)
            return sql if inner == each else f"transform({sql}, {each} -> {inner})"
        case Map(values=values), MapOf(value=value):
            each = f"e{depth}"
            inner = _shaped(values, value, each, depth + 1)
            return sql if inner == each else f"transform_values({sql}, (k{depth}, {each}) -> {inner})"
        case _:
            return sql


def _struct(record: Record, *, members: Sequence[tuple[str, ColumnType]], sql: str, depth: int) -> str:
    parts, same = [], [name for name, _kind in members] == [field.name for field in record.fields]
    for name, kind in members:
        field = record.field(name)
        plain = f"{sql}.`{name}`"
        inner = (
            "NULL"
            if field is None or read_as(field.type) == NULL
            else _shaped(field.type, kind, plain, depth)
        )
        same = same and inner == plain
        parts.append(inner)
    if same:
        return sql
    fields = ", ".join(f"'c{index}', {inner}" for index, inner in enumerate(parts))
    return f"CASE WHEN {sql} IS NOT NULL THEN named_struct({fields}) END"
