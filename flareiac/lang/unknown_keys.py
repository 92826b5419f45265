"""Keys that an object-typed setting does not have. ``convert`` drops them, as cty does; in a setting they are
a mistake.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostic, did_you_mean, error
from flareiac.kernel.paths import Path, render_path
from flareiac.kernel.types import ListType, MapType, ObjectType, SetType, TupleType, Type
from flareiac.lang.syntax import (
    AttributeNode,
    Expression,
    Node,
    ObjectConstructor,
    Parentheses,
    TupleConstructor,
)
from flareiac.lang.values import Resource, Value, contains_sensitive


@dataclass(frozen=True, slots=True, kw_only=True)
class _UnknownKey:
    path: Path
    known: tuple[str, ...]
    hidden: bool


def unknown_keys(node: AttributeNode, value: Value, wanted: Type, path: Path) -> Iterator[Diagnostic]:
    """One complaint for each key, at any depth, that the type of the attribute at ``path`` does not have."""
    for found in _walk(value, wanted, (), hidden=value.sensitive):
        owner = render_path((*path, *found.path[:-1]))
        here = f"Keys here: {', '.join(found.known)}."
        key = str(found.path[-1])
        what = (
            f"{owner} has a key that does not exist."
            if found.hidden
            else f'There is no key "{key}" in {owner}.'
        )
        yield error(
            codes.UNKNOWN_ATTRIBUTE,
            f"{what} {(not found.hidden and did_you_mean(key, found.known).strip()) or here}",
            subject=_place(node.expr, found.path).span,
            context=node.span,
            attribute=path if found.hidden else (*path, *found.path),
        )


def _walk(value: Value, wanted: Type, path: Path, *, hidden: bool) -> Iterator[_UnknownKey]:
    raw = (
        value.raw.attributes
        if isinstance(value.raw, Resource) and isinstance(wanted, ObjectType)
        else value.raw
    )
    match wanted:
        case ObjectType(attributes) if isinstance(raw, Mapping):
            for key in raw:
                if key in attributes:
                    yield from _walk(
                        raw[key], attributes[key], (*path, key), hidden=hidden or raw[key].sensitive
                    )
                else:
                    yield _UnknownKey(path=(*path, key), known=tuple(attributes), hidden=hidden)
        case MapType(element) if isinstance(raw, Mapping):
            for key, item in raw.items():
                yield from _walk(item, element, (*path, key), hidden=hidden or item.sensitive)
        case ListType(element) | SetType(element) if isinstance(raw, tuple):
            for index, item in enumerate(raw):
                yield from _walk(item, element, (*path, index), hidden=hidden or contains_sensitive(item))
        case TupleType(elements) if isinstance(raw, tuple):
            for index, (item, element) in enumerate(zip(raw, elements, strict=False)):
                yield from _walk(item, element, (*path, index), hidden=hidden or item.sensitive)
        case _:
            return


def _place(expr: Expression, path: Path) -> Node:
    """The key where it is written, or the innermost expression that is known to lead to it."""
    at: Expression = expr
    for index, step in enumerate(path):
        while isinstance(at, Parentheses):
            at = at.inner
        if isinstance(at, ObjectConstructor):
            item = next((item for item in at.items if item.name == step), None)
            if item is None:
                return at
            if index == len(path) - 1:
                return item.key
            at = item.value
        elif isinstance(at, TupleConstructor) and isinstance(step, int) and step < len(at.items):
            at = at.items[step]
        else:
            return at
    return at
