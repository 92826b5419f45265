"""The documents of the user's cache, and of other files that records of the code do not describe: the form of
each as a type.
"""

from collections.abc import Mapping
from typing import Any, Final, NotRequired, TypedDict

from flareiac.lang.syntax import FIELDS, NODE_TYPES, Node
from flareiac.model.relocation import BoundPlace
from flareiac.sdk.owner import Owner
from tests.formats.record_schemas import Schema, schema_of


class SyntaxEntry(TypedDict):
    """An item of a source: its nodes, and the roots and steps that each block mentions, with their places."""

    syntax: Any
    mentions: tuple[tuple[Any, ...], ...]


class SyntaxFile(TypedDict):
    """``reader``: release and grammar; ``text``: the digest of the source; ``ranges``: start, end and digest
    of each item.
    """

    reader: str
    text: str
    ranges: tuple[tuple[int | str, ...], ...]
    entries: Mapping[str, SyntaxEntry]


def with_nodes(schema: Schema) -> None:
    """A node is an array: its number, where it stands, and its fields by their order."""
    nodes = [
        {
            "title": kind.__name__,
            "type": "array",
            "prefixItems": [{"const": number}, *_PLACE, *_fields(kind)],
            "minItems": 3 + len(FIELDS[kind]),
            "maxItems": 3 + len(FIELDS[kind]),
        }
        for number, kind in enumerate(NODE_TYPES)
    ]
    schema["$defs"]["Node"] = {"anyOf": nodes}
    schema["$defs"]["SyntaxEntry"]["properties"]["syntax"] = {"$ref": "#/$defs/Node"}


_PLACE: Final = ({"title": "start", "type": "integer"}, {"title": "end", "type": "integer"})


def _fields(kind: type[Node]) -> list[Schema]:
    """Fields by name, and by type as it is written in the code."""
    declared = kind.__dataclass_fields__
    return [{"title": name, "description": _spelling(declared[name].type)} for name in FIELDS[kind]]


def _spelling(kind: Any) -> str:
    return kind if isinstance(kind, str) else getattr(kind, "__name__", str(kind))


class Meaning(TypedDict):
    """``plain``: attributes as they are; ``marked``: those with marks for references and unknown values."""

    start: tuple[str, ...]
    order: tuple[str, ...]
    plain: Mapping[str, Any]
    marked: Mapping[str, Any]
    dependencies: tuple[str, ...]
    bound: tuple[BoundPlace, ...]
    lifecycle: bool
    owner: Owner | None


class KeptBlock(TypedDict):
    """``code``: the digest of the code that evaluates it; ``sees``: that of the blocks which it names."""

    code: str
    sees: str
    meaning: Meaning


def with_blocks(schema: Schema) -> None:
    """Each block is a text of its own, which is JSON."""
    block = schema_of(KeptBlock)
    schema["$defs"] = block.pop("$defs")
    content = {"contentMediaType": "application/json", "contentSchema": block}
    schema["additionalProperties"] = {"type": "string", **content}


class GrammarTable(TypedDict):
    """``rules``: name, number of symbols, whether one child takes its place, origin; ``states``: the next
    state of a symbol, or -1 less the number of the rule.
    """

    digest: str
    start: int
    end: int
    rules: tuple[tuple[Any, ...], ...]
    states: tuple[Mapping[str, int], ...]


class LockedJar(TypedDict):
    sha256: str


class JarLock(TypedDict):
    """The blocks by their type and label."""

    jar: Mapping[str, LockedJar]


class Starts(TypedDict):
    """``times``: UTC ms by input, None for the beginning; ``seeded``: what prepared the
    generation, while no query has begun in it.
    """

    times: Mapping[str, int | None]
    seeded: NotRequired[Mapping[str, Any]]
