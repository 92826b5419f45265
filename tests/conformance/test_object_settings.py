"""A setting that is an object has the keys of its type and no others, in every block of every provider."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from flareiac.app.discovery import installed
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Source
from flareiac.kernel.types import (
    AnyType,
    BoolType,
    ListType,
    MapType,
    NumberType,
    ObjectType,
    RefType,
    SetType,
    TupleType,
    Type,
)
from flareiac.lang.decode import decode_body
from flareiac.lang.functions import functions
from flareiac.lang.parse import parse_file
from flareiac.lang.scope import Scope
from flareiac.lang.values import Value, from_data, lazy_object
from flareiac.sdk.schema import Attribute, Block

REGISTRY = installed().registry
WRONG = "zz_unknown"
OPEN = {"job.step.params", "catalog.properties", "data.state.defaults"}
"""Settings of any shape: what a user's own function gets, what a catalog is given by its own names (texts and
secrets), and values by names of another project's outputs.
"""
CHECKED_LATER = {
    "table.partition_by",
    "table.sort_by",
    "table.compaction.sort_by",
    "table.column.default",
    "catalog.credential",
    "job.output.kafka.headers",
    "stream.kafka.starting_offsets",
    "data.state.config",
}
"""Settings of several shapes that are checked with the rest of their resource: terms of functions, columns
by the names of headers, offsets by partition, values of a column's type, settings of a kind of backend.
"""


def attributes(prefix: str, block: Block) -> Iterator[tuple[str, Block, str, Attribute]]:
    for name, attribute in block.attributes.items():
        yield f"{prefix}.{name}", block, name, attribute
    for name, nested in block.blocks.items():
        yield from attributes(f"{prefix}.{name}", nested.block)


SETTINGS = {
    where: (block, name, item)
    for kind, schema in REGISTRY.schemas.items()
    for where, block, name, item in attributes(kind, schema)
}


def written(wanted: Type) -> str:
    """A value of a type, in HCL."""
    match wanted:
        case ObjectType(inside):
            return "{ " + ", ".join(f"{name} = {written(item)}" for name, item in inside.items()) + " }"
        case MapType(element):
            return "{ a = " + written(element) + " }"
        case ListType(element) | SetType(element):
            return "[" + written(element) + "]"
        case TupleType(elements):
            return "[" + ", ".join(map(written, elements)) + "]"
        case NumberType():
            return "1"
        case BoolType():
            return "true"
        case RefType():
            return "null"
        case _:
            return '"1m"'


def with_unknown_key(wanted: Type) -> Iterator[str]:
    """Values of a type in which one object, at whatever depth, has a key too many."""
    match wanted:
        case ObjectType(inside):
            whole = written(wanted)
            yield whole[:-1].rstrip() + f"{',' if inside else ''} {WRONG} = 1 }}"
            for name, item in inside.items():
                for wrong in with_unknown_key(item):
                    yield (
                        "{ "
                        + ", ".join(
                            f"{other} = {wrong if other == name else written(kind)}"
                            for other, kind in inside.items()
                        )
                        + " }"
                    )
        case MapType(element):
            yield from ("{ a = " + wrong + " }" for wrong in with_unknown_key(element))
        case ListType(element) | SetType(element):
            yield from (f"[{wrong}]" for wrong in with_unknown_key(element))
        case _:
            return


def complaints(block: Block, name: str, text: str) -> Diagnostics:
    diagnostics = Diagnostics()
    body = parse_file(Source("x", f"t {{\n{name} = {text}\n}}\n"), diagnostics, cache=False).blocks[0].body

    def lookup(root: str) -> Value | None:
        return lazy_object({"more": from_data({WRONG: 1})}, "var") if root == "var" else None

    only = Block(attributes={name: block.attributes[name]})
    decode_body(body, only, Scope(lookup=lookup, functions=functions(Path())), diagnostics)
    return diagnostics


OBJECTS = {
    where: found for where, found in SETTINGS.items() if any(True for _ in with_unknown_key(found[2].type))
}


def test_there_are_such_settings() -> None:
    assert {
        "job.trigger",
        "job.output.merge",
        "job.step.dedup",
        "stream.watermark",
        "checkpoint.state_store",
        "engine.driver",
    } <= set(OBJECTS)


@pytest.mark.parametrize("where", OBJECTS)
def test_an_unknown_key_is_refused(where: str) -> None:
    block, name, attribute = OBJECTS[where]
    for text in with_unknown_key(attribute.type):
        for spelling in (
            text,
            f"merge({text}, {{}})",
            f"[{text}][0]",
            f"true ? {text} : null",
            f"jsondecode(jsonencode({text}))",
        ):
            found = complaints(block, name, spelling)
            assert any(item.code == "FIL201" and WRONG in item.detail for item in found), spelling
    found = complaints(block, name, f"merge({written(attribute.type)}, var.more)")
    assert not isinstance(attribute.type, ObjectType) or [item.code for item in found] == ["FIL201"]


@pytest.mark.parametrize("where", OBJECTS)
def test_its_own_keys_are_taken(where: str) -> None:
    block, name, attribute = OBJECTS[where]
    assert not [item for item in complaints(block, name, written(attribute.type)) if item.code == "FIL201"]


def test_a_setting_without_a_type_checks_its_keys_itself() -> None:
    free = {where: found for where, found in SETTINGS.items() if isinstance(found[2].type, AnyType)}
    for where, (block, name, _) in free.items():
        if where not in OPEN | CHECKED_LATER:
            assert complaints(block, name, f"{{ {WRONG} = 1 }}").has_errors, where


def test_the_key_is_marked_and_a_near_one_is_named() -> None:
    block, name, _ = SETTINGS["job.output.merge"]
    (found,) = complaints(block, name, '{ on = ["id"], latestby = "ts" }')
    assert found.detail == 'There is no key "latestby" in merge. Did you mean "latest_by"?'
    assert found.subject is not None
    assert (found.subject.start.line, found.subject.start.column) == (2, 24)


def test_a_sensitive_key_is_not_named() -> None:
    block, name, _ = SETTINGS["job.output.merge"]
    (found,) = complaints(block, name, 'sensitive({ on = ["id"], latestby = "ts" })')
    assert found.code == "FIL201"
    assert "latestby" not in found.detail
