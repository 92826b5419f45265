"""Expressions of Spark's SQL that give one Avro value of a change event its declared type. Pure.

The schema of the writer is known, so that each has an expression of its own. One is null for null, and for a
value that does not fit.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field
from itertools import count

from flareiac.kernel.column_types import ColumnType, DecimalOf, ListOf, MapOf, Plain, StructOf
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.sources.avro.columns import read_as
from flareiac_spark_runtime.sources.avro.types import NULL, Array, AvroType, Map, Primitive, Record
from flareiac_spark_runtime.sources.debezium.avro_rows import TEXT_MODES, is_decimal
from flareiac_spark_runtime.sources.debezium.leaves import (
    binary_of,
    decimal_of_bytes,
    decimal_of_double,
    decimal_of_text,
    uuid_text,
)
from flareiac_spark_runtime.sources.debezium.meanings import MEANINGS, VARIABLE_SCALE
from flareiac_spark_runtime.sources.debezium.names import BINARIES
from flareiac_spark_runtime.sources.decoding import quote


@dataclass(frozen=True, slots=True, kw_only=True)
class AvroKinds:
    """``options`` are settings of Debezium by their own names."""

    options: Mapping[str, str]
    _names: Iterator[int] = field(default_factory=count)

    def value(self, schema: AvroType, kind: ColumnType, sql: str) -> str:
        """The expression of a value that fits the declared type."""
        read = read_as(schema)
        match read, kind:
            case Primitive(), _ if read == NULL:
                return "NULL"
            case Record(name=name), DecimalOf() if name == VARIABLE_SCALE:
                return decimal_of_bytes(f"{sql}.value", f"{sql}.scale", kind.precision, kind.scale)
            case Record(), StructOf():
                return self._struct(read, kind, sql)
            case Array(items=items), ListOf(element=element):
                return self._list(items, element, sql)
            case Map(values=values), MapOf(value=value):
                return self._map(values, value, sql)
            case Primitive(), _:
                return self._single(read, kind, sql)
            case _:
                return sql

    def _single(self, read: Primitive, kind: ColumnType, sql: str) -> str:
        meaning = MEANINGS.get(read.connect or "")
        match kind:
            case Plain(name=name) if meaning is not None and name in meaning.takes:
                return meaning.takes[name](f"CAST({sql} AS BIGINT)" if meaning.held_as == "number" else sql)
            case DecimalOf(precision=precision, scale=scale) if is_decimal(read, self.options):
                return _decimal(read, sql, precision, scale)
            case Plain(name="uuid"):
                return uuid_text(sql)
            case Plain(name="binary") if read.name == "string":
                mode = self.options.get(BINARIES, "")
                return binary_of(sql, mode) if mode in TEXT_MODES else "NULL"
            case _:
                return sql

    def _list(self, items: AvroType, element: ColumnType, sql: str) -> str:
        each, all_ = self._name("e"), self._name("l")
        inner = self.value(items, element, each)
        if inner == each:
            return sql
        pairs = f"transform({sql}, {each} -> named_struct('p', {each} IS NOT NULL, 'v', {inner}))"
        return (
            f"transform(array({pairs}), {all_} -> CASE WHEN forall({all_}, {each} -> NOT {each}.p OR "
            f"{each}.v IS NOT NULL) THEN transform({all_}, {each} -> {each}.v) END)[0]"
        )

    def _map(self, values: AvroType, value: ColumnType, sql: str) -> str:
        key, each, all_ = self._name("k"), self._name("e"), self._name("m")
        inner = self.value(values, value, each)
        if inner == each:
            return sql
        pairs = (
            f"transform_values({sql}, ({key}, {each}) -> named_struct('p', {each} IS NOT NULL, 'v', {inner}))"
        )
        return (
            f"transform(array({pairs}), {all_} -> CASE WHEN forall(map_values({all_}), {each} -> NOT "
            f"{each}.p OR {each}.v IS NOT NULL) THEN "
            f"transform_values({all_}, ({key}, {each}) -> {each}.v) END)[0]"
        )

    def _struct(self, record: Record, kind: StructOf, sql: str) -> str:
        whole, all_ = self._name("s"), self._name("r")
        parts, fits, fields = ["'none', 0"], ["true"], []
        for index, member in enumerate(kind.members):
            avro_field = record.field(member.name)
            if avro_field is None:
                fields.append(f"'c{index}', NULL")
                continue
            raw = f"{whole}.{quote(member.name)}"
            parts.append(
                f"'p{index}', {raw} IS NOT NULL, 'v{index}', {self.value(avro_field.type, member.type, raw)}"
            )
            fits.append(f"(NOT {all_}.p{index} OR {all_}.v{index} IS NOT NULL)")
            fields.append(f"'c{index}', {all_}.v{index}")
        made = f"transform(array({sql}), {whole} -> named_struct({', '.join(parts)}))"
        return (
            f"CASE WHEN {sql} IS NOT NULL THEN transform({made}, {all_} -> CASE WHEN "
            f"{' AND '.join(fits)} THEN named_struct({', '.join(fields)}) END)[0] END"
        )

    def _name(self, letter: str) -> str:
        """A name for a lambda's variable; ones of lambdas around it are others."""
        return f"{letter}{next(self._names)}"


def _decimal(read: Primitive, sql: str, precision: int, scale: int) -> str:
    match read.name:
        case "bytes":
            return decimal_of_bytes(sql, str(read.scale or 0), precision, scale)
        case "string":
            return decimal_of_text(sql, precision, scale)
        case _:
            return decimal_of_double(f"CAST({sql} AS DOUBLE)", precision, scale)
