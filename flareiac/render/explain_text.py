"""Explanations as Markdown and as JSON, and the list of what can be explained. Pure."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from flareiac.config.entries import Entry, Page
from flareiac.kernel.data import Attributes
from flareiac.lang.functions.signature import Builtin
from flareiac.render.reference import attribute_text, block_text, function_text, nested_text
from flareiac.sdk.documents import Topic
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.schema import Attribute, NestedBlock

_VERSION: Final = "1.0"


def explain_text(name: str, entry: Entry, also: Sequence[str] = ()) -> str:
    """One explanation as Markdown. ``also``: names that may be meant as well."""
    others = ", ".join(f"`{other}`" for other in also)
    return _text(name, entry).rstrip("\n") + (f"\n\nSee also: {others}.\n" if others else "\n")


def _text(name: str, entry: Entry) -> str:
    match entry:
        case ResourceType():
            return block_text(entry)
        case NestedBlock():
            return nested_text(name, entry)
        case Attribute():
            return attribute_text(name, entry)
        case Builtin():
            return function_text(entry)
        case Topic():
            consequence = f"\n\nConsequence: {entry.consequence}." if entry.consequence else ""
            return f"## `{name}`\n\n{entry.subject}: {entry.title}.\n\n{entry.text}{consequence}\n"
        case Page():
            return entry.text


def explain_json(name: str, entry: Entry, also: Sequence[str] = ()) -> Attributes:
    """One explanation for programs; ``text`` is Markdown."""
    return {
        "format_version": _VERSION,
        "name": name,
        "kind": kind_of(entry),
        "text": explain_text(name, entry, also),
    }


def kind_of(entry: Entry) -> str:
    """Returns the kind of an entry, in one word."""
    match entry:
        case ResourceType() | NestedBlock():
            return "block"
        case Attribute():
            return "attribute"
        case Builtin():
            return "function"
        case Topic():
            return entry.kind
        case Page():
            return entry.kind


def list_text(entries: Mapping[str, Entry]) -> str:
    """Everything that can be explained, as Markdown; attributes and settings are left to their block and
    page.
    """
    listed = {
        name: entry
        for name, entry in sorted(entries.items())
        if "." not in name or not isinstance(entry, Attribute | NestedBlock)
    }
    parts = ["# What `flareiac explain NAME` explains\n", "## Pages\n"]
    parts.append(
        "".join(
            f"- `{name}`: {entry.title}\n"
            for name, entry in listed.items()
            if isinstance(entry, Page) and entry.kind == "page"
        )
    )
    parts += ["## Blocks\n", _names(listed, "block", "section")]
    parts.append("A dot leads inside a block: `table.column.type`.\n")
    parts += ["## Functions\n", _names(listed, "function")]
    parts += ["## More\n", "".join(_kinds(entries))]
    return "\n".join(parts)


def list_json(entries: Mapping[str, Entry]) -> Attributes:
    """The same for programs, with every attribute."""
    return {
        "format_version": _VERSION,
        "entries": [{"name": name, "kind": kind_of(entry)} for name, entry in sorted(entries.items())],
    }


def _names(entries: Mapping[str, Entry], *kinds: str) -> str:
    return _filled(name for name, entry in entries.items() if kind_of(entry) in kinds)


def _kinds(entries: Mapping[str, Entry]) -> Iterator[str]:
    """One line for each kind of which there are too many for this list."""
    topics = sorted(
        (entry for entry in entries.values() if isinstance(entry, Topic)),
        key=lambda topic: (topic.kind, topic.page),
    )
    for (kind, page), same in groupby(topics, key=lambda topic: (topic.kind, topic.page)):
        page_topics = list(same)
        yield f"- {len(page_topics)} {kind}s, such as `{page_topics[0].name}`; the page `{page}` lists them\n"
    codes = [name for name, entry in entries.items() if kind_of(entry) == "code"]
    if codes:
        yield (
            f"- {len(codes)} codes of errors and warnings, such as `{codes[0]}`; the page `codes` lists "
            "them\n"
        )


def _filled(names: Iterator[str]) -> str:
    return (
        textwrap.fill(
            ", ".join(f"`{name}`" for name in names), 100, break_long_words=False, break_on_hyphens=False
        )
        + "\n"
    )
