"""Columns as Avro values behind the header of a schema registry: expressions of Spark's SQL, and what does
not fit.

Spark's ``to_avro`` takes more than it writes well (measured): microseconds are cut where the schema has
milliseconds, a timestamp becomes a plain ``long`` of milliseconds, and a number becomes a timestamp. And it
takes less than it could: a decimal of other digits, a narrower number. So each column is matched here, cast
where nothing can be lost, and checked row by row where only a value can tell.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.control import AvroValue
from flareiac_spark_runtime.driver.column_types import quote
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.sources.avro.columns import is_nullable, same_but_for_case
from flareiac_spark_runtime.sources.avro.spelling import spelled
from flareiac_spark_runtime.sources.avro.types import (
    Array,
    AvroType,
    Decimal,
    Enum,
    Fixed,
    Map,
    Primitive,
    Record,
    Union,
    parse,
)

if TYPE_CHECKING:
    from pyspark.sql import types as spark_types

_EXACT: Final[Mapping[tuple[str, str | None], str]] = {
    ("boolean", None): "boolean",
    ("int", "date"): "date",
    ("long", "timestamp-micros"): "timestamp",
    ("long", "local-timestamp-micros"): "timestamp_ntz",
    ("bytes", None): "binary",
    ("null", None): "void",
}
"""The one type of Spark that a type takes as it is."""
_WIDENED: Final[Mapping[tuple[str, str | None], tuple[str, tuple[str, ...]]]] = {
    ("int", None): ("int", ("tinyint", "smallint")),
    ("int", "time-millis"): ("int", ("tinyint", "smallint")),
    ("long", None): ("bigint", ("tinyint", "smallint", "int")),
    ("long", "time-micros"): ("bigint", ("tinyint", "smallint", "int")),
    ("float", None): ("float", ()),
    ("double", None): ("double", ("float", "tinyint", "smallint", "int")),
}
"""The type that is taken as it is, and those that are cast to it without loss."""
_MILLIS: Final[Mapping[tuple[str, str | None], str]] = {
    ("long", "timestamp-millis"): "timestamp",
    ("long", "local-timestamp-millis"): "timestamp_ntz",
}
_DIGITS: Final[Mapping[str, int]] = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}
"""The most digits of a whole number."""


def value_of(columns: "Mapping[str, spark_types.StructField]", value: AvroValue, output: "Output") -> str:
    """The expression of a record's value. ``columns`` are those of the query by lower-case name. Raises
    ``Refusal`` for columns that the schema does not have, lacks, or does not take.
    """
    record = parse(value.schema)
    if not isinstance(record, Record):
        raise output.refusal("AVRO_SCHEMA_INVALID", "its Avro schema is not of type record")
    _refuse_alike(record, output)
    parts, used, missing = [], set[str](), []
    for avro_field in record.fields:
        column = _column(columns, avro_field.name)
        if column is None:
            if not is_nullable(avro_field.type):
                missing.append(avro_field.name)
            continue
        used.add(column.name.lower())
        made = _Part(path=column.name, output=output).made(avro_field.type, _Given.of(column))
        parts.append(f"'{avro_field.name}', {made}")
    if missing:
        why = (
            f"{', '.join(missing)} of its Avro schema takes no null, and {output.source} gives no such column"
        )
        raise output.refusal("AVRO_COLUMN_MISSING", why)
    others = [column.name for name, column in columns.items() if name not in used | set(output.beside)]
    if others:
        why = (
            f"its Avro schema has no field {', '.join(others)}, which {output.source} gives. Leave it out in "
            "a step, or add it to the schema"
        )
        raise output.refusal("AVRO_EXTRA_COLUMN", why)
    if not parts:
        raise output.refusal("AVRO_COLUMN_MISSING", f"{output.source} gives no field of its Avro schema")
    header = f"X'00{value.id & 0xFFFFFFFF:08x}'"
    return f"concat({header}, to_avro(named_struct({', '.join(parts)}), '{spelled(record)}'))"


def _refuse_alike(record: Record, output: "Output") -> None:
    pair = same_but_for_case(record)
    if pair is not None:
        why = f"its schema has fields that differ in upper and lower case alone ({', '.join(pair)})"
        raise output.refusal("AVRO_COLUMN_TYPE", why)


def _column(columns: "Mapping[str, spark_types.StructField]", name: str) -> "spark_types.StructField | None":
    """The column of a field: names in Spark do not differ in upper and lower case alone."""
    return columns.get(name.lower())


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """An output as messages name it, and the step whose rows it writes. ``beside``: lower-case names of
    columns that are written elsewhere, and need not be fields.
    """

    name: str
    source: str
    beside: Collection[str] = field(default=())

    def refusal(self, error_class: str, why: str) -> Refusal:
        """``why`` goes on after the output's name, without a full stop."""
        return Refusal(error_class, f"The output {self.name!r} cannot write Avro: {why}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """A value of the query: its type, whether it may be null, and its expression."""

    kind: Any
    nullable: bool
    sql: str

    @classmethod
    def of(cls, column: "spark_types.StructField") -> "_Given":
        return cls(kind=column.dataType, nullable=column.nullable, sql=quote(column.name))

    @property
    def name(self) -> str:
        """The type, as Spark writes it."""
        return str(self.kind.simpleString())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A column, or a part of one, on its way into a field. ``path`` names it."""

    path: str
    output: Output
    depth: int = 0

    def made(self, schema: AvroType, given: _Given) -> str:
        """The expression that gives the field exactly what it takes. Raises ``Refusal``."""
        inner = self._without_null(schema)
        sql = self._value(inner, given)
        if is_nullable(schema) or not given.nullable:
            return sql
        return f"coalesce({sql}, raise_error({self._said('takes no null')}))"

    def _without_null(self, schema: AvroType) -> AvroType:
        if not isinstance(schema, Union):
            return schema
        if len(schema.members) == 2 and len(schema.others) == 1:
            return schema.others[0]
        raise self._misfit("is a union of several types, which Spark does not write")

    def _value(self, schema: AvroType, given: _Given) -> str:
        from pyspark.sql import types

        match schema, given.kind:
            case Record(), types.StructType():
                return self._struct(schema, given)
            case Array(items=items), types.ArrayType():
                return self._array(items, given)
            case Map(values=values), types.MapType():
                return self._map(values, given)
            case Decimal(), _:
                return self._decimal(schema, given)
            case Enum(symbols=symbols), types.StringType():
                listed = ", ".join(f"'{symbol}'" for symbol in symbols)
                return self._checked(given.sql, f"{given.sql} IN ({listed})", "does not have this symbol")
            case Fixed(size=size), types.BinaryType():
                return self._checked(
                    given.sql, f"octet_length({given.sql}) = {size}", f"takes {size} bytes alone"
                )
            case Primitive(), _:
                return self._primitive(schema, given)
            case _:
                raise self._other_type(schema, given)

    def _primitive(self, schema: Primitive, given: _Given) -> str:
        from pyspark.sql import types

        key, kind = (schema.name, schema.logical), given.name
        if schema.name == "string" and isinstance(given.kind, types.StringType):
            return given.sql
        if _EXACT.get(key) == kind:
            return given.sql
        if key in _WIDENED:
            exact, narrower = _WIDENED[key]
            if kind == exact:
                return given.sql
            if kind in narrower:
                return f"CAST({given.sql} AS {exact})"
        if _MILLIS.get(key) == kind:
            condition = f"EXTRACT(SECOND FROM {given.sql}) * 1000 % 1 = 0"
            why = "takes milliseconds, and the value has microseconds: write date_trunc('MILLISECOND', ...)"
            return self._checked(given.sql, condition, why)
        raise self._other_type(schema, given)

    def _decimal(self, schema: Decimal, given: _Given) -> str:
        from pyspark.sql import types

        whole = schema.precision - schema.scale
        if schema.stored is not None and 10**schema.precision > 2 ** (8 * schema.stored.size - 1):
            raise self._misfit(
                f"has {schema.precision} digits, and {schema.stored.size} bytes do not hold them"
            )
        target = f"decimal({schema.precision},{schema.scale})"
        if given.name == target:
            return given.sql
        if isinstance(given.kind, types.DecimalType):
            fits = given.kind.scale <= schema.scale and given.kind.precision - given.kind.scale <= whole
        else:
            fits = _DIGITS.get(given.name, whole + 1) <= whole
        if not fits:
            raise self._other_type(schema, given)
        return f"CAST({given.sql} AS {target})"

    def _struct(self, record: Record, given: _Given) -> str:
        _refuse_alike(record, self.output)
        members = {member.name: member for member in given.kind.fields}
        parts, plain = [], True
        for avro_field in record.fields:
            member = members.pop(avro_field.name, None)
            if member is None:
                if not is_nullable(avro_field.type):
                    raise self._misfit(f"takes no null in {avro_field.name}, which the value does not have")
                continue
            sql = f"{given.sql}.{quote(avro_field.name)}"
            part = _Part(path=f"{self.path}.{avro_field.name}", output=self.output, depth=self.depth)
            made = part.made(avro_field.type, _Given(kind=member.dataType, nullable=member.nullable, sql=sql))
            plain = plain and made == sql
            parts.append(f"'{avro_field.name}', {made}")
        if members:
            raise self._misfit(f"has no field {', '.join(members)}, which the value has")
        if plain:
            return given.sql
        return f"CASE WHEN {given.sql} IS NOT NULL THEN named_struct({', '.join(parts)}) END"

    def _array(self, items: AvroType, given: _Given) -> str:
        each = f"e{self.depth}"
        inner = _Given(kind=given.kind.elementType, nullable=given.kind.containsNull, sql=each)
        made = self._inside("element").made(items, inner)
        return given.sql if made == each else f"transform({given.sql}, {each} -> {made})"

    def _map(self, values: AvroType, given: _Given) -> str:
        from pyspark.sql import types

        if not isinstance(given.kind.keyType, types.StringType):
            raise self._misfit(f"has keys that are strings, and the value is {given.name}")
        each = f"e{self.depth}"
        inner = _Given(kind=given.kind.valueType, nullable=given.kind.valueContainsNull, sql=each)
        made = self._inside("value").made(values, inner)
        if made == each:
            return given.sql
        return f"transform_values({given.sql}, (k{self.depth}, {each}) -> {made})"

    def _inside(self, part: str) -> "_Part":
        return _Part(path=f"{self.path}.{part}", output=self.output, depth=self.depth + 1)

    def _checked(self, sql: str, condition: str, why: str) -> str:
        """A value for which a condition must hold."""
        return f"CASE WHEN {sql} IS NULL OR {condition} THEN {sql} ELSE raise_error({self._said(why)}) END"

    def _said(self, why: str) -> str:
        text = (
            f"The output {self.output.name!r} cannot write a record: the field {self.path} of its Avro "
            f"schema {why}."
        )
        return f"CAST(X'{text.encode().hex()}' AS STRING)"

    def _misfit(self, why: str) -> Refusal:
        return self.output.refusal("AVRO_COLUMN_TYPE", f"the field {self.path} of its schema {why}")

    def _other_type(self, schema: AvroType, given: _Given) -> Refusal:
        return self._misfit(
            f"is {' or '.join(_taken(schema))}, and {self.output.source} gives {given.name}. Cast it in a "
            "step"
        )


def _taken(schema: AvroType) -> Iterator[str]:
    """The types of Spark that a field takes, in words."""
    match schema:
        case Primitive(name=name, logical=logical):
            wide = _WIDENED.get((name, logical))
            taken = wide[0] if wide else _EXACT.get((name, logical)) or _MILLIS.get((name, logical))
            yield name if taken in (None, name) else f"{logical or name} ({taken})"
        case Decimal(precision=precision, scale=scale):
            yield f"decimal({precision},{scale})"
        case _:
            yield type(schema).__name__.lower()
