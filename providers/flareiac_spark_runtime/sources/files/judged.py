"""Reads files by the newest rules: every column that is declared, and whether each record fits whole.

A frame has the columns, ``GOOD``, and what is said of a bad record: ``MARKER`` where it is kept, or
``COMPLAINT`` where it ends the job.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.sources.bad_records import GOOD
from flareiac_spark_runtime.sources.decoding import (
    ERROR,
    NO_FIT,
    ONCE,
    STAYS,
    Text,
    complaint,
    decode_text,
    is_corrupt,
    literal,
    marker,
    missing_value,
    missing_values,
    quote,
    raw_of_files,
    with_corrupt,
)
from flareiac_spark_runtime.sources.file_values import FILE, valid_texts
from flareiac_spark_runtime.sources.files.nested_keys import lacks, other_case
from flareiac_spark_runtime.sources.files.reading import RECORDS, reads_lines
from flareiac_spark_runtime.sources.resolved import Opening, SpecColumn

LINE: Final = "__flareiac_line"
_VALUE: Final = "__flareiac_value"
RAW: Final = "__flareiac_raw"
_KEYS: Final = "__flareiac_keys"
_MARK: Final = "\ufeff"
_REPLACED: Final = "\ufffd"
_NO_VALUE: Final = "__HIVE_DEFAULT_PARTITION__"
_IN_FOLDERS: Final = re.compile(r"\w+", re.ASCII)
_NESTED: Final = ("struct", "list", "map", "binary", "fixed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """``columns`` of files, decoded as ``text`` says."""

    columns: tuple[SpecColumn, ...]
    text: Text

    @property
    def held(self) -> tuple[SpecColumn, ...]:
        """The columns as a file holds them: one that is missing may be in the name of its folder."""
        return tuple(
            replace(column, required=False) if _is_in_folders(column) else column for column in self.columns
        )

    @property
    def by_line(self) -> bool:
        """True where lines of text are decoded."""
        return reads_lines(self.text.format, self.text.options)

    @property
    def format(self) -> str:
        """The format of Spark's reader."""
        return "text" if self.by_line else self.text.format

    @property
    def schema(self) -> Any:
        """The columns that Spark's reader gives."""
        if self.by_line:
            return f"{LINE} STRING"
        columns = self.text.schema(self.columns)
        return with_corrupt(columns) if self.text.format in RECORDS else columns


def judged(frame: Any, files: Files, opening: Opening) -> Any:
    """The frame of Spark's reader with the declared columns."""
    names = [quote(column.name) for column in files.columns]
    filled = [_filled(column, opening) for column in files.columns]
    if files.text.format not in RECORDS:
        is_text = files.text.format == "text"
        read = valid_texts(frame, files.columns, is_text=is_text)
        return read.selectExpr(*(names if is_text else filled))
    read = _lines(frame, files) if files.by_line else _records(frame, files)
    kept = [name for name in (FILE, RAW) if name in read.columns]
    once = [ONCE] if ONCE in read.columns else []
    read = read.selectExpr(*filled, *kept, *once, GOOD, ERROR)
    missing = [
        (f"{quote(column.name)} IS NULL", missing_value(column.name))
        for column in files.columns
        if column.required
    ]
    good = " AND ".join([GOOD, *once, *(f"NOT ({condition})" for condition, _ in missing)])
    whens = " ".join(f"WHEN {condition} THEN {literal(said)}" for condition, said in missing)
    error = f"CASE WHEN NOT {GOOD} THEN {ERROR} {whens} END AS {ERROR}"
    judged_rows = read.selectExpr(*names, *kept, f"{good} AS {GOOD}", error)
    return judged_rows.selectExpr(*names, GOOD, *_said(judged_rows, opening))


def _said(frame: Any, opening: Opening) -> tuple[str, ...]:
    if opening.explains:
        return (marker({"raw": RAW if RAW in frame.columns else "NULL", "error": ERROR, "file": FILE}),)
    return () if opening.bad_records else (complaint(f"concat('file ', {FILE})"),)


def _lines(frame: Any, files: Files) -> Any:
    """Lines of JSON. Blank ones are none; the first one may begin with a byte order mark."""
    value = f"trim(LEADING '{_MARK}' FROM {LINE})"
    lines = frame.selectExpr(f"{value} AS {_VALUE}", f"_metadata.file_path AS {FILE}")
    lines = lines.where(f"trim(BOTH ' \\t\\r' FROM {_VALUE}) <> ''").selectExpr("*", f"{_VALUE} AS {RAW}")
    decoded = decode_text(lines, _VALUE, files.held, files.text)
    required = frame.sparkSession.createDataFrame([], files.text.schema(files.columns)).schema
    wrong = f"{_key_error(files.columns, required)} AS {_KEYS}"
    names = [quote(column.name) for column in files.columns]
    beside = (FILE, ONCE, RAW)
    judged_lines = decoded.selectExpr(*names, *beside, GOOD, ERROR, wrong)
    good, error = f"{GOOD} AND {_KEYS} IS NULL AS {GOOD}", f"coalesce({_KEYS}, {ERROR}) AS {ERROR}"
    return judged_lines.selectExpr(*names, *beside, good, error)


def _key_error(columns: Sequence[SpecColumn], types: Any) -> str:
    """The error in the keys of a record that leaves a column or a field null; null where there is none. Keys
    are only looked at then. ``types``: the columns as Spark has them.
    """
    names = [column.name for column in columns]
    keys, known = f"json_object_keys({RAW})", f"array({', '.join(map(literal, names))})"
    missing = f"concat('it has none of the fields that are declared', ': it has ', array_join({keys}, ', '))"
    differ = other_case(RAW, types) or ""
    cased = f"concat('fields differ from the columns in letter case: ', array_join({differ}, ', '))"
    null = [f"{quote(name)} IS NULL" for name in names]
    nested = [lacks(quote(field.name), field.dataType) for field in types]
    wide = [_is_too_large(column) for column in columns if column.type in ("double", "float")]
    lacking = " OR ".join([*null, *(condition for condition in nested if condition is not None)])
    large = "".join(
        f"WHEN {GOOD} AND {condition} THEN {literal(f'the field {name} is too large for its type')} "
        for condition, name in wide
    )
    return (
        f"CASE {large}WHEN {GOOD} AND ({lacking}) THEN CASE "
        f"WHEN size({differ}) > 0 THEN {cased} "
        f"WHEN {' AND '.join(null)} AND NOT arrays_overlap({keys}, {known}) THEN {missing} END END"
    )


def _is_too_large(column: SpecColumn) -> tuple[str, str]:
    """The condition of a number that became infinite, though the record does not say so; and its name."""
    name = quote(column.name)
    return f"(isnotnull({name}) AND abs({name}) = double('inf') AND NOT {RAW} ILIKE '%inf%')", column.name


def _records(frame: Any, files: Files) -> Any:
    """Records that Spark's reader of their format has decoded. It decodes the columns that are asked for: to
    judge a record by all of them, each is named in a condition that is never looked at.
    """
    names = [quote(column.name) for column in files.columns]
    required = frame.sparkSession.createDataFrame([], files.text.schema(files.columns)).schema
    read = frame.selectExpr("*", f"_metadata.file_path AS {FILE}", f"{STAYS} AS {ONCE}")
    doubts = list(_doubts(files))
    if files.text.explained:
        whens = " ".join(f"WHEN {condition} THEN {literal(said)}" for condition, said in doubts)
        doubt = f"CASE {whens} END" if doubts else "CAST(NULL AS STRING)"
        error = f"coalesce({files.text.decoder(files.held).file_error(required)}, {doubt})"
        raw = f"{raw_of_files(names)} AS {RAW}"
        records = read.selectExpr(*names, FILE, ONCE, raw, f"{error} AS {ERROR}")
        return records.selectExpr("*", f"{ERROR} IS NULL AS {GOOD}")
    every = f"NOT {ONCE} AND hash({', '.join(names)}) = 0"
    bad = [is_corrupt(), every, *(each for each, _ in missing_values(files.held, required))]
    bad += [condition for condition, _ in doubts]
    good = f"NOT coalesce({' OR '.join(f'({each})' for each in bad)}, false)"
    return read.selectExpr(*names, FILE, ONCE, f"{good} AS {GOOD}", f"{literal(NO_FIT)} AS {ERROR}")


def _doubts(files: Files) -> Iterator[tuple[str, str]]:
    """Conditions that find an error in a record that Spark takes for good, each with the error in words."""
    columns = files.columns
    texts = [column for column in columns if column.type == "string"]
    for column in texts:
        yield (
            f"contains({quote(column.name)}, '{_REPLACED}')",
            f"the field {column.name} has bytes that are not text in the encoding of the file",
        )
    if files.text.format == "json":
        nulls = " AND ".join(f"{quote(column.name)} IS NULL" for column in columns)
        yield nulls, "none of the fields that are declared has a value"
        return
    if len(texts) == len(columns):
        equal = (f"lower(trim({quote(column.name)})) = {literal(column.name.lower())}" for column in columns)
        yield " AND ".join(equal), "it is a header line"
    if columns and columns[-1].type == "string":
        last = quote(columns[-1].name)
        yield f"endswith({last}, '\\n')", "a quoted field does not end"
        yield (
            f"endswith({last}, '\\r')",
            "its line ends otherwise than the first one of the file; the option lineSep says how lines end",
        )


def _filled(column: SpecColumn, opening: Opening) -> str:
    """A column; of the name of a folder where the file does not hold it: ``dt=2026-01-02/a.json``."""
    name = quote(column.name)
    if not _is_in_folders(column):
        return name
    part = f"regexp_extract({FILE}, {literal(f'/{column.name}=([^/]*)/')}, 1)"
    # Folders escape what a path cannot hold, and the URI of the file escapes that once more
    once = f"url_decode(replace({part}, '+', '%2B'))"
    value = f"nullif(url_decode(replace({once}, '+', '%2B')), '{_NO_VALUE}')"
    kind = str(opening.schema((column,))).removeprefix(name)
    held = f"{name} IS NULL AND contains({FILE}, {literal(f'/{column.name}=')})"
    return f"CASE WHEN {held} THEN CAST({value} AS {kind}) ELSE {name} END AS {name}"


def _is_in_folders(column: SpecColumn) -> bool:
    """Returns True where names of folders may hold a column."""
    return not column.type.startswith(_NESTED) and _IN_FOLDERS.fullmatch(column.name) is not None
