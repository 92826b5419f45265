"""JSON schemas of records: what ``flareiac.kernel.records.encode`` writes of them. Pure."""

import dataclasses
import types
from collections.abc import Mapping
from enum import Enum
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from flareiac.kernel.records import Foreign, Form, encode, stored_fields

Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_LEAVES: Mapping[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    types.NoneType: {"type": "null"},
    None: {"type": "null"},
    Any: {},
    object: {},
}


def schema_of(kind: Any) -> Schema:
    """The schema of a type of values, with the records inside it by name in ``$defs``."""
    schemas, definitions = schemas_of({"": kind})
    return {**schemas[""], "$defs": definitions} if definitions else schemas[""]


def schemas_of(kinds: Mapping[str, Any]) -> tuple[dict[str, Schema], Schema]:
    """The schemas of several types, and the records inside them by name in one object."""
    records = _Records()
    schemas = {name: records.of(kind) for name, kind in kinds.items()}
    return schemas, dict(sorted(records.definitions.items()))


def _default(field: "dataclasses.Field[Any]", kind: Any) -> Schema:
    """The value that a reader takes where the field is missing."""
    if field.default is not dataclasses.MISSING:
        value = field.default
    elif field.default_factory is not dataclasses.MISSING:
        value = field.default_factory()
    else:
        return {}
    written: Form | None = get_args(kind)[1] if get_origin(kind) is Annotated else None
    return {"default": encode(value) if written is None else written.encode(value)}


class _Records:
    """The records that were met: each is defined once, so that one may hold another of its own kind."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}
        self._names: dict[Any, str] = {}

    def of(self, kind: Any) -> Schema:
        origin, parts = get_origin(kind), get_args(kind)
        if origin is Annotated:
            form: Form = parts[1]
            return self.of(form.written)
        if origin in (Union, types.UnionType):
            return {"anyOf": [self.of(part) for part in parts]}
        if origin is NotRequired:
            return self.of(parts[0])
        if origin is Literal:
            return {"enum": list(parts)}
        if origin in (tuple, list):
            return {"type": "array", "items": self.of(parts[0])}
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.of(parts[1])}
        if kind in _LEAVES:
            return dict(_LEAVES[kind])
        if isinstance(kind, type) and issubclass(kind, Enum):
            return {"enum": [member.value for member in kind]}
        if dataclasses.is_dataclass(kind) or is_typeddict(kind):
            return {"$ref": f"#/$defs/{self._defined(kind)}"}
        raise TypeError(f"no schema is known of {kind!r}")

    def _defined(self, kind: Any) -> str:
        if kind not in self._names:
            name = kind.__name__.lstrip("_")
            if name in self.definitions:
                name = f"{kind.__module__.rpartition('.')[2]}.{name}"
            assert name not in self.definitions, f"two records are called {name}"
            self._names[kind], self.definitions[name] = name, {}
            self.definitions[name].update(
                self._typed_dict(kind) if is_typeddict(kind) else self._record(kind)
            )
        return self._names[kind]

    def _record(self, kind: Any) -> Schema:
        fields = stored_fields(kind)
        defaults = {
            field.name: _default(field, fields[name].kind)
            for field in dataclasses.fields(kind)
            if (name := field.metadata.get("json", field.name)) in fields
        }
        schema: Schema = {
            "type": "object",
            "properties": {
                name: {**self.of(field.kind), **defaults[field.name]}
                for name, field in fields.items()
                if not field.implied
            },
            "required": [name for name, field in fields.items() if field.is_always_written],
        }
        return schema if issubclass(kind, Foreign) else {**schema, "additionalProperties": False}

    def _typed_dict(self, kind: Any) -> Schema:
        hints = get_type_hints(kind, include_extras=True)
        return {
            "type": "object",
            "properties": {name: self.of(hint) for name, hint in hints.items()},
            "required": sorted(kind.__required_keys__),
            "additionalProperties": False,
        }
