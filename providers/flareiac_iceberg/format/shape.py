"""Checks that a JSON document has the shape of a table's metadata, and that its ids fit together, once for
everything that reads it. Pure.

Source of the rules about ids: Iceberg's own readers, which load no table that breaks one of them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from flareiac.kernel.data import Data
from flareiac_iceberg.format.column_ids import levels, schemas_of


class Misshapen(ValueError):
    """The message names the place and what stands there, and what should. ``nameless``: nothing is damaged,
    but the table has no uuid.
    """

    def __init__(self, message: str, *, nameless: bool = False) -> None:
        super().__init__(message)
        self.nameless = nameless


class UnknownVersion(ValueError):
    """The message says which format version the document has, and which ones are known."""


class ContradictingIds(ValueError):
    """The message names what has the same id or name, or which id belongs to nothing."""


NEWEST_VERSION: Final = 3
"""The newest format version whose rules are known here."""

_TERM: Final = {"source-id": int, "transform": str}
_PARTITION: Final = {**_TERM, "name": str, "field-id?": int}
_SORT: Final = {**_TERM, "direction": ("asc", "desc"), "null-order": ("nulls-first", "nulls-last")}
_FIELD: Final[dict[str, Any]] = {"id": int, "name": str, "required": bool, "type": object, "doc?": str}
_SCHEMA: Final = {"fields": [_FIELD], "identifier-field-ids?": [int]}
_SNAPSHOT: Final = {
    "snapshot-id": int,
    "timestamp-ms": int,
    "parent-snapshot-id?": int,
    "sequence-number?": int,
    "manifest-list?": str,
    "summary?": {"*": str},
}
_REF: Final = {
    "type": str,
    "snapshot-id": int,
    "max-ref-age-ms?": int,
    "max-snapshot-age-ms?": int,
    "min-snapshots-to-keep?": int,
}
_METADATA: Final = {
    "format-version": int,
    "table-uuid": str,
    "location": str,
    "last-column-id": int,
    **dict.fromkeys(
        (
            "last-updated-ms?",
            "last-partition-id?",
            "last-sequence-number?",
            "next-row-id?",
            "current-snapshot-id?",
        ),
        int,
    ),
    **dict.fromkeys(("current-schema-id?", "default-spec-id?", "default-sort-order-id?"), int),
    "schema?": {**_SCHEMA, "schema-id?": int},
    "schemas?": [{**_SCHEMA, "schema-id": int}],
    "partition-spec?": [_PARTITION],
    "partition-specs?": [{"spec-id": int, "fields": [_PARTITION]}],
    "sort-orders?": [{"order-id": int, "fields": [_SORT]}],
    "properties?": {"*": str},
    "snapshots?": [_SNAPSHOT],
    "refs?": {"*": _REF},
    "metadata-log?": [{"metadata-file": str, "timestamp-ms?": int}],
    "snapshot-log?": [{"snapshot-id": int, "timestamp-ms?": int}],
}
_SCHEMA_ID: Final = "schema-id"
_NUMBERED: Final = (
    ("schemas", _SCHEMA_ID, "current-schema-id"),
    ("partition-specs", "spec-id", "default-spec-id"),
    ("sort-orders", "order-id", "default-sort-order-id"),
)
"""The lists whose members have ids: list, id, and what names the current member."""
_TYPES: Final[Mapping[str, dict[str, Any]]] = {
    "struct": {"fields": [_FIELD]},
    "list": {"element-id": int, "element": object, "element-required": bool},
    "map": {"key-id": int, "key": object, "value-id": int, "value": object, "value-required": bool},
}
_CALLED: Final = {str: "a text", bool: "true or false"}
_LONG: Final = 2**63


def check(document: Data) -> None:
    """Raises ``UnknownVersion``, ``Misshapen`` or ``ContradictingIds`` for the first thing that is not as it
    must be.
    """
    match document:
        case {"format-version": version}:
            _check_version(version)  # first: a newer version may have another shape
        case _:
            raise Misshapen("it is JSON, but no table metadata")
    if version == 1 and _lacks(document, "table-uuid"):
        raise Misshapen(
            "it has no table-uuid, which format version 1 leaves open, and without it the table cannot be "
            "told from another one of its name",
            nameless=True,
        )
    _check(document, _METADATA, "the document")
    _check_ids(document)


def _check_version(version: Data) -> None:
    if not isinstance(version, int) or isinstance(version, bool):
        raise Misshapen("format-version is not a whole number")
    if version > NEWEST_VERSION:
        raise UnknownVersion(f"format version {version} is newer than FlareIaC knows ({NEWEST_VERSION})")
    if version < 1:
        raise UnknownVersion(f"there is no format version {version} (1 to {NEWEST_VERSION} exist)")


def _check_ids(document: dict[str, Data]) -> None:
    """Raises ``ContradictingIds`` where two parts have one id or name, or what is named does not exist."""
    if "schemas" in document or _lacks(document, "schema"):
        _is(not _lacks(document, "schemas"), "schemas", "a list with a schema in it")
        if _lacks(document, "current-schema-id"):
            raise Misshapen("current-schema-id is missing")
    if _lacks(document, "partition-spec"):
        _is(not _lacks(document, "partition-specs"), "partition-specs", "a list with a spec in it")
    for name, key, current in _NUMBERED:
        # Old metadata has one of each, without a number: Iceberg counts it as 0.
        ids = [part[key] for part in document.get(name) or ()] or [0]
        if (twice := _repeated(ids)) is not None:
            raise ContradictingIds(f"two of its {name} have the id {twice}")
        if (wanted := document.get(current) or 0) not in ids and (name != "schemas" or "schemas" in document):
            raise ContradictingIds(f"{current} is {wanted}, and none of its {name} has that id")
    for schema in schemas_of(document):
        _check_columns(schema)


def _check_columns(schema: dict[str, Data]) -> None:
    paths: dict[int, str] = {}
    where = f"schema {schema.get(_SCHEMA_ID) or 0}"
    for field_id, path in levels(schema):
        if field_id in paths:
            raise ContradictingIds(
                f"{where}: the columns {paths[field_id]} and {path} have the same id {field_id}"
            )
        paths[field_id] = path
    if (twice := _repeated(paths.values())) is not None:
        raise ContradictingIds(f"{where}: two columns are named {twice}")


def _lacks(document: dict[str, Data], name: str) -> bool:
    """Returns True where the name has no value, or an empty one although it needs content."""
    value = document.get(name)
    return value is None or (name != "partition-spec" and value in ([], {}))


def _repeated(given: Iterable[int | str]) -> int | str | None:
    """The first value that is there more than once."""
    return next((each for each, times in Counter(given).items() if times > 1), None)


def _check(value: Data, shape: Any, where: str) -> None:
    match shape:
        case dict():
            _is(isinstance(value, dict), where, "an object")
            for path, part, inner in _parts(value, shape, where):
                _check(part, inner, path)
        case [inner]:
            _is(isinstance(value, list), where, "a list")
            for index, element in enumerate(value):
                _check(element, inner, f"{where}[{index}]")
        case tuple():
            _is(isinstance(value, str) and value.lower() in shape, where, " or ".join(shape))
        case _ if shape is object:
            _is(isinstance(value, str | dict), where, "a type")
            if isinstance(value, dict):
                _is(value.get("type") in _TYPES, where, "a struct, list or map")
                _check(value, _TYPES[value["type"]], where)
        case _ if shape is int:
            is_long = isinstance(value, int) and not isinstance(value, bool) and -_LONG <= value < _LONG
            _is(is_long, where, "a whole number of 64 bits")
        case _:
            _is(isinstance(value, shape), where, _CALLED[shape])


def _parts(value: dict[str, Data], shape: dict[str, Any], where: str) -> Iterator[tuple[str, Data, Any]]:
    """The parts of an object with where they are and their shapes: ``*`` is any name, ``?`` one that may be
    missing.
    """
    for name, inner in shape.items():
        if name == "*":
            yield from ((f'{where}["{key}"]', member, inner) for key, member in value.items())
            continue
        key = name.removesuffix("?")
        place, part = key if where == "the document" else f"{where}.{key}", value.get(key)
        if part is not None:
            yield place, part, inner
        elif key == name:
            raise Misshapen(f"{place} is missing")


def _is(fits: bool, where: str, needed: str) -> None:
    if not fits:
        raise Misshapen(f"{where} is not {needed}")
