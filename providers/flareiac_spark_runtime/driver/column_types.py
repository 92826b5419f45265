"""Spells Iceberg's types in Spark's DDL."""

import re
from collections.abc import Mapping, Sequence

from flareiac.kernel.column_types import (
    ColumnType,
    DecimalOf,
    ListOf,
    MapOf,
    Plain,
    StructOf,
    TypeTextError,
    parse,
)
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.sources.resolved import SpecColumn

_UUID = "STRING"
_OF_OTHERS = {"timestamp": "TIMESTAMP_NTZ", "variant": "VARIANT"}
"""Types that cannot be declared, but that tables of other programs have."""
_PLAIN = {
    **_OF_OTHERS,
    "boolean": "BOOLEAN",
    "int": "INT",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "date": "DATE",
    "timestamp_ntz": "TIMESTAMP_NTZ",
    "timestamptz": "TIMESTAMP",
    "string": "STRING",
    "binary": "BINARY",
}

_NAME = re.compile(
    r"(`(?:[^`]|``)*`)|(?<=[<,])\s*([^\s<>(),:`\[\]](?:[^<>(),:`\[\]]*[^\s<>(),:`\[\]])?)(?=\s*:)"
)
"""A quoted name, or a bare one before its colon: fields of tables are bare, whatever signs they have."""


def spark_type(text: str, uuid: str = _UUID) -> str:
    """``struct<a: string, b: int not null>`` as ``STRUCT<`a`: STRING, `b`: INT NOT NULL>``. Raises
    ``Refusal``.
    """
    try:
        return _ddl(_tree(text), {**_PLAIN, "uuid": uuid})
    except TypeTextError as error:
        raise Refusal("TYPE_NOT_UNDERSTOOD", f"The type {text!r} is not understood: {error}") from None


def spark_columns(columns: Sequence[SpecColumn], uuid: str = _UUID) -> str:
    """Columns as a DDL schema, all of them nullable: what is required is checked by value, not by type.
    ``uuid`` is the type that stands for one.
    """
    return ", ".join(f"{quote(column.name)} {spark_type(column.type, uuid)}" for column in columns)


def quote(name: str) -> str:
    """A name as one part of a Spark identifier."""
    return "`" + name.replace("`", "``") + "`"


def _tree(text: str) -> ColumnType:
    try:
        return parse(text, also=_OF_OTHERS)[0]
    except TypeTextError as error:
        quoted = _NAME.sub(lambda name: name[1] or f"`{name[2]}`", text)
        try:
            return parse(quoted, also=_OF_OTHERS)[0]
        except TypeTextError:
            raise error from None


def _ddl(kind: ColumnType, plain: Mapping[str, str]) -> str:
    match kind:
        case ListOf(element=element):
            return f"ARRAY<{_ddl(element, plain)}>"
        case MapOf(key=key, value=value):
            return f"MAP<{_ddl(key, plain)}, {_ddl(value, plain)}>"
        case StructOf(members=members):
            parts = (
                f"{quote(member.name)}: {_ddl(member.type, plain)}{' NOT NULL' if member.required else ''}"
                for member in members
            )
            return f"STRUCT<{', '.join(parts)}>"
        case DecimalOf(precision=precision, scale=scale):
            return f"DECIMAL({precision}, {scale})"
        case Plain(name=name) if name.startswith("fixed("):
            return "BINARY"
        case Plain(name=name) if name in plain:
            return plain[name]
        case Plain(name=name):
            raise TypeTextError(f"Spark has no type for {name!r}.")
