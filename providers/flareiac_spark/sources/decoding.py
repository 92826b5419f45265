"""Decodes the values of records that are JSON or CSV text, and judges each by all of its columns. Travels
with the driver.

Spark's own functions are permissive: ``from_json`` gives null for a field that does not fit, reads the first
of two documents and drops the rest, and gives nulls for a field that is missing. Here a record that decodes
only partly is bad, and the column ``ERROR`` says why. A null value is a tombstone and never bad.

JSON is parsed once, as the first of two elements of an array around the text: what stands after a value would
be a further element, or breaks the array. Its names and its last element hold a random text, so that no
record can close the array and go on as if it were ours.

Options are always given to the functions: without them Spark's optimizer prunes the schema of ``from_json``
to the columns that a query reads, and the other columns would not be judged.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any, Final, Literal

from flareiac.sdk.secrets import resolve_all
from flareiac_spark.sources.bad_records import MARKED, MARKER
from flareiac_spark.sources.resolved import SpecColumn

ERROR: Final = "__flareiac_error"
"""The column with the error of a record, null where the record is good."""
OWN_OPTIONS: Final = ("mode", "columnNameOfCorruptRecord")
"""Options of Spark's reader that decide what becomes of bad records, and so are not the user's."""
_NO_FIT: Final = "the value does not fit the columns"
_VALUE: Final = "__flareiac_text"
_DECODED: Final = "__flareiac_decoded"
_CORRUPT: Final = "__flareiac_corrupt"
_NESTING: Final = "maxNestingDepth"
_DEEPEST: Final = 1000
"""How deep Spark reads JSON without that option."""
_AROUND: Final = 2
"""Levels of nesting around a text."""


def decode_text(
    frame: Any,
    value: str,
    format: Literal["json", "csv"],  # noqa: A002 - the word of the attribute
    columns: tuple[SpecColumn, ...],
    options: Mapping[str, str],
    schema: Callable[[tuple[SpecColumn, ...]], Any],
) -> Any:
    """The frame with ``columns``, decoded from its column ``value`` (text or binary), and with ``ERROR``.

    ``options`` are those of Spark's reader, ``schema`` gives columns as a DDL text.
    """
    decoder = _Decoder(format=format, columns=columns, options=permissive(options), schema=schema)
    required = frame.sparkSession.createDataFrame([], schema(columns)).schema
    text = f"CAST({quote(value)} AS STRING)"
    kept = [quote(name) for name in frame.columns]
    decoded = frame.selectExpr(*kept, f"{text} AS {_VALUE}").selectExpr(
        *kept, _VALUE, f"{decoder.whole(_VALUE)} AS {_DECODED}"
    )
    fields = [f"{decoder.record}.{quote(column.name)} AS {quote(column.name)}" for column in columns]
    return decoded.selectExpr(*kept, *fields, f"{decoder.error(required)} AS {ERROR}")


def permissive(options: Mapping[str, str]) -> dict[str, str]:
    """The options with which Spark's reader marks bad records and goes on."""
    own = {name.lower() for name in OWN_OPTIONS}
    given = {name: text for name, text in resolve_all(options).items() if name.lower() not in own}
    return {**given, "mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT}


def with_corrupt(ddl: str) -> str:
    """Columns as a schema with the column in which the reader puts records that do not fit."""
    return f"{ddl}, {_CORRUPT} STRING"


def marked_files(
    frame: Any,
    format: str,  # noqa: A002 - the word of the attribute
    columns: tuple[SpecColumn, ...],
    options: Mapping[str, str],
    schema: Callable[[tuple[SpecColumn, ...]], Any],
) -> Any:
    """A frame of files that were read with ``permissive`` and ``with_corrupt``, with ``MARKER``.

    A record whose only fault is that a required value is missing has no text of its own: its columns stand
    for it.
    """
    decoder = _Decoder(format=format, columns=columns, options=permissive(options), schema=schema)
    required = frame.sparkSession.createDataFrame([], schema(columns)).schema
    names = [quote(column.name) for column in columns]
    raw = f"coalesce({_CORRUPT}, to_json(struct({', '.join(names)})))"
    error = decoder.file_error(required)
    found = frame.selectExpr(*names, _CORRUPT, "_metadata", f"{error} AS {ERROR}")
    known = {"raw": raw, "error": ERROR, "file": "_metadata.file_path"}
    return found.selectExpr(*names, marker(known))


def marker(known: Mapping[str, str]) -> str:
    """The column ``MARKER``, of expressions for what is known of a record whose ``ERROR`` is not null."""
    fields = ", ".join(
        f"{literal(name)}, CAST({known.get(name, 'NULL')} AS {kind})" for name, kind in MARKED.items()
    )
    return f"CASE WHEN {ERROR} IS NOT NULL THEN named_struct({fields}) END AS {MARKER}"


def quote(name: str) -> str:
    """A name as one part of an identifier in Spark's SQL."""
    return "`" + name.replace("`", "``") + "`"


def literal(text: str) -> str:
    """A text in Spark's SQL."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def missing_values(columns: tuple[SpecColumn, ...], schema: Any, of: str = "") -> Iterator[tuple[str, str]]:
    """A condition for each required value that a row may miss, and its name. ``schema``: the columns as
    Spark's struct type, ``of``: the expression of the struct that holds them.
    """
    for column, found in zip(columns, schema.fields, strict=True):
        place = f"{of}{quote(column.name)}"
        if column.required:
            yield f"{place} IS NULL", column.name
        for condition in _missing_within(place, found.dataType):
            yield condition, f"a part of {column.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Decoder:
    """Makes the expressions of one format. What explains an error is computed for bad records alone."""

    format: str
    columns: tuple[SpecColumn, ...]
    options: Mapping[str, str]
    schema: Callable[[tuple[SpecColumn, ...]], Any]
    unguessed: str = field(default_factory=lambda: token_hex(8))
    """What no record can hold: of names around it."""

    def whole(self, text: str) -> str:
        """The struct that holds all columns, and what says whether they are whole."""
        columns = self.schema(self.columns)
        if self.format != "json":
            return self._from(text, with_corrupt(columns))
        around = f"concat('{{\"{self._array}\":[', {text}, '\n,{{\"{self._end}\":1}}]}}')"
        element = f"STRUCT<{columns}{', ' * bool(columns)}{self._end} INT>"
        return self._from(around, with_corrupt(f"{self._array} ARRAY<{element}>"), self._deeper)

    @property
    def record(self) -> str:
        """The struct of all columns."""
        return f"get({_DECODED}.{self._array}, 0)" if self.format == "json" else _DECODED

    def error(self, required: Any) -> str:
        """The error of a record that is decoded, null where it is good."""
        missing = list(missing_values(self.columns, required, f"{self.record}."))
        good = [
            f"{self.record} IS NOT NULL AND {_DECODED}.{_CORRUPT} IS NULL",
            f"is_valid_utf8({_VALUE})",
            *([self._is_one_document] if self.format == "json" else [f"trim({_VALUE}) <> ''"]),
            *(f"NOT ({condition})" for condition, _ in missing),
        ]
        explained = [
            (f"trim({_VALUE}) = ''", "the value is empty"),
            (f"NOT is_valid_utf8({_VALUE})", "the value is not UTF-8 text"),
            *(self._json_errors(_VALUE) if self.format == "json" else self._csv_errors(_VALUE)),
            (self._is_corrupt(_VALUE, with_corrupt(self.schema(self.columns))), _NO_FIT),
            *self._more_text(),
            *((condition, _missing(name)) for condition, name in missing),
        ]
        whens = " ".join(f"WHEN {condition} THEN {literal(text)}" for condition, text in explained)
        return (
            f"CASE WHEN {_VALUE} IS NULL OR ({' AND '.join(good)}) THEN CAST(NULL AS STRING) {whens} "
            f"ELSE {literal(_NO_FIT)} END"
        )

    def file_error(self, required: Any) -> str:
        """The error of a record that Spark's reader of files has decoded, null where it is good."""
        explained = [
            *(self._json_errors(_CORRUPT) if self.format == "json" else self._csv_errors(_CORRUPT)),
            ("true", "the record does not fit the columns"),
        ]
        whens = " ".join(f"WHEN {condition} THEN {literal(text)}" for condition, text in explained)
        missing = " ".join(
            f"WHEN {condition} THEN {literal(_missing(name))}"
            for condition, name in missing_values(self.columns, required)
        )
        return f"CASE WHEN {_CORRUPT} IS NOT NULL THEN CASE {whens} END {missing} END"

    def _more_text(self) -> Iterator[tuple[str, str]]:
        if self.format == "json":
            is_whole = f"{_DECODED}.{_CORRUPT} IS NULL AND {self._is_one_document}"
            yield f"NOT coalesce({is_whole}, false)", "there is more text after the JSON object"

    @property
    def _is_one_document(self) -> str:
        """Whether the text is one JSON value and nothing else: ``from_json`` stops after the first one."""
        elements = f"{_DECODED}.{self._array}"
        return f"size({elements}) = 2 AND get({elements}, 1).{self._end} = 1"

    @property
    def _array(self) -> str:
        return f"a{self.unguessed}"

    @property
    def _end(self) -> str:
        return f"e{self.unguessed}"

    def _json_errors(self, text: str) -> Iterator[tuple[str, str]]:
        yield self._is_corrupt(text, f"{_CORRUPT} STRING"), "the value is not a JSON object"
        for column in self.columns:
            yield self._is_corrupt(text, f"{self._typed(column)}, {_CORRUPT} STRING"), _misfit(column)

    def _csv_errors(self, text: str) -> Iterator[tuple[str, str]]:
        texts = {column.name: f"{quote(column.name)} STRING" for column in self.columns}
        number = f"the value does not have {len(texts)} field{'s' * (len(texts) != 1)}"
        yield self._is_corrupt(text, ", ".join((*texts.values(), f"{_CORRUPT} STRING"))), number
        for column in self.columns:
            one_typed = {**texts, column.name: self._typed(column)}
            yield (
                self._is_corrupt(text, ", ".join((*one_typed.values(), f"{_CORRUPT} STRING"))),
                _misfit(column),
            )

    def _typed(self, column: SpecColumn) -> str:
        return str(self.schema((column,)))

    def _is_corrupt(self, text: str, ddl: str) -> str:
        return f"{self._from(text, ddl)}.{_CORRUPT} IS NOT NULL"

    def _from(self, text: str, ddl: str, options: Mapping[str, str] | None = None) -> str:
        chosen = self.options if options is None else options
        given = ", ".join(f"{literal(name)}, {literal(value)}" for name, value in chosen.items())
        return f"from_{self.format}({text}, {literal(ddl)}, map({given}))"

    @property
    def _deeper(self) -> dict[str, str]:
        """The options for a text with ours around it."""
        name = next((name for name in self.options if name.lower() == _NESTING.lower()), _NESTING)
        deepest = self.options.get(name, str(_DEEPEST))
        return {**self.options, name: str(int(deepest) + _AROUND) if deepest.isdecimal() else deepest}


def _misfit(column: SpecColumn) -> str:
    return f"the field {column.name} does not fit the type {column.type}"


def _missing(name: str) -> str:
    return f"there is no value for {name}, which is not null"


def _missing_within(place: str, kind: Any) -> Iterator[str]:
    """Conditions under which a required part of a value is missing."""
    match kind.typeName():
        case "struct":
            for field in kind.fields:
                part = f"{place}.{quote(field.name)}"
                if not field.nullable:
                    yield f"({place} IS NOT NULL AND {part} IS NULL)"
                yield from _missing_within(part, field.dataType)
        case "array":
            yield from _missing_in_items(place, kind.elementType)
        case "map":
            yield from _missing_in_items(f"map_values({place})", kind.valueType)
        case _:
            pass


def _missing_in_items(items: str, kind: Any) -> Iterator[str]:
    found = list(_missing_within("x", kind))
    if found:
        yield f"coalesce(exists({items}, x -> {' OR '.join(found)}), false)"
