"""Blocks, attributes and functions as Markdown, read from the records that also validate. Pure."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from flareiac.kernel.data import canonical
from flareiac.lang.functions import by_group
from flareiac.lang.functions.provided import adapt
from flareiac.lang.functions.signature import Builtin
from flareiac.sdk.provider import Function
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.schema import Attribute, Block, NestedBlock, Nesting

_WIDTH: Final = 120
_GENERATED: Final = (
    "Generated from the schemas. `flareiac explain BLOCK` and `flareiac explain "
    "BLOCK.ATTRIBUTE` print the same text.\nThe page changes.md explains the classes of changes."
)


def reference_page(provider: str, types: Mapping[str, ResourceType], functions: Iterable[Function]) -> str:
    """The page of one provider: all its block types and functions."""
    parts = [f"# Reference of the provider {provider}\n\n{_GENERATED}\n"]
    parts += [
        block_text(kind)
        for _name, kind in sorted(types.items(), key=lambda named_kind: (named_kind[1].kind, named_kind[0]))
    ]
    if listed := [adapt(function) for function in sorted(functions, key=lambda function: function.name)]:
        parts.append("## Functions\n\n" + "".join(map(function_entry, listed)))
    return "\n".join(parts)


def functions_page() -> str:
    """The page of the language's own functions, by group."""
    head = "# Functions\n\nGenerated from the functions. `flareiac explain FUNCTION` prints one of them.\n"
    groups = by_group(Path()).items()
    return "\n".join(
        [head, *(f"## {title}\n\n" + "".join(map(function_entry, functions)) for title, functions in groups)]
    )


def block_text(kind: ResourceType) -> str:
    """One block type with everything inside it."""
    head = f"## `{kind.name}`\n\n" + _paragraph(f"{kind.description} ({kind.kind.value.capitalize()} block.)")
    computed = ""
    if kind.computed:
        computed = "\n" + _paragraph(f"Known after apply: {', '.join(f'`{key}`' for key in kind.computed)}.")
    return head + "\n" + _body(kind.schema, f"{kind.name}.") + computed


def nested_text(path: str, nested: NestedBlock) -> str:
    """A block inside a block, with everything inside it."""
    return "\n".join(_nested(path, nested))


def attribute_text(path: str, attribute: Attribute) -> str:
    """One attribute alone."""
    return f"## `{path}`\n\n{_paragraph(f'Type: {_kind(attribute)}.')}\n{_paragraph(sentences(attribute))}"


def function_text(function: Builtin) -> str:
    """One function alone."""
    return f"## `{function.signature}`\n\n{_paragraph(function.description)}"


def function_entry(function: Builtin) -> str:
    """One function as an item of a list."""
    return _listed(f"`{function.signature}`: {function.description}")


def _body(schema: Block, prefix: str) -> str:
    parts = [
        "".join(
            _listed(f"`{name}` ({_kind(attribute)}): {sentences(attribute)}")
            for name, attribute in schema.attributes.items()
        )
    ]
    parts += [
        _paragraph(f"Exactly one of {', '.join(f'`{name}`' for name in group)} is required.")
        for group in schema.exactly_one_of
    ]
    for name, nested in schema.blocks.items():
        parts.extend(_nested(prefix + name, nested))
    return "\n".join(filter(None, parts))


def _nested(path: str, nested: NestedBlock) -> Iterator[str]:
    label = ' "name"' if nested.nesting is Nesting.MAP else ""
    often = "" if nested.nesting is Nesting.SINGLE else ", repeatable"
    yield f"### `{path}{label} {{ }}`{often}\n"
    yield _paragraph(nested.block.description)
    yield _body(nested.block, f"{path}.")


def _kind(attribute: Attribute) -> str:
    return f"{attribute.type}, required" if attribute.required else str(attribute.type)


def sentences(attribute: Attribute) -> str:
    """Returns what is said of an attribute: its description, its default, and what a change does."""
    parts = [attribute.description]
    if attribute.default is not None:
        parts.append(f"Default: `{canonical(attribute.default)}`.")
    if attribute.on_change is not None:
        parts.append(f"A change: {attribute.on_change}.")
    return " ".join(part for part in parts if part)


def _paragraph(text: str) -> str:
    return textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False) + "\n"


def _listed(text: str) -> str:
    return (
        textwrap.fill(
            text,
            _WIDTH,
            initial_indent="- ",
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        + "\n"
    )
