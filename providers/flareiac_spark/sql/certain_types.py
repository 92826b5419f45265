"""Iceberg types, as texts, of what is certain in a query, and what Spark stores into what. Pure.

None stands for a type that is not known.
"""

from collections.abc import Iterator, Mapping
from typing import Final

_ATOMIC: Final[Mapping[str, str]] = {
    "boolean": "boolean",
    "int": "number",
    "long": "number",
    "float": "number",
    "double": "number",
    "date": "moment",
    "timestamp": "moment",
    "timestamptz": "moment",
    "timestamp_ntz": "moment",
    "string": "text",
    "uuid": "text",
    "binary": "bytes",
}
"""The class of each type that Spark's store assignment takes for alike. Spark reads a uuid as text."""
_NESTED: Final = frozenset({"struct", "list", "map"})


def struct_fields(kind: str) -> Mapping[str, str] | None:
    """The types of a struct's fields by lower-case name; None where it is no struct, or two fields have one
    name.
    """
    if _head(kind) != "struct":
        return None
    types: dict[str, str] = {}
    for part in _arguments(kind):
        name, colon, inner = part.partition(":")
        key = name.strip().strip("`").lower()
        if not colon or not key or key in types:
            return None
        types[key] = inner.strip().removesuffix(" not null")
    return types


def field_names(kind: str) -> tuple[str, ...]:
    """The names of a struct's fields as they are declared."""
    return tuple(part.partition(":")[0].strip().strip("`") for part in _arguments(kind))


def element_type(kind: str | None) -> str | None:
    """The type of a list's elements or a map's values; None for everything else."""
    parts = list(_arguments(kind)) if kind is not None and _head(kind) in ("list", "map") else []
    return parts[-1].removesuffix(" not null") if parts else None


def is_plain(kind: str) -> bool:
    """Returns True if values of this type have no fields, elements or paths inside."""
    return _class(kind) is not None


def is_list(kind: str) -> bool:
    return _head(kind) == "list"


def cannot_store(kind: str | None, column: str) -> bool:
    """Returns True if Spark's store assignment certainly refuses values of a type in a column of another
    one.
    """
    if kind is None:
        return False
    given, taken = _class(kind) or _head(kind), _class(column) or _head(column)
    if given in _NESTED and taken in _NESTED:
        return given != taken or _parts_cannot_store(given, kind, column)
    if not (_is_known(given) and _is_known(taken)):
        return False
    return given != taken and (taken != "text" or given in _NESTED)


def _parts_cannot_store(head: str, kind: str, column: str) -> bool:
    if head != "struct":
        given, taken = list(_arguments(kind)), list(_arguments(column))
        return len(given) == len(taken) and any(
            cannot_store(each.removesuffix(" not null"), other.removesuffix(" not null"))
            for each, other in zip(given, taken, strict=True)
        )
    fields, wanted = struct_fields(kind) or {}, struct_fields(column) or {}
    return any(cannot_store(fields[name], wanted[name]) for name in fields.keys() & wanted.keys())


def _is_known(group: str) -> bool:
    return group in _NESTED or group in _ATOMIC.values()


def _class(kind: str) -> str | None:
    head = _head(kind)
    return {"decimal": "number", "fixed": "bytes"}.get(head) or _ATOMIC.get(head)


def _head(kind: str) -> str:
    return kind.partition("<")[0].partition("(")[0]


def _arguments(kind: str) -> Iterator[str]:
    """The parts between the outer angle brackets."""
    depth, start = 0, kind.find("<") + 1
    if not start or not kind.endswith(">"):
        return
    for at in range(start, len(kind) - 1):
        match kind[at]:
            case "<" | "(":
                depth += 1
            case ">" | ")":
                depth -= 1
            case "," if depth == 0:
                yield kind[start:at].strip()
                start = at + 1
            case _:
                pass
    yield kind[start:-1].strip()
