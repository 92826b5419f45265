"""Keys that an object-typed setting does not have. ``convert`` drops them, as cty does; in a setting they are
a mistake.
"""

from collections.abc import Iterator, Mapping

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostic, did_you_mean, error
from flareiac.kernel.lazy_dataclass import dataclass
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
from flareiac.lang.values import Resource, Value, contains_sensitive, object_value
from flareiac.sdk.schema import Attribute


@dataclass(frozen=True, slots=True, kw_only=True)
class _UnknownKey:
    path: Path
    known: tuple[str, ...]
    hidden: bool


def unknown_keys(node: AttributeNode, value: Value, schema: Attribute, path: Path) -> Iterator[Diagnostic]:
    """One complaint for each key, at any depth, that the type of the attribute at ``path`` does not have."""
    for unknown_key in _walk(value, schema.type, (), hidden=value.sensitive):
        owner = render_path((*path, *unknown_key.path[:-1]))
        here = f"Keys here: {', '.join(unknown_key.known)}."
        key = str(unknown_key.path[-1])
        if unknown_key.hidden:
            what, hint = f"{owner} has a key that does not exist.", ""
        else:
            instead = schema.instead.get(key, "") if len(unknown_key.path) == 1 else ""
            what, hint = (
                f'There is no key "{key}" in {owner}.',
                instead or did_you_mean(key, unknown_key.known).strip(),
            )
        yield error(
            codes.UNKNOWN_ATTRIBUTE,
            f"{what} {hint or here}",
            subject=_place(node.expr, unknown_key.path).span,
            context=node.span,
            attribute=path if unknown_key.hidden else (*path, *unknown_key.path),
        )


def _walk(value: Value, wanted: Type, path: Path, *, hidden: bool) -> Iterator[_UnknownKey]:
    if isinstance(value.raw, Resource) and isinstance(wanted, ObjectType):
        value = object_value(value.raw.attributes)
    is_object = isinstance(wanted, ObjectType) and isinstance(value.raw, Mapping)
    types = _inside(value, wanted)
    for step, part in value.parts if is_object or types else ():
        if step in types:
            secret = contains_sensitive(part) if isinstance(wanted, ListType | SetType) else part.sensitive
            yield from _walk(part, types[step], (*path, step), hidden=hidden or secret)
        elif is_object:
            yield _UnknownKey(path=(*path, step), known=tuple(map(str, types)), hidden=hidden)


def _inside(value: Value, wanted: Type) -> Mapping[int | str, Type]:
    """The wanted type of each part, where value and type are of one shape."""
    match wanted, value.raw:
        case ObjectType(attributes), Mapping():
            return dict(attributes.items())
        case MapType(element), Mapping():
            return dict.fromkeys(value.raw, element)
        case ((ListType(element) | SetType(element)), tuple()):
            return dict.fromkeys(range(len(value.raw)), element)
        case TupleType(elements), tuple():
            return dict(enumerate(elements))
        case _:
            return {}


def _place(expr: Expression, path: Path) -> Node:
    """The key where it is written, or the innermost expression that is known to lead to it."""
    at: Expression = expr
    for index, step in enumerate(path):
        while isinstance(at, Parentheses):
            at = at.inner
        if isinstance(at, ObjectConstructor):
            member = next((candidate for candidate in at.items if candidate.name == step), None)
            if member is None:
                return at
            if index == len(path) - 1:
                return member.key
            at = member.value
        elif isinstance(at, TupleConstructor) and isinstance(step, int) and step < len(at.items):
            at = at.items[step]
        else:
            return at
    return at
