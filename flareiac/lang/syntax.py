"""The nodes of the syntax tree. Two nodes are equal when they say the same, wherever they stand.

python-hcl2 has a tree of its own, which keeps every token and comment, so that a file can be written again.
These nodes keep what evaluation needs, know their place, and are small enough to be cached.
"""

from dataclasses import field
from decimal import Decimal
from typing import TypeAlias

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Span
from flareiac.lang.origin import Origin


@dataclass(frozen=True, slots=True)
class Node:
    """A piece of syntax between two character offsets of its origin."""

    origin: Origin = field(compare=False, repr=False)
    start: int = field(compare=False, repr=False)
    end: int = field(compare=False, repr=False)

    @property
    def span(self) -> Span:
        return self.origin.span(self.start, self.end)


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal(Node):
    """A number, bool, null, or a string without interpolation."""

    value: str | Decimal | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable(Node):
    """A root symbol."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GetAttribute(Node):
    """``source.name``."""

    source: "Expression"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Index(Node):
    """``source[key]`` (or ``source.0``)."""

    source: "Expression"
    key: "Expression"


@dataclass(frozen=True, slots=True, kw_only=True)
class Splat(Node):
    """``source[*]`` or ``source.*`` followed by the steps taken from each element: an attribute's name, or
    the key of an index.
    """

    source: "Expression"
    steps: "SplatSteps"


@dataclass(frozen=True, slots=True, kw_only=True)
class SplatStep(Node):
    """A splat inside a splat: ``[*]`` taken from each element, and the steps after it."""

    steps: "SplatSteps"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Node):
    """A function call; ``expand``: the last argument is followed by ``...``."""

    name: str
    arguments: "tuple[Expression, ...]"
    expand: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Unary(Node):
    operator: str
    operand: "Expression"


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary(Node):
    operator: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditional(Node):
    condition: "Expression"
    then: "Expression"
    otherwise: "Expression"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parentheses(Node):
    inner: "Expression"


@dataclass(frozen=True, slots=True, kw_only=True)
class TupleConstructor(Node):
    items: "tuple[Expression, ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectItem(Node):
    """One ``key = value``; a bare name as key is a ``Variable`` that means its own name."""

    key: "Expression"
    value: "Expression"

    @property
    def name(self) -> str | None:
        """The key where it is a word or a plain string."""
        return self.key.name if isinstance(self.key, Variable) else literal_text(self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectConstructor(Node):
    items: tuple[ObjectItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForTuple(Node):
    """``[for key, value in collection : result if condition]``."""

    key_name: str | None
    value_name: str
    collection: "Expression"
    result: "Expression"
    condition: "Expression | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForObject(Node):
    """``{for key, value in collection : result_key => result if condition}``; ``group``: the result is
    followed by ``...``.
    """

    key_name: str | None
    value_name: str
    collection: "Expression"
    result_key: "Expression"
    result: "Expression"
    condition: "Expression | None"
    group: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateIf(Node):
    """``%{ if condition }...%{ else }...%{ endif }``."""

    condition: "Expression"
    then: "tuple[TemplatePart, ...]"
    otherwise: "tuple[TemplatePart, ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateFor(Node):
    """``%{ for key, value in collection }...%{ endfor }``."""

    key_name: str | None
    value_name: str
    collection: "Expression"
    body: "tuple[TemplatePart, ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Template(Node):
    """A quoted string or heredoc with something to evaluate in it; texts in ``parts`` are final (escapes and
    trimming done).
    """

    parts: "tuple[TemplatePart, ...]"


Expression: TypeAlias = (
    Literal
    | Variable
    | GetAttribute
    | Index
    | Splat
    | Call
    | Unary
    | Binary
    | Conditional
    | Parentheses
    | TupleConstructor
    | ObjectConstructor
    | ForTuple
    | ForObject
    | Template
)
TemplatePart: TypeAlias = str | Expression | TemplateIf | TemplateFor
SplatSteps: TypeAlias = tuple[SplatStep | Expression | str, ...]
Loop: TypeAlias = ForTuple | ForObject | TemplateFor


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeNode(Node):
    """``name = expr``."""

    name: str
    expr: Expression

    @property
    def name_span(self) -> Span:
        return self.origin.span(self.start, self.start + len(self.name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Label(Node):
    """A block label, without quotes."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockNode(Node):
    """``type "label" { ... }``; the header ends before the opening brace."""

    type: str
    label_nodes: tuple[Label, ...]
    body: "Body"

    @property
    def iterator(self) -> str:
        """The name that the element at hand has inside a ``dynamic`` block."""
        written = self.body.attribute("iterator")
        if written is not None and isinstance(written.expr, Variable):
            return written.expr.name
        return self.labels[0] if self.label_nodes else ""

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(label.text for label in self.label_nodes)

    @property
    def type_span(self) -> Span:
        return self.origin.span(self.start, self.start + len(self.type))

    @property
    def header_end(self) -> int:
        return self.label_nodes[-1].end if self.label_nodes else self.start + len(self.type)

    @property
    def header_span(self) -> Span:
        return self.origin.span(self.start, self.header_end)


@dataclass(frozen=True, slots=True, kw_only=True)
class Body(Node):
    """Attributes and blocks, each in source order. A block's body spans its braces."""

    attributes: tuple[AttributeNode, ...]
    blocks: tuple[BlockNode, ...]

    def attribute(self, name: str) -> AttributeNode | None:
        return next((attribute for attribute in self.attributes if attribute.name == name), None)

    def blocks_of(self, type_name: str) -> tuple[BlockNode, ...]:
        return tuple(block for block in self.blocks if block.type == type_name)


def literal_text(expr: Node) -> str | None:
    """The text of a string without interpolation, or None for any other expression."""
    return expr.value if isinstance(expr, Literal) and isinstance(expr.value, str) else None


def children(node: Node) -> list[Node]:
    """The nodes directly inside a node, in source order as far as fields go."""
    nodes: list[Node] = []
    for name in FIELDS[node.__class__]:
        value = getattr(node, name)
        if value.__class__ is tuple:
            nodes += [child for child in value if isinstance(child, Node)]
        elif value.__class__ is not str and isinstance(value, Node):
            nodes.append(value)
    return nodes


NODE_TYPES: tuple[type[Node], ...] = (
    Literal,
    Variable,
    GetAttribute,
    Index,
    Splat,
    SplatStep,
    Call,
    Unary,
    Binary,
    Conditional,
    Parentheses,
    TupleConstructor,
    ObjectItem,
    ObjectConstructor,
    ForTuple,
    ForObject,
    TemplateIf,
    TemplateFor,
    Template,
    AttributeNode,
    Label,
    BlockNode,
    Body,
)
"""Every kind of node; the order is part of the syntax cache's format."""

FIELDS: dict[type[Node], tuple[str, ...]] = {
    kind: tuple(name for name in kind.__dataclass_fields__ if name not in {"origin", "start", "end"})
    for kind in NODE_TYPES
}
"""The fields of each kind of node that say something (not where it stands)."""
