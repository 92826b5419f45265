"""Reads values of files as the file says. Spark compares the physical type of a Parquet column alone where a
whole number is declared: it reads unsigned numbers as negative ones, and decimals without their point.

A reader that is asked for the type that the file has gives the right values, which a checked cast makes the
declared ones.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from flareiac_spark_runtime.sources.bad_records import NOT_UTF8, NUMBER_NOT_HELD
from flareiac_spark_runtime.sources.decoding import literal, quote
from flareiac_spark_runtime.sources.resolved import SpecColumn, StartProblem, StartRefused

FILE: Final = "__flareiac_file"
_DIGITS: Final = {"integer": 10, "long": 20}
"""The digits that a decimal needs to take such a whole number of a file, also an unsigned one."""
NUMBERS_OF_ANOTHER_TYPE: Final = "FILE_WITH_OTHER_NUMBERS"


def valid_texts(frame: Any, columns: Sequence[SpecColumn], *, is_text: bool) -> Any:
    """The columns of files, and ``FILE``. Text that is none ends the job: other readers cannot decode the
    table. ``is_text``: True of the lines of a file of text.
    """
    read = frame.selectExpr(*(quote(column.name) for column in columns), f"_metadata.file_path AS {FILE}")
    return read.selectExpr(*(_valid_text(column, is_text=is_text) for column in columns), FILE)


def _valid_text(column: SpecColumn, *, is_text: bool) -> str:
    name = quote(column.name)
    if column.type != "string":
        return name
    what = "a line" if is_text else f"the column {column.name}"
    way = "Convert the file, as iconv -f ISO-8859-1 -t UTF-8 does" if is_text else "Declare it as binary"
    said = (
        f"{literal(f'[{NOT_UTF8}] {what} of the file ')}, {FILE}, {literal(f' is not text in UTF-8. {way}')}"
    )
    valid = f"is_valid_utf8({name}) IS NOT FALSE"
    return f"CASE WHEN {valid} THEN {name} ELSE raise_error(concat({said})) END AS {name}"


def declared_columns(session: Any, reader: Any, declared: Any, path: str, options: dict[str, str]) -> Any:
    """The frame of a folder with the columns of Spark's schema ``declared``, and ``_metadata``. ``reader``
    reads streams or batches. The files that are there say how it is read. Raises ``StartRefused`` for
    nested decimals that are declared as whole numbers.
    """
    held = _held(session, path, options)
    types = [field.dataType for field in declared]
    wanted = [_ddl(kind) for kind in types]
    read = wanted if held is None else _readable(declared, held, path)
    if read == wanted:
        return reader.format("parquet").schema(declared).options(**options).load(path)
    schema = ", ".join(f"{quote(name)} {kind}" for name, kind in zip(declared.names, read, strict=True))
    frame = reader.format("parquet").schema(schema).options(**options).load(path)
    names = zip(declared.names, wanted, read, strict=True)
    return frame.selectExpr(*(_cast(name, kind, given) for name, kind, given in names), "_metadata")


def _held(session: Any, path: str, options: dict[str, str]) -> Any:
    """The columns of a file that is there, as Spark's schema; None where none can be read."""
    try:
        return session.read.format("parquet").options(**options).load(path).schema
    except Exception:  # noqa: BLE001 - no file yet, or one that the query itself complains of
        return None


def _readable(declared: Any, held: Any, path: str) -> list[str]:
    if wrong := next(_refused(declared, held), None):
        name, kind, wanted = wrong
        why = (
            f"the Parquet files in {path} hold {name} as {kind}, and {wanted} is declared: Spark would read "
            f"12.34 as 1234. Declare {kind}, and cast it in a step where a whole number is wanted."
        )
        raise StartRefused(StartProblem(error_class=NUMBERS_OF_ANOTHER_TYPE, why=why))
    known = {name: _ddl(inner, other) for name, inner, other in _pairs(declared, held)}
    return [known.get(field.name) or _ddl(field.dataType) for field in declared]


def _refused(declared: Any, held: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[str, str, str]]:
    """The nested decimals that are declared as whole numbers: a cast of what is around them drops digits."""
    kind, held_kind = declared.typeName(), held.typeName()
    if len(place) > 1 and kind in _DIGITS and held_kind == "decimal" and held.scale > 0:
        yield ".".join(place), held.simpleString(), "int" if kind == "integer" else kind
    for name, inner, other in _pairs(declared, held):
        yield from _refused(inner, other, (*place, name))


def _ddl(declared: Any, held: Any = None) -> str:
    """A type as text, of the size that a file needs where ``held`` is its type there."""
    kind, held_kind = declared.typeName(), held.typeName() if held is not None else ""
    if (kind, held_kind) == ("integer", "long"):
        return "bigint"
    if kind in _DIGITS and held_kind == "decimal":
        return f"decimal({min(_DIGITS[kind] + held.scale, 38)},{held.scale})"
    same = held if kind == held_kind else None
    if kind == "struct":
        known = {name: other for name, _inner, other in _pairs(declared, same)} if same is not None else {}
        fields = (f"{quote(each.name)}: {_ddl(each.dataType, known.get(each.name))}" for each in declared)
        return f"struct<{', '.join(fields)}>"
    if kind == "array":
        return f"array<{_ddl(declared.elementType, same and same.elementType)}>"
    if kind == "map":
        key = _ddl(declared.keyType, same and same.keyType)
        return f"map<{key}, {_ddl(declared.valueType, same and same.valueType)}>"
    return str(declared.simpleString())


def _pairs(declared: Any, held: Any) -> Iterator[tuple[str, Any, Any]]:
    """The parts of both, by the name of the declared one."""
    kind = declared.typeName()
    if kind != held.typeName():
        return
    if kind == "struct":
        known = {field.name.lower(): field.dataType for field in held}
        for field in declared:
            if field.name.lower() in known:
                yield field.name, field.dataType, known[field.name.lower()]
    elif kind == "array":
        yield "element", declared.elementType, held.elementType
    elif kind == "map":
        yield "key", declared.keyType, held.keyType
        yield "value", declared.valueType, held.valueType


def _cast(column: str, wanted: str, given: str) -> str:
    """A column as it is declared; a number that its type does not hold ends the query."""
    name = quote(column)
    if wanted == given:
        return name
    if wanted not in ("int", "bigint"):
        return f"CAST({name} AS {wanted}) AS {name}"
    fits = f"coalesce(try_cast({name} AS {wanted}) = {name}, false)"
    kind, way = ("long" if each == "bigint" else each for each in (wanted, given))
    said = (
        f"concat({literal(f'[{NUMBER_NOT_HELD}] the column {column} of the file ')}, _metadata.file_path, "
        f"' holds ', {name}, {literal(f', which {kind} does not hold. Declare it as {way}')})"
    )
    bad = f"{name} IS NOT NULL AND NOT {fits}"
    return f"CASE WHEN {bad} THEN raise_error({said}) ELSE try_cast({name} AS {wanted}) END AS {name}"
