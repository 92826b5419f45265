"""Schemas as data: what users may write. Decoding, suggestions, ``explain``, the reference page are readings
of these records.
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import StrEnum
from typing import TypeAlias

from flareiac.kernel.data import Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.types import Type
from flareiac.sdk.on_change import OnChange

Pattern: TypeAlias = tuple[str | int | None, ...]
"""A path in which None stands for any key or index."""

Validator: TypeAlias = Callable[[Data], str | None]
"""Takes a known, non-null value and returns what is wrong with it as a sentence, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """One attribute. ``default`` is for the reader (the planner applies it): absent attributes decode to
    None.

    ``on_change`` says what a change does to what is there; None where only the resource as a whole can tell.
    ``only_with``: a connection that is left out is filled in only where one of these blocks is written.
    ``exact``: numbers that a float would round arrive as ``Decimal``; otherwise as the nearest float.
    """

    type: Type
    description: str
    required: bool = False
    computed: bool = False
    sensitive: bool = False
    default: Data = None
    validators: tuple[Validator, ...] = ()
    on_change: OnChange | None = None
    unit: str = ""
    since: str = "0.1"
    only_with: tuple[str, ...] = ()
    exact: bool = False
    instead: Mapping[str, str] = field(default_factory=dict, hash=False)
    """By a key that readers look for in an object and that it does not have: a sentence that says what to
    write.
    """


class Nesting(StrEnum):
    SINGLE = "single"
    """At most one block, no label; decodes to a dict or None."""
    LIST = "list"
    """Any number, no label; decodes to a list of dicts, in source order."""
    MAP = "map"
    """Any number, one label each, labels unique; decodes to a dict of dicts by label, in source order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The body of a block: attributes, nested blocks, and groups of names of which exactly one must be
    present.

    A body decodes to one dict: every attribute of the schema by name (None when absent) and every nested
    block by its name.
    """

    description: str = ""
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    blocks: Mapping[str, "NestedBlock"] = field(default_factory=dict)
    exactly_one_of: tuple[tuple[str, ...], ...] = ()
    instead: Mapping[str, str] = field(default_factory=dict, hash=False)
    """By an attribute or block that readers look for in vain: a sentence that says what to write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedBlock:
    """A block type inside a body."""

    nesting: Nesting
    block: Block
    required: bool = False
    any_label: bool = False
    """The label is what something outside is called (a column, a branch), which the resource checks;
    otherwise it is a name.
    """


def sensitive_paths(schema: Block | None) -> tuple[Pattern, ...]:
    """The places of all sensitive attributes of a body."""
    if schema is None:
        return ()
    patterns: list[Pattern] = [
        (name,) for name, attribute in schema.attributes.items() if attribute.sensitive
    ]
    for name, nested in schema.blocks.items():
        step: Pattern = (name,) if nested.nesting is Nesting.SINGLE else (name, None)
        patterns.extend((*step, *inner) for inner in sensitive_paths(nested.block))
    return tuple(patterns)
