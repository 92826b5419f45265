"""What syntax refers to, found without evaluating anything."""

from collections.abc import Iterator
from decimal import Decimal
from typing import TypeAlias

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.lang.later_body import LaterBody
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
    while not isinstance(at, Variable):
        match at:
            case GetAttribute(source=source, name=name):
                steps.append(name)
            case Index(source=source, key=key):
                steps.append(_known_key(key))
                if steps[-1] is None:
                    yield from _walk(key, bound)
            case Splat(source=source, steps=inner):
                steps.append(None)
                for step in inner:
                    if isinstance(step, Node):
                        yield from _walk(step, bound)
            case Parentheses(inner=source):
                pass
            case _:
                yield from _walk(at, bound)
                return
        at = source
    if at.name not in bound:
        yield Traversal(
            origin=at.origin, start=at.start, end=node.end, root=at.name, steps=tuple(reversed(steps))
        )


def _known_key(key: Node) -> TraversalStep:
    match key:
        case Literal(value=str(text)):
            return text
        case Literal(value=Decimal() as number) if number == number.to_integral_value():
            return int(number)
        case _:
            return None
