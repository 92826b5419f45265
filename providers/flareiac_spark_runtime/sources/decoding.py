"""Decodes the values of records that are JSON or CSV text, and judges each by all of its columns.

Spark's own functions are permissive: ``from_json`` gives null for a field that does not fit, reads the first
of two documents and drops the rest, and gives nulls for a field that is missing. Here a record that decodes
only partly is bad, and the column ``ERROR`` says why. A null value is a tombstone and never bad.

JSON is parsed once, with a member of our own in the place of the last brace: ``{"a": 1}`` is read as
``{"a": 1,"NAME":true}``. That member belongs to the object exactly where the last brace ends it, so that text
after the object is seen. Its name is random: no record can hold it.

Spark compiles no projection that parses JSON or CSV. So what is computed of a value as a whole stands in a
projection before it, and what need not be known of a good record is not carried through (both measured).

Options are always given to the functions: without them Spark's optimizer prunes the schema of ``from_json``
to the columns that a query reads, and the other columns would not be judged.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from secrets import token_hex
from typing import Any, Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.secrets import resolve_all
from flareiac_spark_runtime.sources.bad_records import COMPLAINT, GOOD, MARKED, MARKER
from flareiac_spark_runtime.sources.resolved import SpecColumn

ERROR: Final = "__flareiac_error"
"""The column with the error of a record, null where the record is good."""
OWN_OPTIONS: Final = ("mode", "columnNameOfCorruptRecord")
"""Options of Spark's reader that decide what becomes of bad records, and so are not the user's."""
STAYS: Final = "spark_partition_id() >= 0"
"""True of every row. Spark moves no filter past a projection with it; one that it moves has what it reads
computed once more.
"""
ONCE: Final = "__flareiac_once"
"""The column of a projection that holds ``STAYS``: a filter that reads it does not pass the projection."""
NO_FIT: Final = "the value does not fit the columns"
"""The error of a record of which no more is known."""
_DECODED: Final = "__flareiac_decoded"
_TEXT: Final = "__flareiac_text"
"""The column of the text that is parsed."""
_IS_TEXT: Final = "__flareiac_is_text"
"""The column that is true if the value is text in UTF-8; null where there is no value."""
_CORRUPT: Final = "__flareiac_corrupt"
_BLANK: Final = " \t\n\r"
"""The characters that may stand around JSON."""
_BRACE: Final = "X'7D'"
_OPEN: Final = "X'7B'"
_BLANKS: Final = "X'20', X'09', X'0A', X'0D'"
_COMMENTS: Final = "allowComments"
_NESTING: Final = "maxNestingDepth"
_DEEPEST: Final = 1000
"""The depth to which Spark reads JSON without that option."""
_FRAMED: Final = (
    "the value begins with a zero byte, as producers with a schema registry write the id of a schema before "
    'the JSON, and not with a JSON object; format = "raw" and, in a step, from_json(string(substring(value, '
    "6)), ...) read what follows the five bytes"
)
"""The complaint about a value that begins with the header of a schema registry."""
_AROUND: Final = 2
"""Levels of nesting around a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """The way in which text is read: ``options`` are those of Spark's reader, ``schema`` gives columns as a
    DDL text. ``explained``: true if each bad record comes with its reason. The expression for it parses a
    record again for each column, and planning it takes as long as the rest of a simple query (measured).
    """

    format: str
    options: Mapping[str, str]
    schema: Callable[[tuple[SpecColumn, ...]], Any]
    explained: bool

    def decoder(self, columns: tuple[SpecColumn, ...], value: str = "") -> "_Decoder":
        """The decoder of the column ``value``, where there is one."""
        return _Decoder(
            format=self.format,
            columns=columns,
            options=permissive(self.options),
            schema=self.schema,
            value=quote(value),
        )


def decode_text(frame: Any, value: str, columns: tuple[SpecColumn, ...], text: Text) -> Any:
    """The frame with ``columns``, decoded from its column ``value`` (text or binary), ``GOOD``, ``ERROR``
    and ``ONCE``. Where records are not explained, ``ERROR`` is ``NO_FIT`` of each, also of one that is good,
    and ``value`` may be left out.
    """
    decoder = text.decoder(columns, value)
    required = frame.sparkSession.createDataFrame([], text.schema(columns)).schema
    carried = [quote(name) for name in frame.columns if name != value or text.explained or decoder.rereads]
    # Spark joins no projections of which one reads what is not deterministic in the other
    read = frame.selectExpr(*carried, *decoder.prepared, f"{STAYS} AS {ONCE}")
    decoded = read.selectExpr(
        *carried, _IS_TEXT, f"{decoder.whole} AS {_DECODED}", f"{ONCE} AND {STAYS} AS {ONCE}"
    )
    fields = [f"{_DECODED}.{quote(column.name)} AS {quote(column.name)}" for column in columns]
    error = decoder.error(required) if text.explained else literal(NO_FIT)
    judged = f"{decoder.good(required)} AS {GOOD}", f"{error} AS {ERROR}", ONCE
    return decoded.selectExpr(*carried, *fields, *judged)


def permissive(options: Mapping[str, str]) -> dict[str, str]:
    """The options with which Spark's reader marks bad records and goes on."""
    own = {name.lower() for name in OWN_OPTIONS}
    given = {name: text for name, text in resolve_all(options).items() if name.lower() not in own}
    return {**given, "mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT}


def is_corrupt() -> str:
    """The condition of a record that Spark's reader of files could not fit."""
    return f"{_CORRUPT} IS NOT NULL"


def raw_of_files(names: Sequence[str]) -> str:
    """The text of a bad record of ``marked_files``. One whose only fault is that a required value is missing
    has no text of its own: its columns, given as identifiers, stand for it.
    """
    return f"coalesce({_CORRUPT}, to_json(struct({', '.join(names)})))"


def with_corrupt(ddl: str) -> str:
    """Columns as a schema with the column in which the reader puts records that do not fit."""
    return f"{ddl}, {_CORRUPT} STRING"


def marked_files(frame: Any, columns: tuple[SpecColumn, ...], text: Text) -> Any:
    """A frame of files that were read with ``permissive`` and ``with_corrupt``, with ``GOOD``, and with
    ``MARKER`` where bad records are explained.
    """
    decoder = text.decoder(columns)
    required = frame.sparkSession.createDataFrame([], text.schema(columns)).schema
    names = [quote(column.name) for column in columns]
    if not text.explained:
        is_bad = (is_corrupt(), *(condition for condition, _ in missing_values(columns, required)))
        return frame.selectExpr(*names, f"NOT ({' OR '.join(is_bad)}) AS {GOOD}")
    raw = raw_of_files(names)
    error = decoder.file_error(required)
    rows = frame.selectExpr(*names, _CORRUPT, "_metadata", f"{error} AS {ERROR}")
    known = {"raw": raw, "error": ERROR, "file": "_metadata.file_path"}
    return rows.selectExpr(*names, f"{ERROR} IS NULL AS {GOOD}", marker(known))


def marker(known: Mapping[str, str]) -> str:
    """The column ``MARKER``, of expressions for what is known of a record whose ``ERROR`` is not null."""
    fields = ", ".join(
        f"{literal(name)}, CAST({known.get(name, 'NULL')} AS {kind})" for name, kind in MARKED.items()
    )
    return f"CASE WHEN {ERROR} IS NOT NULL THEN named_struct({fields}) END AS {MARKER}"


def complaint(place: str) -> str:
    """The column ``COMPLAINT`` of records with ``ERROR``; ``place`` is the expression of where each is.

    Every column is read once by the next one: so Spark makes one projection of all of them, which it plans
    for each batch in half of the time (measured).
    """
    return f"concat({ERROR}, '; in ', {place}) AS {COMPLAINT}"


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
    for column, struct_field in zip(columns, schema.fields, strict=True):
        place = f"{of}{quote(column.name)}"
        if column.required:
            yield f"{place} IS NULL", column.name
        for condition in _missing_within(place, struct_field.dataType):
            yield condition, f"a part of {column.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Decoder:
    """Makes the expressions of one format. What explains an error is computed for bad records alone."""

    format: str
    columns: tuple[SpecColumn, ...]
    options: Mapping[str, str]
    schema: Callable[[tuple[SpecColumn, ...]], Any]
    value: str = ""
    """The column with the text, or its bytes."""
    unguessed: str = field(default_factory=lambda: token_hex(8))
    """A part of our own names that no record can hold."""

    @property
    def text(self) -> str:
        """The value as text."""
        return f"CAST({self.value} AS STRING)"

    @property
    def prepared(self) -> tuple[str, str]:
        """The expressions that are computed before a value is parsed."""
        parsed = self._ended if self.format == "json" else self.text
        is_text = f"CASE WHEN {self.value} IS NOT NULL THEN is_valid_utf8({self.text}) END"
        return f"{parsed} AS {_TEXT}", f"{is_text} AS {_IS_TEXT}"

    @property
    def rereads(self) -> bool:
        """True if a record is judged by its value once more."""
        return self.format != "json" or self._allows_comments

    @property
    def whole(self) -> str:
        """The struct that holds all columns, and what says whether they are whole."""
        members = self._members if self.format == "json" else self.schema(self.columns)
        return self._from(_TEXT, with_corrupt(members))

    def good(self, required: Any) -> str:
        """The condition that a decoded record is good."""
        good = [
            self._is_one_object if self.format == "json" else self._is_one_line,
            _IS_TEXT,
            *(f"NOT ({condition})" for condition, _ in self._missing(required)),
        ]
        return f"({_IS_TEXT} IS NULL OR coalesce({' AND '.join(good)}, false))"

    def error(self, required: Any) -> str:
        """The error of a record that is decoded, null where it is good."""
        is_json = self.format == "json"
        explained = [
            (f"trim({self.text}) = ''", "the value is empty"),
            (f"NOT {_IS_TEXT}", "the value is not UTF-8 text"),
            *(self._json_errors(self.text) if is_json else self._csv_errors(self.text)),
            (self._is_corrupt(self.text, with_corrupt(self.schema(self.columns))), NO_FIT),
            *self._more_text(),
            *((condition, missing_value(name)) for condition, name in self._missing(required)),
        ]
        whens = " ".join(f"WHEN {condition} THEN {literal(text)}" for condition, text in explained)
        good = f"WHEN {self.good(required)} THEN CAST(NULL AS STRING)"
        return f"CASE {good} {whens} ELSE {literal(NO_FIT)} END"

    def _missing(self, required: Any) -> tuple[tuple[str, str], ...]:
        return tuple(missing_values(self.columns, required, f"{_DECODED}."))

    def file_error(self, required: Any) -> str:
        """The error of a record that Spark's reader of files has decoded, null where it is good."""
        explained = [
            *(self._json_errors(_CORRUPT) if self.format == "json" else self._csv_errors(_CORRUPT)),
            ("true", "the record does not fit the columns"),
        ]
        whens = " ".join(f"WHEN {condition} THEN {literal(text)}" for condition, text in explained)
        missing = " ".join(
            f"WHEN {condition} THEN {literal(missing_value(name))}"
            for condition, name in missing_values(self.columns, required)
        )
        return f"CASE WHEN {_CORRUPT} IS NOT NULL THEN CASE {whens} END {missing} END"

    def _more_text(self) -> Iterator[tuple[str, str]]:
        if self.format == "json":
            yield f"NOT coalesce({self._is_one_object}, false)", "there is more text after the JSON object"

    @property
    def _is_one_line(self) -> str:
        """The condition that the text is CSV that fits."""
        is_there = f"{_DECODED} IS NOT NULL AND {_DECODED}.{_CORRUPT} IS NULL"
        return f"{is_there} AND trim({self.text}) <> ''"

    @property
    def _ended(self) -> str:
        """The text with a member of our own in the place of its last brace. A text that does not end with a
        brace is left as it is. Bytes are cut, because Spark counts the letters of a text to cut it. An object
        without members has no place for one after a comma; what stands before its brace shows most others.
        """
        member, content = f'"{self._end}":true}}', f"CAST({self.value} AS BINARY)"
        last, before = f"substring({content}, -1, 1)", f"substring({content}, -2, 1)"
        trimmed = f"trim(TRAILING {literal(_BLANK)} FROM {self.text})"
        has_brace = f"{last} = {_BRACE} OR {last} IN ({_BLANKS}) AND endswith({trimmed}, '}}')"
        may_be_empty = f"({before} IN ({_OPEN}, {_BLANKS}) OR {last} <> {_BRACE})"
        is_empty = f"{may_be_empty} AND translate({self.text}, {literal(_BLANK)}, '') = '{{}}'"
        length = f"octet_length(CASE WHEN {last} = {_BRACE} THEN {self.text} ELSE {trimmed} END)"
        cut = f"substring({content}, 1, {length} - 1)"
        longer = f"CAST(concat({cut}, CAST({literal(f',{member}')} AS BINARY)) AS STRING)"
        return (
            f"CASE WHEN NOT ({has_brace}) THEN {self.text} "
            f"WHEN {is_empty} THEN {literal(f'{{{member}')} ELSE {longer} END"
        )

    @property
    def _is_one_object(self) -> str:
        """The condition that the text is one JSON object that fits, and nothing else: ``from_json`` stops
        after the first one.
        """
        fits = f"{_DECODED}.{_CORRUPT} IS NULL AND {_DECODED}.{self._end}"
        commented = f" OR {self._is_one_element}" if self._allows_comments else ""
        return f"({fits}{commented})"

    @property
    def _allows_comments(self) -> bool:
        return any(
            name.lower() == _COMMENTS.lower() and text.lower() == "true"
            for name, text in self.options.items()
        )

    @property
    def _is_one_element(self) -> str:
        """The condition that the text, which may end with a comment, is the first of two elements of an array
        around it, and fits.
        """
        around = f"concat('{{\"{self._array}\":[', {self.text}, '\n,{{\"{self._end}\":true}}]}}')"
        ddl = with_corrupt(f"{self._array} ARRAY<STRUCT<{self._members}>>")
        parsed = self._from(around, ddl, self._deeper)
        elements = f"{parsed}.{self._array}"
        is_first = f"size({elements}) = 2 AND get({elements}, 0) IS NOT NULL"
        return f"{parsed}.{_CORRUPT} IS NULL AND {is_first} AND get({elements}, 1).{self._end}"

    @property
    def _members(self) -> str:
        """The columns, and what marks the end."""
        return ", ".join(filter(None, (self.schema(self.columns), f"{self._end} BOOLEAN")))

    @property
    def _array(self) -> str:
        return f"a{self.unguessed}"

    @property
    def _end(self) -> str:
        return f"e{self.unguessed}"

    def _json_errors(self, text: str) -> Iterator[tuple[str, str]]:
        corrupt = self._is_corrupt(text, f"{_CORRUPT} STRING")
        yield f"startswith({text}, char(0)) AND {corrupt}", _FRAMED
        yield corrupt, "the value is not a JSON object"
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


def missing_value(name: str) -> str:
    """The error of a record without a value of a required column."""
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
            yield from _missing_in_elements(place, kind.elementType)
        case "map":
            yield from _missing_in_elements(f"map_values({place})", kind.valueType)
        case _:
            pass


def _missing_in_elements(elements: str, kind: Any) -> Iterator[str]:
    conditions = list(_missing_within("x", kind))
    if conditions:
        yield f"coalesce(exists({elements}, x -> {' OR '.join(conditions)}), false)"
