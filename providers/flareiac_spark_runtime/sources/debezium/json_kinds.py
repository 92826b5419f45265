"""Expressions of Spark's SQL that read one JSON value into a declared type, by the schema that comes with it,
or by what the settings of Debezium say. Pure.

A value is a variant, which knows whether it was a text or a number: base64 may look like a number. A schema
is a struct of ``schema_fields``, null where the message has none. An expression is null for JSON's null, and
for a value that does not fit.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import count
from typing import Final

from flareiac.kernel.column_types import ColumnType, DecimalOf, ListOf, MapOf, Plain, StructOf
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.sources.debezium.leaves import (
    binary_of,
    date_text,
    days,
    decimal_of_bytes,
    decimal_of_double,
    decimal_of_text,
    instant,
    local_text,
    local_time,
    small,
    uuid_text,
    zoned_text,
)
from flareiac_spark_runtime.sources.debezium.meanings import (
    CONNECT_DATA,
    DEBEZIUM_TIME,
    DECIMAL,
    MEANINGS,
    UNITS,
    VARIABLE_SCALE,
)
from flareiac_spark_runtime.sources.debezium.names import BINARIES, DECIMALS, OPTIONS, TIMES
from flareiac_spark_runtime.sources.decoding import literal

_INTEGERS: Final = ("int8", "int16", "int32", "int64")
_REALS: Final = ("float", "double")
_NOT_NUMBERS: Final = ("NaN", "Infinity", "-Infinity")


def schema_fields(kinds: Sequence[ColumnType]) -> str:
    """The fields, as DDL, that are read of the schemas of values of several declared types."""
    fields = ["type STRING, name STRING, parameters MAP<STRING, STRING>"]
    if elements := [kind.element for kind in kinds if isinstance(kind, ListOf)]:
        fields.append(f"items STRUCT<{schema_fields(elements)}>")
    if values := [kind.value for kind in kinds if isinstance(kind, MapOf)]:
        fields.append(f"`values` STRUCT<{schema_fields(values)}>")
    if members := [member.type for kind in kinds if isinstance(kind, StructOf) for member in kind.members]:
        fields.append(f"fields ARRAY<STRUCT<field STRING, {schema_fields(members)}>>")
    return ", ".join(fields)


def is_there(value: str) -> str:
    """The condition that a variant is neither missing nor JSON's null."""
    return f"({value} IS NOT NULL AND NOT is_variant_null({value}))"


def kind_of(schema: str) -> str:
    """The expression of the kind that a schema gives a value: its meaning where it has one, else its type."""
    meant = f"{schema}.name IN ({', '.join(map(literal, (*MEANINGS, DECIMAL, VARIABLE_SCALE)))})"
    unknown = f"startswith({schema}.name, '{DEBEZIUM_TIME}') OR startswith({schema}.name, '{CONNECT_DATA}')"
    return f"CASE WHEN {meant} OR {unknown} THEN {schema}.name ELSE {schema}.type END"


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonKinds:
    """``options`` are settings of Debezium by their own names."""

    options: Mapping[str, str]
    _names: Iterator[int] = field(default_factory=count)

    def value(self, kind: ColumnType, value: str, schema: str) -> str:
        """The expression of a value of a declared type."""
        match kind:
            case ListOf(element=element):
                return self._list(element, value, schema)
            case MapOf(value=of_values):
                return self._map(of_values, value, schema)
            case StructOf():
                return self._struct(kind, value, schema)
            case _:
                return self._single(kind, value, schema)

    def takes(self, kind: ColumnType) -> tuple[str, ...]:
        """The results of ``kind_of`` for values that a declared type takes."""
        match kind:
            case ListOf():
                return ("array",)
            case MapOf():
                return ("map",)
            case StructOf():
                return ("struct", VARIABLE_SCALE)
            case _:
                return tuple(self._known(kind, "v", "s"))

    def unclear(self, kind: ColumnType, value: str) -> tuple[str, str] | None:
        """A condition under which a value that comes without schema has no certain meaning, and what to set;
        None where its meaning is certain.
        """
        setting = deciding(kind, self.options)
        if setting is None:
            return None
        is_text, is_number = f"{_token(value)} = 'STRING'", f"{_token(value)} = 'BIGINT'"
        match kind:
            case DecimalOf():
                return f"{is_text} OR {_is_real(value)}", setting
            case Plain(name="binary"):
                return is_text, setting
            case Plain(name="timestamptz"):
                return is_number, setting
            case _:
                return f"{is_text} OR {is_number}", setting

    def _single(self, kind: ColumnType, value: str, schema: str) -> str:
        known = self._known(kind, value, schema)
        whens = " ".join(f"WHEN {literal(name)} THEN {expression}" for name, expression in known.items())
        with_schema = f"CASE {kind_of(schema)} {whens} END" if whens else "NULL"
        return f"CASE WHEN {schema} IS NOT NULL THEN {with_schema} ELSE {self._bare(kind, value)} END"

    def _known(self, kind: ColumnType, value: str, schema: str) -> dict[str, str]:
        """By what ``kind_of`` gives."""
        match kind:
            case DecimalOf():
                return self._decimals(kind, value, schema)
            case Plain(name=name):
                plain = _plain(name, self.options)
                meant = {
                    meaning: known.takes[name](_number(value) if known.held_as == "number" else _text(value))
                    for meaning, known in MEANINGS.items()
                    if name in known.takes
                }
                return {**{held: read(value) for held, read in plain.items()}, **meant}
            case _:
                return {}

    def _decimals(self, kind: DecimalOf, value: str, schema: str) -> dict[str, str]:
        size = (kind.precision, kind.scale)
        of_scale = f"try_cast({schema}.parameters['scale'] AS INT)"
        expressions = {
            DECIMAL: decimal_of_bytes(_base64(value), of_scale, *size),
            VARIABLE_SCALE: _variable(value, *size),
            "string": decimal_of_text(_text(value), *size),
            **dict.fromkeys(_INTEGERS, decimal_of_text(f"CAST({_number(value)} AS STRING)", *size)),
        }
        if self.options.get(DECIMALS) == "double":
            expressions |= dict.fromkeys(_REALS, decimal_of_double(_real(value), *size))
        return expressions

    def _bare(self, kind: ColumnType, value: str) -> str:
        """A value without schema."""
        match kind:
            case DecimalOf():
                return self._bare_decimal(kind, value)
            case Plain(name="timestamptz"):
                unit = UNITS.get(self.options.get(TIMES, ""))
                of_number = [] if unit is None else [instant(_number(value), unit)]
                return f"coalesce({', '.join([*of_number, zoned_text(_text(value))])})"
            case Plain(name="timestamp_ntz"):
                return self._bare_local(value)
            case Plain(name="date"):
                return f"coalesce({days(_number(value))}, {date_text(_text(value))})"
            case Plain(name="binary"):
                mode = self.options.get(BINARIES)
                return "CAST(NULL AS BINARY)" if mode is None else binary_of(_text(value), mode)
            case Plain(name=name):
                return _BARE[name](value) if name in _BARE else "NULL"
            case _:
                return "NULL"

    def _bare_decimal(self, kind: DecimalOf, value: str) -> str:
        size = (kind.precision, kind.scale)
        expressions = [decimal_of_text(f"CAST({_number(value)} AS STRING)", *size), _variable(value, *size)]
        match self.options.get(DECIMALS):
            case "precise":
                expressions.append(decimal_of_bytes(_base64(value), str(kind.scale), *size))
            case "string":
                expressions.append(decimal_of_text(_text(value), *size))
            case "double":
                expressions.append(decimal_of_double(_real(value), *size))
            case _:
                pass
        return f"coalesce({', '.join(expressions)})"

    def _bare_local(self, value: str) -> str:
        mode = self.options.get(TIMES, "")
        if mode == "isostring":
            return local_text(_text(value))
        if mode in UNITS:
            return local_time(_number(value), UNITS[mode])
        return "CAST(NULL AS TIMESTAMP_NTZ)"

    def _list(self, element: ColumnType, value: str, schema: str) -> str:
        each, all_ = self._name("e"), self._name("l")
        inner = self.value(element, each, f"{schema}.items")
        pairs = f"transform({_elements(value)}, {each} -> named_struct('p', {is_there(each)}, 'v', {inner}))"
        return (
            f"transform(array({pairs}), {all_} -> CASE WHEN forall({all_}, {each} -> NOT {each}.p OR "
            f"{each}.v IS NOT NULL) THEN transform({all_}, {each} -> {each}.v) END)[0]"
        )

    def _map(self, of_values: ColumnType, value: str, schema: str) -> str:
        key, each, all_ = self._name("k"), self._name("e"), self._name("m")
        inner = self.value(of_values, each, f"{schema}.`values`")
        pairs = (
            f"transform_values({_fields(value)}, ({key}, {each}) -> named_struct('p', {is_there(each)}, 'v', "
            f"{inner}))"
        )
        return (
            f"transform(array({pairs}), {all_} -> CASE WHEN forall(map_values({all_}), {each} -> NOT "
            f"{each}.p OR {each}.v IS NOT NULL) THEN "
            f"transform_values({all_}, ({key}, {each}) -> {each}.v) END)[0]"
        )

    def _struct(self, kind: StructOf, value: str, schema: str) -> str:
        whole, all_ = self._name("s"), self._name("r")
        parts, whole_ones, fields = [], [], []
        for index, member in enumerate(kind.members):
            of_member = f"{whole}[{literal(member.name)}]"
            of_schema = f"get(filter({schema}.fields, f -> f.field = {literal(member.name)}), 0)"
            inner = self.value(member.type, of_member, of_schema)
            parts.append(f"'p{index}', {is_there(of_member)}, 'v{index}', {inner}")
            whole_ones.append(f"(NOT {all_}.p{index} OR {all_}.v{index} IS NOT NULL)")
            fields.append(f"{literal(member.name)}, {all_}.v{index}")
        made = f"transform(array({_fields(value)}), {whole} -> named_struct({', '.join(parts)}))"
        return (
            f"CASE WHEN {_fields(value)} IS NOT NULL THEN transform({made}, {all_} -> CASE WHEN "
            f"{' AND '.join(whole_ones)} THEN named_struct({', '.join(fields)}) END)[0] END"
        )

    def _name(self, letter: str) -> str:
        """A name for a lambda's variable; ones of lambdas around it are others."""
        return f"{letter}{next(self._names)}"


def deciding(kind: ColumnType, options: Mapping[str, str]) -> str | None:
    """The setting that has to say what a value without schema means; None where it does, or none has to."""
    match kind:
        case DecimalOf() if DECIMALS not in options:
            return DECIMALS
        case Plain(name="timestamptz") if options.get(TIMES) not in UNITS:
            return TIMES
        case Plain(name="timestamp_ntz") if options.get(TIMES) not in (*UNITS, "isostring"):
            return TIMES
        case Plain(name="binary") if BINARIES not in options:
            return BINARIES
        case _:
            return None


def spoken_values(setting: str) -> str:
    """The values of a setting that give a value without schema a certain meaning."""
    known = (*UNITS, "isostring") if setting == TIMES else OPTIONS[setting]
    return f"{', '.join(known[:-1])} or {known[-1]}"


def _plain(name: str, options: Mapping[str, str]) -> dict[str, Callable[[str], str]]:
    """By the type of the schema: values that have no meaning of their own."""
    match name:
        case "boolean":
            return {"boolean": _BARE[name]}
        case "int":
            return dict.fromkeys(_INTEGERS[:3], _BARE[name])
        case "long":
            return dict.fromkeys(_INTEGERS, _BARE[name])
        case "float":
            return {"float": _BARE[name]}
        case "double":
            return dict.fromkeys((*_REALS, *_INTEGERS[:3]), _BARE[name])
        case "string" | "uuid":
            return {"string": _BARE[name]}
        case "binary":
            mode = options.get(BINARIES, "bytes")
            of_text = {} if mode == "bytes" else {"string": lambda value: binary_of(_text(value), mode)}
            return {"bytes": _base64, **of_text}
        case _ if name.startswith("fixed("):
            return {"bytes": lambda value: _sized(_base64(value), name)}
        case _:
            return {}


def _sized(content: str, name: str) -> str:
    size = int(name.removeprefix("fixed(").removesuffix(")"))
    return f"CASE WHEN length({content}) = {size} THEN {content} END"


def _token(value: str) -> str:
    return f"schema_of_variant({value})"


def _text(value: str) -> str:
    return f"CASE WHEN {_token(value)} = 'STRING' THEN try_variant_get({value}, '$', 'string') END"


def _number(value: str) -> str:
    return f"CASE WHEN {_token(value)} = 'BIGINT' THEN try_variant_get({value}, '$', 'bigint') END"


def _is_real(value: str) -> str:
    return f"({_token(value)} = 'DOUBLE' OR startswith({_token(value)}, 'DECIMAL'))"


def _real(value: str) -> str:
    text = f"CASE WHEN {_text(value)} IN ({', '.join(map(literal, _NOT_NUMBERS))}) THEN {_text(value)} END"
    number = f"CASE WHEN {_token(value)} = 'BIGINT' OR {_is_real(value)} THEN {value} END"
    return f"coalesce(try_variant_get({number}, '$', 'double'), CAST({text} AS DOUBLE))"


def _base64(value: str) -> str:
    return f"try_to_binary({_text(value)}, 'base64')"


def _variable(value: str, precision: int, scale: int) -> str:
    """A decimal that says its own scale: an object of both."""
    held = f"try_to_binary(try_variant_get({value}, '$.value', 'string'), 'base64')"
    return decimal_of_bytes(held, f"try_variant_get({value}, '$.scale', 'int')", precision, scale)


def _elements(value: str) -> str:
    return f"try_variant_get({value}, '$', 'array<variant>')"


def _fields(value: str) -> str:
    return f"try_variant_get({value}, '$', 'map<string,variant>')"


_BARE: Final[Mapping[str, Callable[[str], str]]] = {
    "boolean": lambda v: f"CASE WHEN {_token(v)} = 'BOOLEAN' THEN try_variant_get({v}, '$', 'boolean') END",
    "int": lambda v: small(_number(v)),
    "long": _number,
    "float": lambda v: f"CAST({_real(v)} AS FLOAT)",
    "double": _real,
    "string": _text,
    "uuid": lambda v: uuid_text(_text(v)),
}
