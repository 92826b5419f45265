"""The check that data of one Avro schema can be read with another, by the rules of Avro's specification
("Schema Resolution"). Schemas are parsed JSON.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeGuard

Json = str | int | float | bool | None | Sequence["Json"] | Mapping[str, "Json"]
Named = Mapping[str, Json]

PRIMITIVES: Final = {"null", "boolean", "int", "long", "float", "double", "bytes", "string"}
_PROMOTED: Final = {
    "int": {"long", "float", "double"},
    "long": {"float", "double"},
    "float": {"double"},
    "string": {"bytes"},
    "bytes": {"string"},
}


class InvalidSchema(ValueError):
    """The text is no Avro schema; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class _Side:
    """A schema with the named types that are declared in it."""

    schema: Json
    names: dict[str, Named] = field(default_factory=dict)

    def at(self, schema: Json) -> Json:
        """The type that a name stands for, or the schema itself."""
        return self.names.get(schema, schema) if isinstance(schema, str) else schema


def check_schema(schema: Json) -> None:
    """Raises ``InvalidSchema``."""
    _side(schema)


def problems(reader: Json, writer: Json) -> list[str]:
    """The reasons that ``reader`` cannot read what ``writer`` wrote, with the place in the schema; empty when
    it can.
    """
    return list(_compare(_side(reader), _side(writer)))


def _compare(reader: _Side, writer: _Side) -> Iterator[str]:
    seen: set[tuple[int, int]] = set()

    def match(r: Json, w: Json, path: str) -> Iterator[str]:
        r, w = reader.at(r), writer.at(w)
        if isinstance(r, Mapping) and isinstance(w, Mapping):
            pair = (id(r), id(w))
            if pair in seen:  # a recursive type
                return
            seen.add(pair)
        if _is_union(w):
            for at, branch in enumerate(w):
                yield from match(r, branch, f"{path}/{at}")
        elif _is_union(r):
            if all(any(match(branch, w, path)) for branch in r):
                yield f"{path}: the union of the reader has no branch for {_kind(w)}"
        elif _kind(r) != _kind(w):
            if _kind(r) not in _PROMOTED.get(_kind(w), set()):
                yield f"{path}: {_kind(w)} cannot be read as {_kind(r)}"
        elif isinstance(r, Mapping) and isinstance(w, Mapping):
            yield from inside(r, w, path)

    def inside(r: Named, w: Named, path: str) -> Iterator[str]:
        match _kind(r):
            case "record":
                yield from _renamed(r, w, path)
                yield from fields(r, w, path)
            case "enum":
                yield from _renamed(r, w, path)
                missing = sorted(set(_texts(w["symbols"])) - set(_texts(r["symbols"])))
                if missing and "default" not in r:
                    yield f"{path}: the reader lacks the symbols {', '.join(missing)}"
            case "fixed":
                yield from _renamed(r, w, path)
                if r["size"] != w["size"]:
                    yield f"{path}: the sizes differ"
            case "array":
                yield from match(r["items"], w["items"], f"{path}/items")
            case "map":
                yield from match(r["values"], w["values"], f"{path}/values")
            case _:
                pass

    def fields(r: Named, w: Named, path: str) -> Iterator[str]:
        written = {str(item["name"]): item for item in _fields(w)}
        for wanted in _fields(r):
            names = [str(wanted["name"]), *_texts(wanted.get("aliases", []))]
            found = next((written[name] for name in names if name in written), None)
            if found is not None:
                yield from match(wanted["type"], found["type"], f"{path}/{names[0]}")
            elif "default" not in wanted:
                yield f"{path}/{names[0]}: the reader's field has no default, and the writer lacks it"

    yield from match(reader.schema, writer.schema, "")


def _renamed(reader: Named, writer: Named, path: str) -> Iterator[str]:
    """Names are compared without their namespace, as the specification allows."""
    known = {str(reader["name"]), *_texts(reader.get("aliases", []))}
    if str(writer["name"]).rpartition(".")[2] not in {name.rpartition(".")[2] for name in known}:
        yield f"{path}: {writer['name']} cannot be read as {reader['name']}"


def _side(schema: Json) -> _Side:
    found = _Side(schema)
    _declare(schema, found.names, "")
    return found


def _declare(schema: Json, names: dict[str, Named], space: str) -> None:
    """Collects the named types by name, short and full; raises ``InvalidSchema``."""
    if isinstance(schema, str):
        if schema not in PRIMITIVES and schema not in names:
            raise InvalidSchema(f'"{schema}" is not a type')
    elif _is_union(schema):
        for branch in schema:
            _declare(branch, names, space)
    elif isinstance(schema, Mapping):
        _declare_inside(schema, names, space)
    else:
        raise InvalidSchema(f"{schema!r} is not a type")


def _declare_inside(schema: Named, names: dict[str, Named], space: str) -> None:
    kind = schema.get("type")
    try:
        if kind in ("record", "enum", "fixed"):
            space = str(schema.get("namespace", space))
            name = str(schema["name"])
            names[name] = names[f"{space}.{name}"] = schema
        match kind:
            case "record":
                for item in _fields(schema):
                    _declare(item["type"], names, space)
            case "array":
                _declare(schema["items"], names, space)
            case "map":
                _declare(schema["values"], names, space)
            case "enum":
                _texts(schema["symbols"])
            case "fixed":
                int(str(schema["size"]))
            case _:
                _declare(kind, names, space)
    except KeyError as missing:
        raise InvalidSchema(f"{kind} lacks {missing}") from None


def _kind(schema: Json) -> str:
    while isinstance(schema, Mapping):
        schema = schema["type"]
    return str(schema)


def _is_union(schema: Json) -> TypeGuard[Sequence[Json]]:
    return isinstance(schema, list | tuple)


def _fields(record: Named) -> list[Named]:
    found = record["fields"]
    if not _is_union(found):
        raise InvalidSchema("the fields of a record are a list")
    fields = [item for item in found if isinstance(item, Mapping)]
    for item in fields:
        if not {"name", "type"} <= item.keys():
            raise InvalidSchema("a field has a name and a type")
    return fields


def _texts(items: Json) -> list[str]:
    return [str(item) for item in items] if _is_union(items) else []
