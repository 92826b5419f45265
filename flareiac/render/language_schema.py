"""The JSON schema of the language, for editors and for programs that write configurations: what may stand in
HCL's JSON form, read from the records that validate. Pure.

In the JSON form a block is an object below its type and its labels, or an array of such objects. A text with
``${...}`` stands for a value of any type; references are such texts.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from flareiac.config.backend import BackendKinds, is_switch
from flareiac.config.own_blocks import (
    BACKEND,
    DATA_LIFECYCLE,
    LOCALS,
    META,
    MODULE,
    OWN_BLOCKS,
    SCOPED_DATA,
)
from flareiac.config.registry import Registry
from flareiac.kernel.data import Json
from flareiac.kernel.types import (
    AnyType,
    BoolType,
    ListType,
    MapType,
    NumberType,
    ObjectType,
    RefType,
    SetType,
    StringType,
    TupleType,
    Type,
)
from flareiac.lang.dynamic import DYNAMIC
from flareiac.render.reference import sentences
from flareiac.sdk.resource_type import Kind
from flareiac.sdk.schema import Attribute, Block, NestedBlock, Nesting, Validator
from flareiac.sdk.validators import Fields, OneOf, Whole, WholeSizes, is_duration, is_size, not_empty

Schema = dict[str, Json]
_COMMENT: Final = "//"
_TEMPLATE: Final = r"[$%]\{"
_NUMBER: Final = r"^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"
_DURATION: Final = "^([0-9]{1,18}(ms|s|m|h|d|w))+$"
_SIZE: Final = r"^\s*[0-9]{1,18}\s*[kmgtKMGT]?[bB]\s*$"
_JVM_SIZE: Final = "^[1-9][0-9]{0,9}[kmgtKMGT]b?$"
_NAME: Final = "^[^\\W\\d][\\w-]*$"
_EMPTY: Final[Sequence[Json]] = (None, [], {})


TITLE: Final = "Configuration of FlareIaC in HCL's JSON form"


def language_schema(registry: Registry) -> Schema:
    """The schema of a configuration with the resource types and backends that are installed."""
    writer = _Writer(registry.backends)
    top: Schema = {}
    for name, own in OWN_BLOCKS.items():
        content = writer.body(name, own.block)
        top[name] = _labelled(content, any_label=False) if own.is_labelled else _one_or_more(content)
    data: Schema = {}
    for name, kind in sorted(registry.types.items()):
        meta = META.attributes, _DATA_BLOCKS if kind.kind is Kind.DATA else META.blocks
        described = f"{kind.description} ({kind.kind.value.capitalize()} block.)"
        content = _labelled(writer.body(name, kind.schema, meta, described), any_label=False)
        if kind.kind is Kind.DATA:
            data[name.removeprefix("data.")] = content
        else:
            top[name] = content
    top["data"] = _one_or_more({"type": "object", "properties": data, "additionalProperties": False})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": TITLE,
        "type": "object",
        "properties": {_COMMENT: True, **dict(sorted(top.items()))},
        "additionalProperties": False,
        "$defs": {**_SHARED, **dict(sorted(writer.definitions.items()))},
    }


_DATA_BLOCKS: Final = {"lifecycle": NestedBlock(nesting=Nesting.SINGLE, block=DATA_LIFECYCLE)}
_Meta = tuple[Mapping[str, Attribute], Mapping[str, NestedBlock]]


class _Writer:
    """Writes bodies; each is a definition by its path, for a dynamic block has it a second time."""

    def __init__(self, backends: BackendKinds) -> None:
        self.definitions: Schema = {}
        self._backends = backends

    def body(self, path: str, block: Block, meta: _Meta = ({}, {}), description: str = "") -> Schema:
        """A reference to the definition of a body. ``meta``: what it takes beside its schema."""
        reference: Schema = {"$ref": f"#/$defs/{path}"}
        attributes, blocks = {**block.attributes, **meta[0]}, {**block.blocks, **meta[1]}
        properties: Schema = {_COMMENT: True}
        for name, attribute in attributes.items():
            properties[name] = _attribute(attribute)
        for name, nested in blocks.items():
            if nested.block is BACKEND:
                properties[name] = self._backend(path)
            elif nested.block is SCOPED_DATA:
                properties[name] = {"$ref": "#/properties/data"}
            else:
                inner = name if name in meta[1] else f"{path}.{name}"
                if nested.block is DATA_LIFECYCLE:
                    inner = "data_lifecycle"
                properties[name] = _nested(nested, self.body(inner, nested.block))
        is_dynamic = bool(block.blocks) and path.partition(".")[0] not in OWN_BLOCKS
        if is_dynamic:
            properties["dynamic"] = self._dynamic(path, block)
        schema: Schema = {
            "type": "object",
            "properties": properties,
            "additionalProperties": block in (LOCALS, MODULE),
            "required": [name for name, attribute in attributes.items() if attribute.required],
        }
        if text := description or block.description:
            schema = {"description": text, **schema}
        if rules := list(_rules(block, is_dynamic=is_dynamic)):
            schema["allOf"] = rules
        self.definitions[path] = schema
        return reference

    def _dynamic(self, path: str, block: Block) -> Schema:
        made: Schema = {}
        for name in block.blocks:
            body: Schema = {
                "type": "object",
                "properties": {
                    _COMMENT: True,
                    **{key: _attribute(attribute) for key, attribute in DYNAMIC.attributes.items()},
                    "content": _one_or_more({"$ref": f"#/$defs/{path}.{name}"}),
                },
                "additionalProperties": False,
                "required": ["for_each", "content"],
            }
            made[name] = _one_or_more(body)
        content: Schema = {"type": "object", "properties": made, "additionalProperties": False}
        return {"description": DYNAMIC.description, **_one_or_more(content)}

    def _backend(self, path: str) -> Schema:
        kinds: Schema = {}
        for kind in self._backends.names():
            properties: Schema = {_COMMENT: True}
            for setting in self._backends.settings(kind) or ():
                properties[setting.name] = {
                    "description": setting.description,
                    # A backend is read before anything is evaluated.
                    "type": ["boolean", "string", "null"] if is_switch(setting) else ["string", "null"],
                }
            self.definitions[f"{path}.backend.{kind}"] = {
                "type": "object",
                "properties": properties,
                "additionalProperties": False,
            }
            kinds[kind] = _one_or_more({"$ref": f"#/$defs/{path}.backend.{kind}"})
        return {
            "description": BACKEND.description,
            "type": "object",
            "properties": kinds,
            "additionalProperties": False,
        }


def _one_or_more(content: Schema) -> Schema:
    """A body, or an array of bodies, in a form whose errors name the body."""
    return {"if": {"type": "array"}, "then": {"items": content}, "else": content}


def _labelled(content: Schema, *, any_label: bool) -> Schema:
    bodies: Schema = {"type": "object", "additionalProperties": _one_or_more(content)}
    return _one_or_more(bodies if any_label else {**bodies, "propertyNames": {"pattern": _NAME}})


def _nested(nested: NestedBlock, content: Schema) -> Schema:
    schema = (
        _labelled(content, any_label=nested.any_label)
        if nested.nesting is Nesting.MAP
        else _one_or_more(content)
    )
    return {"description": nested.block.description, **schema} if nested.block.description else schema


def _rules(block: Block, *, is_dynamic: bool) -> Iterator[Schema]:
    """The blocks that must be there, and names of which exactly one must be. A dynamic block may bring any of
    them.
    """
    dynamic: list[Json] = [{"required": ["dynamic"]}] if is_dynamic else []
    for name, nested in block.blocks.items():
        if nested.required:
            yield {"anyOf": [{"required": [name]}, *dynamic]}
    for group in block.exactly_one_of:
        brought = dynamic if any(name in block.blocks for name in group) else []
        given: list[Json] = [
            {"required": [name], "properties": {name: {"not": {"enum": list(_EMPTY)}}}} for name in group
        ]
        yield {"anyOf": [*given, *brought]}
        for at, name in enumerate(group):
            for other in group[at + 1 :]:
                both: Schema = {name: {"$ref": "#/$defs/given"}, other: {"$ref": "#/$defs/given"}}
                yield {"not": {"required": [name, other], "properties": both}}


def _attribute(attribute: Attribute) -> Schema:
    schema = _value(attribute.type, attribute.validators, required=attribute.required)
    out: Schema = {"description": text, **schema} if (text := sentences(attribute)) else schema
    if attribute.default is not None and isinstance(attribute.default, str | int | float | bool):
        out["default"] = attribute.default
    return out


def _value(type_: Type, validators: Sequence[Validator] = (), *, required: bool = False) -> Schema:
    """The values of a type that pass the validators which a schema can express, and expressions."""
    if isinstance(type_, AnyType):
        return {"not": {"type": "null"}} if required else {}
    allowed: list[Json] = [*_plain(type_, validators), {"$ref": "#/$defs/template"}]
    return {"anyOf": allowed if required else [*allowed, {"type": "null"}]}


def _plain(type_: Type, validators: Sequence[Validator]) -> list[Json]:
    match type_:
        case StringType():
            return _texts(validators)
        case NumberType():
            return _numbers(validators)
        case BoolType():
            return [{"type": "boolean"}, {"enum": ["true", "false"]}]
        case ListType(element) | SetType(element):
            return [{"type": "array", "items": _value(element), **_filled("minItems", validators)}]
        case TupleType(elements):
            parts: list[Json] = [_value(element) for element in elements]
            return [{"type": "array", "prefixItems": parts, "minItems": len(parts), "maxItems": len(parts)}]
        case MapType(element):
            inner = _value(element)
            return [{"type": "object", "additionalProperties": inner, **_filled("minProperties", validators)}]
        case ObjectType():
            return [_object(type_, validators)]
        case RefType(or_string=or_string):
            return [{"type": "string"}] if or_string else []
        case _:
            return [True]


def _texts(validators: Sequence[Validator]) -> list[Json]:
    """Texts, and what is converted to one. What no schema expresses is left to ``validate``."""
    for validator in validators:
        match validator:
            case OneOf(allowed=allowed):
                return [{"enum": [each for each in allowed if isinstance(each, str)]}]
            case _ if validator is is_duration:
                return [{"type": "string", "pattern": _DURATION}]
            case _ if validator is is_size:
                return [{"type": "string", "pattern": _SIZE}]
            case _ if validator is not_empty:
                return [{"type": "string", "minLength": 1}, {"type": ["number", "boolean"]}]
            case _:
                pass
    return [{"type": ["string", "number", "boolean"]}]


def _numbers(validators: Sequence[Validator]) -> list[Json]:
    for validator in validators:
        match validator:
            case OneOf(allowed=allowed):
                numbers: list[Json] = [each for each in allowed if isinstance(each, int | float)]
                return [{"enum": [*numbers, *map(str, numbers)]}]
            case Whole(low, high):
                whole: Schema = {"type": "integer", "minimum": low, "maximum": high}
                return [whole, {"type": "string", "pattern": _NUMBER}]
            case _:
                pass
    return [{"type": "number"}, {"type": "string", "pattern": _NUMBER}]


def _filled(keyword: str, validators: Sequence[Validator]) -> Schema:
    return {keyword: 1} if not_empty in validators else {}


def _object(type_: ObjectType, validators: Sequence[Validator]) -> Schema:
    inside: dict[str, tuple[Validator, ...]] = {}
    sized: Schema = {}
    for validator in validators:
        if isinstance(validator, Fields):
            inside.update({name: (each,) for name, each in validator.validators.items()})
        if isinstance(validator, WholeSizes):
            sized.update({name: _sized(unit) for name, unit in validator.units.items()})
    properties: Schema = {
        name: sized.get(name, _value(kind, inside.get(name, ()))) for name, kind in type_.attributes.items()
    }
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in type_.attributes if name not in type_.optional],
        "additionalProperties": False,
    }


def _sized(unit: str | None) -> Schema:
    fitting: Schema = (
        {"type": "integer", "minimum": 1} if unit is None else {"type": "string", "pattern": _JVM_SIZE}
    )
    others: list[Json] = [{"$ref": "#/$defs/template"}, {"type": "null"}]
    if unit is None:
        others.append({"type": "string", "pattern": _NUMBER})
    return {"anyOf": [fitting, *others]}


_SHARED: Final[Schema] = {
    "template": {
        "description": "An expression: a text with ${...} or %{...}, such as ${var.name}.",
        "type": "string",
        "pattern": _TEMPLATE,
    },
    "given": {
        "description": "A value that is certainly there: not null, not empty, no expression.",
        "not": {"anyOf": [{"enum": list(_EMPTY)}, {"$ref": "#/$defs/template"}]},
    },
}
