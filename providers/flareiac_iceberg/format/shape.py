"""Checks that a JSON document has the shape of a table's metadata, once for everything that reads it.
Pure.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from flareiac.kernel.data import Data


class Misshapen(ValueError):
    """The message names the place and what stands there, and what should."""


_TERM: Final = {"source-id": int, "transform": str}
_PARTITION: Final = {**_TERM, "name": str, "field-id?": int}
_SORT: Final = {**_TERM, "direction": str, "null-order": str}
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
    "refs?": {"*": {"type": str, "snapshot-id": int}},
    "metadata-log?": [{"metadata-file": str, "timestamp-ms?": int}],
    "snapshot-log?": [{"snapshot-id": int, "timestamp-ms?": int}],
}
_TYPES: Final[Mapping[str, dict[str, Any]]] = {
    "struct": {"fields": [_FIELD]},
    "list": {"element-id": int, "element": object, "element-required": bool},
    "map": {"key-id": int, "key": object, "value-id": int, "value": object, "value-required": bool},
}
_CALLED: Final = {int: "a number", str: "a text", bool: "true or false"}


def check(document: Data) -> None:
    """Raises ``Misshapen`` for the first thing that is not as it must be."""
    _check(document, _METADATA, "the document")


def _check(value: Data, shape: Any, where: str) -> None:
    match shape:
        case dict():
            _is(isinstance(value, dict), where, "an object")
            for path, item, inner in _parts(value, shape, where):
                _check(item, inner, path)
        case [inner]:
            _is(isinstance(value, list), where, "a list")
            for index, item in enumerate(value):
                _check(item, inner, f"{where}[{index}]")
        case _ if shape is object:
            _is(isinstance(value, str | dict), where, "a type")
            if isinstance(value, dict):
                _is(value.get("type") in _TYPES, where, "a struct, list or map")
                _check(value, _TYPES[value["type"]], where)
        case _:
            _is(
                isinstance(value, shape) and (shape is bool or not isinstance(value, bool)),
                where,
                _CALLED[shape],
            )


def _parts(value: dict[str, Data], shape: dict[str, Any], where: str) -> Iterator[tuple[str, Data, Any]]:
    """The parts of an object with where they are and their shapes: ``*`` is any name, ``?`` one that may be
    missing.
    """
    for name, inner in shape.items():
        if name == "*":
            yield from ((f'{where}["{key}"]', item, inner) for key, item in value.items())
            continue
        key = name.removesuffix("?")
        if value.get(key) is not None or key == name:
            yield (key if where == "the document" else f"{where}.{key}"), value.get(key), inner


def _is(fits: bool, where: str, needed: str) -> None:
    if not fits:
        raise Misshapen(f"{where} is not {needed}")
