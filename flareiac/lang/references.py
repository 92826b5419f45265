"""The references in syntax, collected without evaluating anything."""

from collections.abc import Iterator
from decimal import Decimal
from typing import TypeAlias

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.lang.later_body import LaterBody
from flareiac.lang.syntax import (
    BlockNode,
    Call,
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
)

TraversalStep: TypeAlias = str | int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Traversal(Node):
    """A root symbol and the steps from it; a step is None where only evaluation can tell (an index by an
    expression, a splat).
    """

    root: str
    steps: tuple[TraversalStep, ...]

    def __str__(self) -> str:
        return self.root + "".join(map(_step_text, self.steps))


def _step_text(step: TraversalStep) -> str:
    match step:
        case None:
            return "[...]"
        case int():
            return f"[{step}]"
        case str():
            return f".{step}"


def references(node: Node) -> list[Traversal]:
    """Every traversal inside a node, in source order; names bound by ``for`` and by ``dynamic`` blocks are
    left out.
    """
    if isinstance(node, BlockNode) and isinstance(node.body, LaterBody):
        return [
            Traversal(node.origin, start, end, root=root, steps=steps)
            for start, end, root, steps in node.body.mentions
        ]
    traversals: list[Traversal] = []
    try:
        _walk(node, frozenset(), traversals)
    except RecursionError:
        return []  # evaluation says so with a span
    traversals.sort(
        key=lambda traversal: (traversal.origin.base + traversal.start, traversal.origin.base + traversal.end)
    )
    return traversals


def calls(node: Node) -> Iterator[Call]:
    """Every call inside a node."""
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, Call):
            yield inner
        waiting.extend(children(inner))


def _walk(node: Node, bound: frozenset[str], traversals: list[Traversal]) -> None:
    match node:
        case Literal():
            pass
        case Variable() | GetAttribute() | Index() | Splat():
            _traversal(node, bound, traversals)
        case ForTuple() | ForObject() | TemplateFor():
            inside = bound | {node.value_name} | ({node.key_name} if node.key_name else set())
            for child in children(node):
                _walk(child, bound if child is node.collection else inside, traversals)
        case ObjectItem(key=key, value=value):
            if not isinstance(key, Variable):
                _walk(key, bound, traversals)
            _walk(value, bound, traversals)
        case BlockNode(type="dynamic"):
            _dynamic(node, bound, traversals)
        case _:
            for child in children(node):
                _walk(child, bound, traversals)


def _dynamic(node: BlockNode, bound: frozenset[str], traversals: list[Traversal]) -> None:
    inside = bound | {node.iterator}
    for attribute in node.body.attributes:
        if attribute.name != "iterator":
            _walk(attribute, inside if attribute.name == "labels" else bound, traversals)
    for block in node.body.blocks:
        _walk(block, inside, traversals)


def _traversal(node: Node, bound: frozenset[str], traversals: list[Traversal]) -> None:
    """The traversal that ends at this node, and those inside its indexes."""
    steps: list[TraversalStep] = []
    at: Node = node
    while not isinstance(at, Variable):
        match at:
            case GetAttribute(source=source, name=name):
                steps.append(name)
            case Index(source=source, key=key):
                steps.append(literal_key(key))
                if steps[-1] is None:
                    _walk(key, bound, traversals)
            case Splat(source=source, steps=inner):
                steps.append(None)
                for step in inner:
                    if isinstance(step, Node):
                        _walk(step, bound, traversals)
            case Parentheses(inner=source):
                pass
            case _:
                _walk(at, bound, traversals)
                return
        at = source
    if at.name not in bound:
        traversals.append(
            Traversal(
                origin=at.origin, start=at.start, end=node.end, root=at.name, steps=tuple(reversed(steps))
            )
        )


def literal_key(key: Node) -> str | int | None:
    """The key that is written out between brackets; None for one that only evaluation can tell."""
    match key:
        case Literal(value=str(text)):
            return text
        case Literal(value=Decimal() as number) if number == number.to_integral_value():
            return int(number)
        case _:
            return None
