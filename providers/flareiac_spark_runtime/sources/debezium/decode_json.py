"""Reads envelopes of JSON, with or without the schema that Kafka Connect puts around them, into columns.

``try_parse_json`` is null for a text that is no JSON, and for an object with a name twice; it stops after the
first document. So the text stands in a list, in front of a member of our own.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from flareiac.kernel.column_types import ColumnType, render, type_of
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.sources.debezium.envelope import (
    UNCHANGED,
    Cases,
    Envelope,
    fields_of,
    of_row,
    text_of,
)
from flareiac_spark_runtime.sources.debezium.json_kinds import JsonKinds, is_there, kind_of, schema_fields
from flareiac_spark_runtime.sources.debezium.names import DELETE, MESSAGE, SCHEMAS, placeholder
from flareiac_spark_runtime.sources.debezium.unchanged import base64_of, is_unchanged
from flareiac_spark_runtime.sources.decoding import ERROR, ONCE, STAYS, literal, missing_values, quote
from flareiac_spark_runtime.sources.resolved import SpecColumn

Ddl: TypeAlias = Callable[[tuple[SpecColumn, ...]], str]
"""Columns as Spark's DDL."""
_END: Final = "__flareiac_end"
_TEXT: Final = "__flareiac_text"
_DOCUMENT: Final = "__flareiac_document"
_WHOLE: Final = "__flareiac_message"
_PAYLOAD: Final = "__flareiac_payload"
_SCHEMA: Final = "__flareiac_schema"
_OP: Final = "__flareiac_op"
_ROW: Final = "__flareiac_row"
_HELD: Final = "__flareiac_held"
_DECODED: Final = "__flareiac_decoded"
_FIELDS: Final = "map<string,variant>"


def decode_json(
    frame: Any, value: str, columns: tuple[SpecColumn, ...], options: Mapping[str, str], ddl: Ddl
) -> Any:
    """The frame with ``columns``, decoded from its column ``value`` of bytes, ``ONCE`` and ``ERROR``: why
    the record is bad, null where it is good. Those of ``CHANGE`` always are among the columns. Values that
    are null, and messages that are no changes, are left out.
    """
    row = of_row(columns)
    reading = _Reading(columns=row, options=options)
    required = frame.sparkSession.createDataFrame([], ddl(row)).schema if row else None
    missing = tuple(missing_values(row, required, f"{_DECODED}.")) if row else ()
    kept = [quote(name) for name in frame.columns]
    rows = frame.where(f"{quote(value)} IS NOT NULL")
    for step in reading.steps(f"CAST({quote(value)} AS STRING)", ddl):
        rows = rows.selectExpr(*kept, *step)
        if any(part.endswith(f" AS {_OP}") for part in step):
            rows = rows.where(f"{ONCE} AND ({_OP} IS NULL OR {_OP} <> {literal(MESSAGE)})")
    error = text_of((*reading.errors, *reading.envelope.missing(missing)))
    fields = *fields_of(_DECODED, row), *reading.envelope.change
    return rows.selectExpr(*kept, *fields, f"{error} AS {ERROR}", ONCE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    columns: tuple[SpecColumn, ...]
    options: Mapping[str, str]

    @property
    def envelope(self) -> Envelope:
        return Envelope(
            op=_OP,
            connector=_of_source("connector"),
            before=self._is_row("before"),
            after=self._is_row("after"),
            time=f"try_variant_get({_PAYLOAD}['source'], '$.ts_ms', 'bigint')",
            source=_of_source,
        )

    def steps(self, text: str, ddl: Ddl) -> Iterator[tuple[str, ...]]:
        """Projections one after the other, so that what the next one uses twice is computed once."""
        yield (f"{text} AS {_TEXT}",)
        around = f"concat('{{\"v\":[', {_TEXT}, '\\n],\"{_END}\":1}}')"
        yield _TEXT, f"CASE WHEN is_valid_utf8({_TEXT}) THEN try_parse_json({around}) END AS {_DOCUMENT}"
        is_one = (
            f"try_variant_get({_DOCUMENT}, '$.{_END}', 'int') = 1 AND "
            f"try_variant_get({_DOCUMENT}, '$.v[1]', 'variant') IS NULL"
        )
        whole = f"try_variant_get({_DOCUMENT}, '$.v[0]', '{_FIELDS}')"
        yield _TEXT, f"CASE WHEN {is_one} THEN {whole} END AS {_WHOLE}"
        schema = f"try_variant_get({_WHOLE}['schema'], '$.fields', '{self._schema_ddl}')"
        payload = f"try_variant_get({_WHOLE}['payload'], '$', '{_FIELDS}')"
        yield (
            _TEXT,
            _WHOLE,
            f"CASE WHEN {_IS_WRAPPED} THEN {payload} ELSE {_WHOLE} END AS {_PAYLOAD}",
            f"CASE WHEN {_IS_WRAPPED} THEN {schema} END AS {_SCHEMA}",
        )
        kept = (_TEXT, _WHOLE, _PAYLOAD, _SCHEMA)
        yield *kept, f"{STAYS} AS {ONCE}", f"try_variant_get({_PAYLOAD}['op'], '$', 'string') AS {_OP}"
        which = f"CASE WHEN {_OP} = '{DELETE}' THEN 'before' ELSE 'after' END"
        yield (
            *(_TEXT, _WHOLE, _PAYLOAD, _OP),
            f"try_variant_get({_PAYLOAD}[{which}], '$', '{_FIELDS}') AS {_ROW}",
            f"get(filter({_SCHEMA}, f -> f.field = {which}), 0).fields AS {_SCHEMA}",
        )
        kept = (_TEXT, _WHOLE, _PAYLOAD, _OP)
        yield *kept, f"{self._held} AS {_HELD}"
        yield *kept, _HELD, f"{self._decoded(ddl)} AS {_DECODED}", f"{STAYS} AS {ONCE}"

    @property
    def errors(self) -> Cases:
        """Everything that makes a record bad but values that are missing."""
        return (
            (f"NOT is_valid_utf8({_TEXT})", literal("the value is not UTF-8 text")),
            (f"trim({_TEXT}) = ''", literal("the value is empty")),
            (f"{_WHOLE} IS NULL", literal("the value is not one JSON object")),
            *self._without_schema,
            *self.envelope.errors,
            *(case for index, column in enumerate(self.columns) for case in self._misfits(index, column)),
        )

    @property
    def _without_schema(self) -> Cases:
        if self.options.get(SCHEMAS) != "true":
            return ()
        text = f"the value has no schema, which the option {SCHEMAS} says it has"
        return ((f"NOT {_IS_WRAPPED}", literal(text)),)

    @property
    def _schema_ddl(self) -> str:
        kinds = [type_of(column.type) for column in self.columns]
        row = f"ARRAY<STRUCT<field STRING, {schema_fields(kinds)}>>"
        return f"ARRAY<STRUCT<field STRING, fields {row}>>"

    @property
    def _held(self) -> str:
        parts = ["'none', 0"]
        for index, column in enumerate(self.columns):
            name = literal(column.name)
            parts.append(f"'v{index}', {_ROW}[{name}]")
            parts.append(f"'s{index}', get(filter({_SCHEMA}, f -> f.field = {name}), 0)")
        return f"named_struct({', '.join(parts)})"

    def _decoded(self, ddl: Ddl) -> str:
        kinds = JsonKinds(options=self.options)
        parts = ["'none', 0"]
        for index, column in enumerate(self.columns):
            decoded_value = kinds.value(_kind(column), *_places(index))
            parts.append(f"'v{index}', {decoded_value}")
        plain = ", ".join(filter(None, ("none INT", _nullable(ddl, self.columns))))
        return f"CAST(named_struct({', '.join(parts)}) AS STRUCT<{plain}>)"

    def _misfits(self, index: int, column: SpecColumn) -> Iterator[tuple[str, str]]:
        kind, (value, schema) = _kind(column), _places(index)
        decoded, kinds = f"{_DECODED}.{quote(column.name)}", JsonKinds(options=self.options)
        sign = placeholder(self.options)
        unchanged = literal(UNCHANGED.format(name=column.name))
        raw = f"coalesce(try_variant_get({value}, '$', 'string'), '')"
        yield f"{raw} IN ({literal(sign)}, {literal(base64_of(sign))})", unchanged
        yield is_unchanged(kind, decoded, sign), unchanged
        lost = f"{is_there(value)} AND {decoded} IS NULL"
        takes = ", ".join(map(literal, kinds.takes(kind)))
        before = literal(f"the field {column.name} is ")
        after = literal(f", which the declared type {column.type} does not take")
        yield (
            f"{lost} AND {schema} IS NOT NULL AND {kind_of(schema)} NOT IN ({takes})",
            f"concat({before}, {kind_of(schema)}, {after})",
        )
        if (unclear := kinds.unclear(kind, value)) is not None:
            condition, setting = unclear
            text = (
                f"the field {column.name} comes without a schema, so that its meaning is not certain: write "
                f"{setting} in options as the connector has it"
            )
            yield f"{lost} AND {schema} IS NULL AND ({condition})", literal(text)
        yield lost, literal(f"the field {column.name} does not fit the type {column.type}")

    def _is_row(self, name: str) -> str:
        return f"try_variant_get({_PAYLOAD}['{name}'], '$', '{_FIELDS}') IS NOT NULL"


_IS_WRAPPED: Final = f"(map_contains_key({_WHOLE}, 'schema') AND map_contains_key({_WHOLE}, 'payload'))"


def _of_source(name: str) -> str:
    return f"try_variant_get({_PAYLOAD}['source'], '$.{name}', 'string')"


def _places(index: int) -> tuple[str, str]:
    return f"{_HELD}.v{index}", f"{_HELD}.s{index}"


def _kind(column: SpecColumn) -> ColumnType:
    return type_of(column.type)


def _nullable(ddl: Ddl, columns: Sequence[SpecColumn]) -> str:
    """The columns without what is required inside of them: that is judged by value."""
    return ddl(
        tuple(SpecColumn(name=column.name, type=render(_kind(column), nullable=True)) for column in columns)
    )
