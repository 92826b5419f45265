"""What syntax refers to, found without evaluating anything."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from flareiac.kernel.sources import Span
from flareiac.lang.origin import Origin
from flareiac.lang.syntax import (
    BlockNode,
    ForObject,
    ForTuple,
    GetAttribute,
    Index,
    Literal,
    Node,
    ObjectItem,
    Parentheses,
    Splat,
    TemplateFor,
    Variable,
    children,
    literal_text,
)

TraversalStep: TypeAlias = str | int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Traversal:
    """A root symbol and the steps from it; a step is None where only evaluation can tell (an index by an
    expression, a splat).
    """

    root: str
    steps: tuple[TraversalStep, ...]
    origin: Origin
    start: int
    end: int

    @property
    def span(self) -> Span:
        return self.origin.span(self.start, self.end)

    def __str__(self) -> str:
        shown = [self.root]
        for step in self.steps:
            if isinstance(step, int):
                shown.append(f"[{step}]")
            else:
                shown.append("[...]" if step is None else f".{step}")
        return "".join(shown)


def references(node: Node) -> list[Traversal]:
    """Every traversal inside a node, in source order; names bound by ``for`` and by ``dynamic`` blocks are
    left out.
    """
    try:
        found = list(_walk(node, frozenset()))
    except RecursionError:
        return []  # evaluation says so with a span
    found.sort(key=lambda item: (item.origin.base + item.start, item.origin.base + item.end))
    return found


def _walk(node: Node, bound: frozenset[str]) -> Iterator[Traversal]:
    match node:
        case Variable() | GetAttribute() | Index() | Splat():
            yield from _traversal(node, bound)
        case ForTuple() | ForObject() | TemplateFor():
            inside = bound | {node.value_name} | ({node.key_name} if node.key_name else set())
            for child in children(node):
                yield from _walk(child, bound if child is node.collection else inside)
        case ObjectItem(key=key, value=value):
            if not isinstance(key, Variable):
                yield from _walk(key, bound)
            yield from _walk(value, bound)
        case BlockNode(type="dynamic"):
            yield from _dynamic(node, bound)
        case _:
            for child in children(node):
                yield from _walk(child, bound)


def _dynamic(node: BlockNode, bound: frozenset[str]) -> Iterator[Traversal]:
    inside = bound | {node.iterator}
    for attribute in node.body.attributes:
        if attribute.name != "iterator":
            yield from _walk(attribute, inside if attribute.name == "labels" else bound)
    for block in node.body.blocks:
        yield from _walk(block, inside)


def _traversal(node: Node, bound: frozenset[str]) -> Iterator[Traversal]:
    """The traversal that ends at this node, and those inside its indexes."""
    steps: list[TraversalStep] = []
    at: Node = node
    while True:
        match at:
            case GetAttribute(source=source, name=name):
                steps.append(name)
                at = source
            case Index(source=source, key=key):
                steps.append(_known_key(key))
                if steps[-1] is None:
                    yield from _walk(key, bound)
                at = source
            case Splat(source=source, steps=inner):
                for step in inner:
                    if not isinstance(step, str):
                        yield from _walk(step, bound)
                steps.append(None)
                at = source
            case Parentheses(inner=source):
                at = source
            case Variable(name=name):
                if name not in bound:
                    yield Traversal(
                        root=name,
                        steps=tuple(reversed(steps)),
                        origin=at.origin,
                        start=at.start,
                        end=node.end,
                    )
                return
            case _:
                yield from _walk(at, bound)
                return


def _known_key(key: Node) -> TraversalStep:
    if isinstance(key, Literal):
        if isinstance(key.value, Decimal):
            return int(key.value) if key.value == key.value.to_integral_value() else None
        return literal_text(key)
    return None
