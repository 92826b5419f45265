"""A block as its author would write it, as the lines of a plan's entry. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import field, replace

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.types import MapType, ObjectType
from flareiac.render.value_text import aligned, assignment, key_text, quoted, without_nulls
from flareiac.sdk.declared import in_units
from flareiac.sdk.importing import WrittenBlock
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.schema import Attribute

_INDENT = "    "


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """``block`` without what equals a default; ``left_out`` are the attributes that have theirs, None where
    no one would write it.
    """

    block: WrittenBlock
    left_out: Mapping[str, Data] = field(default_factory=dict)


def declaration(kind: ResourceType | None, label: str, attributes: Attributes) -> Declaration:
    """The block that declares canonical attributes. Without a type, all of them are shown."""
    there = {name: without_nulls(value) for name, value in attributes.items() if value not in (None, {}, [])}
    if kind is None:
        return Declaration(block=WrittenBlock(type="", label=label, attributes=there))
    schema = kind.schema.attributes
    if kind.showing.written is not None:
        block = kind.showing.written(label, attributes)
    else:
        shown = {
            name: value
            for name, value in there.items()
            if (name not in schema or value != schema[name].default) and (name != "name" or value != label)
        }
        block = WrittenBlock(type=kind.name, label=label, attributes=shown)
    left = {
        name: _default(schema[name], value)
        for name, value in there.items()
        if name in schema and name not in block.attributes
    }
    return Declaration(block=block, left_out=left)


def with_defaults(declared: Declaration, kind: ResourceType | None) -> WrittenBlock:
    """The block with the defaults that it leaves out, in the order of the schema."""
    if kind is None:
        return declared.block
    left_out = {name: value for name, value in declared.left_out.items() if value is not None}
    shown = {**declared.block.attributes, **left_out}
    known = [*(name for name in kind.schema.attributes if name in shown), *shown]
    return replace(declared.block, attributes={name: shown[name] for name in dict.fromkeys(known)})


def _default(attribute: Attribute, value: Data) -> Data:
    """The default that an attribute says, or else the one that its canonical ``value`` has. An object shows
    what users write in it; settings that are filled in stand elsewhere.
    """
    if attribute.default is not None:
        return attribute.default
    match attribute.type:
        case ObjectType(attributes=known):
            return {name: part for name, part in in_units(value).items() if name in known} or None
        case MapType():
            return None
        case _:
            return value


def inner_lines(block: WrittenBlock, width: int) -> list[str]:
    """The attributes of a block with aligned equals signs, then the blocks in it."""
    return [
        *_attributes(block.attributes, width),
        *(line for inner in block.blocks for line in _block(inner, width)),
    ]


def _attributes(attributes: Mapping[str, object], width: int) -> Iterator[str]:
    assignments = [assignment(key_text(name), value, width) for name, value in attributes.items()]
    for lines in aligned(assignments):
        yield from lines


def _block(block: WrittenBlock, width: int) -> list[str]:
    head = block.type if block.label is None else f"{block.type} {quoted(block.label)}"
    inside = inner_lines(block, width - len(_INDENT))
    if not inside:
        return [f"{head} {{}}"]
    flat = f"{head} {{ {inside[0]} }}"
    if len(inside) == 1 and not block.blocks and len(flat) <= width:
        return [flat]
    return [f"{head} {{", *(f"{_INDENT}{line}".rstrip() for line in inside), "}"]
