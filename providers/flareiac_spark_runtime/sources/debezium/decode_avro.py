"""Reads envelopes of Avro into columns: as ``avro.decode`` reads plain records, with a branch for each schema
of a writer.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from flareiac.kernel.column_types import render, type_of
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.sources.avro.columns import read_as
from flareiac_spark_runtime.sources.avro.decode import Branches, Writers, written
from flareiac_spark_runtime.sources.avro.differences import blocks, differences
from flareiac_spark_runtime.sources.avro.reading import MARK
from flareiac_spark_runtime.sources.avro.spelling import reader_of, spelled
from flareiac_spark_runtime.sources.avro.texts import clause
from flareiac_spark_runtime.sources.avro.types import AvroType, Primitive, Record
from flareiac_spark_runtime.sources.debezium.avro_kinds import AvroKinds
from flareiac_spark_runtime.sources.debezium.avro_rows import (
    NOT_ENVELOPES,
    bare,
    effective,
    row_of,
    unreadable,
)
from flareiac_spark_runtime.sources.debezium.envelope import UNCHANGED, Cases, Envelope, of_row, text_of
from flareiac_spark_runtime.sources.debezium.names import DELETE, MESSAGE, placeholder
from flareiac_spark_runtime.sources.debezium.positions import FIELDS
from flareiac_spark_runtime.sources.debezium.unchanged import is_unchanged
from flareiac_spark_runtime.sources.decoding import ERROR, ONCE, STAYS, literal, missing_values, quote
from flareiac_spark_runtime.sources.resolved import SpecColumn

Ddl: TypeAlias = Callable[[tuple[SpecColumn, ...]], str]
"""Columns as Spark's DDL."""
_DECODED: Final = "__flareiac_avro"
_TIME: Final = "ts_ms"
_PARTS: Final = ("before", "after", "source", "op")


def decode_envelopes(
    frame: Any, value: str, writers: Writers, columns: tuple[SpecColumn, ...], decoding: "Decoding"
) -> Any:
    """The frame with ``columns``, decoded from its column ``value`` of bytes, ``ONCE`` and ``ERROR``: why
    the record is bad, null where it is good. Those of ``CHANGE`` always are among the columns. Values that
    are null, and messages that are no changes, are left out.
    """
    row = of_row(columns)
    sql = _Sql(columns=row, options=decoding.options, ddl=decoding.ddl)
    required = frame.sparkSession.createDataFrame([], decoding.ddl(row)).schema if row else None
    missing = tuple(missing_values(row, required, f"{_DECODED}.row.")) if row else ()
    writer_sql = written(writers, quote(value), sql.branches)
    kept = [quote(name) for name in frame.columns]
    read = frame.where(f"{quote(value)} IS NOT NULL").selectExpr(
        *kept, f"{writer_sql.decoded} AS {_DECODED}", f"{STAYS} AS {ONCE}"
    )
    is_change = f"{_DECODED} IS NULL OR {_DECODED}.op IS NULL OR {_DECODED}.op <> {literal(MESSAGE)}"
    read = read.where(f"{ONCE} AND ({is_change})")
    unread = (f"{_DECODED}.`{MARK}` IS NULL", writer_sql.unread)
    error = text_of((*writer_sql.errors, unread, *sql.errors, *sql.envelope.missing(missing)))
    fields = [f"{_DECODED}.row.{quote(column.name)} AS {quote(column.name)}" for column in row]
    return read.selectExpr(*kept, *fields, *sql.envelope.change, f"{error} AS {ERROR}", ONCE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """``options`` are settings of Debezium by their own names."""

    options: Mapping[str, str]
    ddl: Ddl


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sql:
    columns: tuple[SpecColumn, ...]
    options: Mapping[str, str]
    ddl: Ddl

    @property
    def branches(self) -> Branches:
        return Branches(struct=self._struct, misfit=self._misfit, branch=self._branch)

    @property
    def envelope(self) -> Envelope:
        return Envelope(
            op=f"{_DECODED}.op",
            connector=_of_source("connector"),
            before=f"{_DECODED}.before",
            after=f"{_DECODED}.after",
            time=f"try_cast({_of_source(_TIME)} AS BIGINT)",
            source=_of_source,
        )

    @property
    def errors(self) -> Cases:
        """The conditions that make a change bad although it could be read as its schema says, with their
        texts.
        """
        return (
            *self.envelope.errors,
            *(case for index, column in enumerate(self.columns) for case in self._misfits(index, column)),
        )

    @property
    def _struct(self) -> str:
        plain = tuple(
            SpecColumn(name=column.name, type=render(type_of(column.type), nullable=True))
            for column in self.columns
        )
        there = ", ".join(f"p{index} BOOLEAN" for index in range(len(self.columns)))
        row = ", ".join(filter(None, ("none INT", self.ddl(plain))))
        return (
            f"STRUCT<`{MARK}` INT, op STRING, before BOOLEAN, after BOOLEAN, source MAP<STRING, STRING>, "
            f"there STRUCT<{', '.join(filter(None, ('none INT', there)))}>, row STRUCT<{row}>>"
        )

    def _misfit(self, schema: AvroType) -> str | None:
        """The reasons that no change of this schema fits the columns, None where one may."""
        row = row_of(schema)
        if row is None:
            return NOT_ENVELOPES[0].lower() + NOT_ENVELOPES[1:]
        whys = list(unreadable(row, self.columns, self.options))
        all_differences = differences(effective(row, self.columns, self.options), self.columns)
        whys += [clause(difference) for difference in all_differences if blocks(difference)]
        return "; ".join(whys[:3]) or None

    def _branch(self, schema: Record, payload: str) -> str:
        row, plain = row_of(schema), bare(schema)
        assert row is not None, "judged before"
        assert isinstance(plain, Record), "a record stays one"
        options = f"map('mode', 'PERMISSIVE', 'avroSchema', '{reader_of(plain, _PARTS, MARK)}')"
        value = f"from_avro({payload}, '{spelled(schema)}', {options})"
        there, parts = ["'none', 0"], ["'none', 0"]
        kinds = AvroKinds(options=self.options)
        for index, column in enumerate(self.columns):
            field = row.field(column.name)
            raw = f"r.{quote(column.name)}"
            is_null = field is None or read_as(field.type) == Primitive(name="null")
            there.append(f"'p{index}', {'false' if is_null else f'{raw} IS NOT NULL'}")
            made = kinds.value(field.type, type_of(column.type), raw) if field is not None else "NULL"
            parts.append(f"'v{index}', {made}")
        of_row = f"CASE WHEN v.op = '{DELETE}' THEN v.before ELSE v.after END"
        made_of, all_ = ", ".join(there), ", ".join(parts)
        both = f"named_struct('there', named_struct({made_of}), 'row', named_struct({all_}))"
        # A lambda evaluates the value once for all its fields.
        inner = f"transform(array({of_row}), r -> {both})[0]"
        return (
            f"transform(transform(array({value}), v -> named_struct('v', v, 'i', {inner})), x -> CAST("
            f"named_struct('{MARK}', x.v.`{MARK}`, 'op', x.v.op, 'before', x.v.before IS NOT NULL, 'after', "
            f"x.v.after IS NOT NULL, 'source', {_source_map(schema)}, 'there', x.i.there, 'row', x.i.row) AS "
            f"{self._struct}))[0]"
        )

    def _misfits(self, index: int, column: SpecColumn) -> Iterator[tuple[str, str]]:
        kind, value = type_of(column.type), f"{_DECODED}.row.{quote(column.name)}"
        unchanged = is_unchanged(kind, value, placeholder(self.options))
        yield unchanged, literal(UNCHANGED.format(name=column.name))
        lost = f"{_DECODED}.there.p{index} AND {value} IS NULL"
        yield lost, literal(f"the field {column.name} does not fit the type {column.type}")
        if column.type == "string":
            yield f"NOT is_valid_utf8({value})", literal("a text is not UTF-8")


def _source_map(schema: Record) -> str:
    field = schema.field("source")
    source = read_as(field.type) if field is not None else None
    known: Sequence[str] = ()
    if isinstance(source, Record):
        known = [name for name in FIELDS if _is_plain(source, name)]
    entries = [f"{literal(name)}, CAST(x.v.source.{quote(name)} AS STRING)" for name in known]
    return f"map({', '.join(entries)})"


def _is_plain(record: Record, name: str) -> bool:
    field = record.field(name)
    return field is not None and isinstance(read_as(field.type), Primitive)


def _of_source(name: str) -> str:
    return f"{_DECODED}.source[{literal(name)}]"
