"""Reads Avro values of a frame into columns.

With a registry each value begins with a zero byte and the id of its writer's schema in four bytes. Spark
misreads such values without an error, and knows one schema for a column: here each id has a branch of its
own, and a record with an id that is not known fails the query, which learns the id and starts again.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from flareiac.kernel.column_types import render, type_of
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.sources.avro.differences import blocks, differences
from flareiac_spark_runtime.sources.avro.known import NotedSchemas, new_id_text
from flareiac_spark_runtime.sources.avro.reading import MARK, reading
from flareiac_spark_runtime.sources.avro.texts import clause
from flareiac_spark_runtime.sources.avro.types import AvroType, Record, parse
from flareiac_spark_runtime.sources.decoding import ERROR, ONCE, STAYS, missing_values, quote
from flareiac_spark_runtime.sources.resolved import SpecColumn

HEADER_BYTES: Final = 5
_DECODED: Final = "__flareiac_avro"
_NOT_FRAMED: Final = (
    "the value does not begin with the header of a schema registry, a zero byte and the id of a schema in "
    "four bytes"
)
Ddl: TypeAlias = Callable[[tuple[SpecColumn, ...]], str]
"""Columns as Spark's DDL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plain:
    """Values without a header, all of one schema."""

    schema: AvroType


@dataclass(frozen=True, slots=True, kw_only=True)
class Framed:
    """Values with a header. ``url`` names the registry in messages."""

    url: str
    noted: NotedSchemas


Writers: TypeAlias = Plain | Framed


@dataclass(frozen=True, slots=True, kw_only=True)
class Branches:
    """The way in which values are read. ``struct``: the type that all branches give, with the field ``MARK``;
    ``misfit``: the reason that values of a schema cannot be read, None where they can; ``branch``: the
    expression that reads the values of a schema from the expression of their bytes.
    """

    struct: str
    misfit: Callable[[AvroType], str | None]
    branch: Callable[[Record, str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Expressions: ``decoded`` is of the branches' type; ``errors`` are conditions, each with why a value
    cannot be read; ``unread`` says so of bytes for which ``MARK`` is null.
    """

    decoded: str
    errors: Sequence[tuple[str, str]]
    unread: str


def decode_avro(frame: Any, value: str, writers: Writers, columns: tuple[SpecColumn, ...], ddl: Ddl) -> Any:
    """The frame with ``columns``, decoded from its column ``value`` of bytes, ``ONCE`` and ``ERROR``: why
    the record is bad, null where it is good. A null value gives nulls and is good.
    """
    plain = tuple(
        SpecColumn(name=column.name, type=render(type_of(column.type), nullable=True)) for column in columns
    )
    struct = f"STRUCT<{', '.join(filter(None, (f'`{MARK}` INT', ddl(plain))))}>"
    required = frame.sparkSession.createDataFrame([], ddl(columns)).schema if columns else None
    missing = tuple(missing_values(columns, required, f"{_DECODED}.")) if columns else ()
    sql = _Sql(value=quote(value), struct=struct, columns=columns, missing=missing)
    writer_sql = written(writers, sql.value, Branches(struct=struct, misfit=sql.misfit, branch=sql.branch))
    fields = [f"{_DECODED}.{quote(column.name)} AS {quote(column.name)}" for column in columns]
    kept = [quote(name) for name in frame.columns]
    read = frame.selectExpr(*kept, f"{writer_sql.decoded} AS {_DECODED}", f"{STAYS} AS {ONCE}")
    return read.selectExpr(*kept, *fields, f"{sql.error(writer_sql)} AS {ERROR}", ONCE)


def written(writers: Writers, value: str, branches: Branches) -> Written:
    """The expressions that read values of these writers. ``value``: the expression of the bytes."""
    match writers:
        case Plain(schema=schema):
            return _plain(schema, value, branches)
        case Framed():
            return _framed(writers, value, branches)


def _plain(schema: AvroType, value: str, branches: Branches) -> Written:
    unread = _literal("the bytes are not a value of the schema")
    why = branches.misfit(schema)
    if why is not None or not isinstance(schema, Record):
        errors = [(f"{value} IS NOT NULL", _literal(why or ""))]
        return Written(decoded=f"CAST(NULL AS {branches.struct})", errors=errors, unread=unread)
    decoded = _case([(f"{value} IS NOT NULL", branches.branch(schema, value))])
    return Written(decoded=decoded, errors=(), unread=unread)


def _framed(writers: Framed, value: str, branches: Branches) -> Written:
    null, number = f"CAST(NULL AS {branches.struct})", f"conv(hex(substring({value}, 2, 4)), 16, 10)"
    bare = f"length({value}) < {HEADER_BYTES} OR substring({value}, 1, 1) <> X'00'"
    payload = f"substring({value}, {HEADER_BYTES + 1})"
    cases = [(f"{value} IS NULL OR {bare}", null)]
    errors = [(bare, _literal(_NOT_FRAMED))]
    for known, text in sorted(writers.noted.schemas.items(), key=lambda id_and_text: -int(id_and_text[0])):
        schema = parse(text)
        why = branches.misfit(schema)
        if why is None and isinstance(schema, Record):
            cases.append((_has(value, known), branches.branch(schema, payload)))
        else:
            cases.append((_has(value, known), null))
            errors.append((_has(value, known), _literal(f"the record has the schema {known}: {why}")))
    for known, why in sorted(writers.noted.missing.items()):
        cases.append((_has(value, known), null))
        errors.append((_has(value, known), _literal(f"the record has the schema {known}: {why}")))
    before, after = new_id_text(writers.url)
    text = f"concat({_literal(before)}, {number}, {_literal(after)})"
    unknown = f"CAST(raise_error({text}) AS {branches.struct})"
    unread = f"concat({_literal('the bytes are not a value of the schema ')}, {number})"
    return Written(decoded=_case(cases, otherwise=unknown), errors=errors, unread=unread)


def _has(value: str, number: str) -> str:
    return f"substring({value}, 2, 4) = X'{int(number) & 0xFFFFFFFF:08x}'"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sql:
    value: str
    struct: str
    columns: tuple[SpecColumn, ...]
    missing: tuple[tuple[str, str], ...]

    def branch(self, schema: Record, payload: str) -> str:
        return f"CAST({reading(schema, payload, self.columns)} AS {self.struct})"

    def misfit(self, schema: AvroType) -> str | None:
        """The reasons that no record of this schema fits the columns, None where one may."""
        blocking = [difference for difference in differences(schema, self.columns) if blocks(difference)]
        return "; ".join(map(clause, blocking[:3])) if blocking else None

    def error(self, writer_sql: Written) -> str:
        cases = [(f"{self.value} IS NULL", "CAST(NULL AS STRING)"), *writer_sql.errors]
        cases.append((f"{_DECODED}.`{MARK}` IS NULL", writer_sql.unread))
        texts = [f"{_DECODED}.{quote(column.name)}" for column in self.columns if column.type == "string"]
        if texts:
            invalid = " OR ".join(f"NOT is_valid_utf8({text})" for text in texts)
            cases.append((invalid, _literal("a text is not UTF-8")))
        cases += [
            (condition, _literal(f"there is no value for {name}, which is not null"))
            for condition, name in self.missing
        ]
        return _case(cases)


def _case(cases: Sequence[tuple[str, str]], *, otherwise: str | None = None) -> str:
    branches = " ".join(f"WHEN {condition} THEN {result}" for condition, result in cases)
    return f"CASE {branches}{'' if otherwise is None else f' ELSE {otherwise}'} END"


def _literal(text: str) -> str:
    """A text, whatever a setting of Spark makes of signs in quotes."""
    return f"CAST(X'{text.encode().hex()}' AS STRING)"
