"""Makes syntax nodes from the grammar's reductions, and refuses what HCL refuses although python-hcl2's
grammar takes it: several attributes on a line, an attribute set twice, labels with interpolation.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise, takewhile
from typing import Any, Final, NamedTuple, TypeAlias

from flareiac.kernel import codes
from flareiac.kernel.codes import Code
from flareiac.lang.origin import Origin
from flareiac.lang.syntax import (
    AttributeNode,
    Binary,
    BlockNode,
    Body,
    Call,
    Conditional,
    Expression,
    ForObject,
    ForTuple,
    GetAttribute,
    Index,
    Label,
    Literal,
    ObjectConstructor,
    ObjectItem,
    Parentheses,
    Splat,
    SplatStep,
    SplatSteps,
    Template,
    TupleConstructor,
    Unary,
    Variable,
    literal_text,
)
from flareiac.lang.syntax_errors import InvalidSyntax
from flareiac.lang.template_parts import Mark, Text, assemble
from flareiac.lang.tokens import Token
from flareiac.lang.values import written_number

Part: TypeAlias = Any
"""The value of a symbol of the grammar: a token, a node, a list to be spliced, or None for newlines. The
grammar knows which, and types cannot express it: handlers are called with what their rule holds.
"""
_CONSTANTS: Final = {"true": True, "false": False, "null": None}
_LONGEST_CHAIN: Final = 200


class Step(NamedTuple):
    """One step after an expression: an attribute's name, or the key of an index."""

    take: Expression | str
    start: int
    end: int
    bracketed: bool = False


class Tail(NamedTuple):
    """A splat operator with the steps that the grammar gives to it."""

    operator: Token
    steps: tuple[Step, ...]


class Builder:
    """Handlers by rule name for one piece of text, each called with the values of its symbols. ``problems``
    collects what is wrong without stopping the reading.
    """

    def __init__(self, text: str, origin: Origin) -> None:
        self.text, self.origin = text, origin
        self.problems: list[InvalidSyntax] = []
        self.chains: dict[int, int] = {}
        self.handlers: dict[str, Callable[..., Part]] = {
            "start": lambda *items: self.body(items, 0, len(text)),
            "body": _list,
            "attribute": self.attribute,
            "block": self.block,
            "new_line_or_comment": lambda *_newlines: None,
            "identifier": self.word,
            "keyword": self.word,
            "literal_value": self.constant,
            "int_lit": self.number,
            "float_lit": self.number,
            "string": self.string,
            "string_part": _first,
            "interpolation": self.mark,
            "template_if_start": self.mark,
            "template_else": self.mark,
            "template_endif": self.mark,
            "template_for_start": self.mark,
            "template_endfor": self.mark,
            "conditional": self.conditional,
            "binary_op": self.binary,
            "binary_term": _list,
            "binary_operator": _first,
            "unary_op": self.unary,
            "expr_term": self.parentheses,
            "tuple": self.tuple_constructor,
            "object": self.object_constructor,
            "object_elem": self.object_item,
            "function_call": self.call,
            "arguments": _list,
            "index_expr_term": self.step,
            "get_attr_expr_term": self.step,
            "attr_splat_expr_term": self.splat,
            "full_splat_expr_term": self.splat,
            "braces_index": lambda opened, key, closed: Step(key, opened.start, closed.end, True),
            "short_index": lambda dot, key: Step(self.number(key), dot.start, key.end),
            "get_attr": lambda dot, name: Step(self.written(name), dot.start, name.end),
            "attr_splat": lambda operator, *steps: Tail(operator, steps),
            "full_splat": lambda operator, *steps: Tail(operator, steps),
            "for_tuple_expr": self.for_tuple,
            "for_object_expr": self.for_object,
            "for_intro": _list,
            "for_cond": _list,
        }

    def written(self, part: Part) -> str:
        return self.text[part.start : part.end]

    def complain(self, code: Code, detail: str, start: int, end: int) -> None:
        self.problems.append(InvalidSyntax(code, detail, start, end))

    def word(self, token: Token) -> Variable:
        return Variable(self.origin, token.start, token.end, name=token.text)

    def constant(self, token: Token) -> Literal:
        return Literal(self.origin, token.start, token.end, value=_CONSTANTS[token.text])

    def number(self, token: Token) -> Literal:
        try:
            value = written_number(token.text)
        except ValueError as error:
            detail = f"This number cannot be used: {error}."
            self.complain(codes.NUMBER_OUT_OF_RANGE, detail, token.start, token.end)
            value = Decimal(0)
        return Literal(self.origin, token.start, token.end, value=value)

    # Bodies

    def attribute(self, name: Variable, _equals: Token, expr: Expression) -> AttributeNode:
        return AttributeNode(self.origin, name.start, expr.end, name=self.written(name), expr=expr)

    def block(self, *values: Part) -> BlockNode:
        brace = _kinds(values).index("LBRACE")
        name, *labels = values[:brace]
        opened, *items, closed = values[brace:]
        if "\n" in self.text[values[brace - 1].end : opened.start]:
            detail = "The opening brace stands on the line of the block's header."
            self.complain(codes.INVALID_BLOCK, detail, opened.start, opened.end)
        self.check_braces(items, opened, closed)
        return BlockNode(
            self.origin,
            name.start,
            closed.end,
            type=self.written(name),
            label_nodes=tuple(self.label(part) for part in labels),
            body=self.body(items, opened.start, closed.end),
        )

    def label(self, part: Variable | Literal | Template) -> Label:
        text = literal_text(part)
        if isinstance(part, Template) or self.text.startswith("<<", part.start):
            detail = "A block's label is a plain string or a name, without interpolation."
            self.complain(codes.INVALID_BLOCK, detail, part.start, part.end)
            text = ""
        return Label(self.origin, part.start, part.end, text=self.written(part) if text is None else text)

    def check_braces(self, items: list[AttributeNode | BlockNode], opened: Token, closed: Token) -> None:
        """A block of one line holds one attribute at most; in any other, every item stands on lines of its
        own.
        """
        if not items:
            return
        first, last = items[0], items[-1]
        ends_line = "\n" in self.text[last.end : closed.start]
        if "\n" in self.text[opened.end : first.start]:
            if not ends_line:
                self.missing_newline(last, closed.start)
        elif len(items) > 1 or isinstance(first, BlockNode):
            detail = (
                "A block written on one line may hold one attribute only. Begin a new line after the opening "
                "brace."
            )
            self.complain(codes.INVALID_BLOCK, detail, first.start, last.end)
        elif ends_line:
            detail = (
                "A block that begins with an attribute on its first line ends on that line. Begin a new line "
                "after the opening brace."
            )
            self.complain(codes.INVALID_BLOCK, detail, closed.start, closed.end)

    def missing_newline(self, node: AttributeNode | BlockNode, start: int) -> None:
        what = "An attribute" if isinstance(node, AttributeNode) else "A block"
        self.complain(codes.MISSING_NEWLINE, f"{what} ends with its line.", start, start + 1)

    def body(self, items: Sequence[AttributeNode | BlockNode], start: int, end: int) -> Body:
        attributes: dict[str, AttributeNode] = {}
        for before, node in pairwise(items):
            if "\n" not in self.text[before.end : node.start]:
                self.missing_newline(before, node.start)
        for node in items:
            if (
                isinstance(node, AttributeNode)
                and (first := attributes.setdefault(node.name, node)) is not node
            ):
                detail = f'"{node.name}" was already set on line {first.span.start.line}.'
                self.complain(codes.ATTRIBUTE_SET_TWICE, detail, node.start, node.start + len(node.name))
        return Body(
            self.origin,
            start,
            end,
            attributes=tuple(attributes.values()),
            blocks=tuple(node for node in items if isinstance(node, BlockNode)),
        )

    # Expressions

    def lengthen(self, left: Expression, end: int) -> None:
        """Counts a chain such as ``a + b + c``, whose tree is as deep as the chain is long. Raises where that
        gets out of hand.
        """
        count = self.chains[left.start] = self.chains.get(left.start, 0) + 1
        if count > _LONGEST_CHAIN:
            detail = f"More than {_LONGEST_CHAIN} steps in a row; split it with local values."
            raise InvalidSyntax(codes.TOO_DEEP, detail, left.start, end)

    def parentheses(self, opened: Token, inner: Expression, closed: Token) -> Parentheses:
        return Parentheses(self.origin, opened.start, closed.end, inner=inner)

    def unary(self, token: Token, operand: Expression) -> Unary:
        return Unary(self.origin, token.start, operand.end, operator=token.text, operand=operand)

    def binary(self, left: Expression, token: Token, right: Expression) -> Binary:
        self.lengthen(left, right.end)
        return Binary(self.origin, left.start, right.end, operator=token.text, left=left, right=right)

    def conditional(self, *values: Part) -> Conditional:
        condition, then, otherwise = _nodes(values)
        return Conditional(
            self.origin, condition.start, otherwise.end, condition=condition, then=then, otherwise=otherwise
        )

    def step(self, source: Expression, step: Step) -> GetAttribute | Index:
        self.lengthen(source, step.end)
        if isinstance(step.take, str):
            return GetAttribute(self.origin, source.start, step.end, source=source, name=step.take)
        return Index(self.origin, source.start, step.end, source=source, key=step.take)

    def splat(self, source: Expression, tail: Tail) -> Expression:
        """``.*`` takes attributes and legacy indexes only; what follows an index in brackets applies to the
        whole result.
        """
        operator, steps = tail
        inside, is_full = steps, operator.text == "[*]"
        end = steps[-1].end if steps else operator.end
        self.lengthen(source, end)
        if not is_full:
            if isinstance(source, Splat) and self.text.startswith(".", source.source.end):
                detail = "A splat inside of .* is not possible; use [*]."
                self.complain(codes.UNSUPPORTED_INDEX, detail, operator.start, end)
            inside = tuple(takewhile(lambda step: not step.bracketed, steps))
        last: Step | Token = inside[-1] if inside else operator
        taken = tuple(step.take for step in inside)
        if is_full and isinstance(source, Splat) and self.text.startswith("[", source.source.end):
            inner = SplatStep(self.origin, operator.start, last.end, steps=taken)
            result: Expression = replace(source, end=last.end, steps=_deepened(source.steps, inner))
        else:
            result = Splat(self.origin, source.start, last.end, source=source, steps=taken)
        for step in steps[len(inside) :]:
            result = self.step(result, step)
        return result

    def tuple_constructor(self, *values: Part) -> TupleConstructor:
        return TupleConstructor(self.origin, values[0].start, values[-1].end, items=tuple(_nodes(values)))

    def object_constructor(self, *values: Part) -> ObjectConstructor:
        items = [part for part in values if isinstance(part, ObjectItem)]
        for before, member in pairwise(items):
            gap = self.text[before.end : member.start]
            if "\n" not in gap and "," not in gap:
                detail = "Items of an object are separated by a comma or a newline."
                self.complain(codes.MISSING_NEWLINE, detail, member.start, member.start + 1)
        return ObjectConstructor(self.origin, values[0].start, values[-1].end, items=tuple(items))

    def object_item(self, key: Expression, _equals: Token, value: Expression) -> ObjectItem:
        if isinstance(key, GetAttribute | Index | Splat):
            detail = (
                "To use the value of this expression as the key, put it in parentheses; to use its text, in "
                "quotes."
            )
            self.complain(codes.AMBIGUOUS_KEY, detail, key.start, key.end)
        if isinstance(key, Literal) and not isinstance(key.value, str | Decimal):
            key = Variable(self.origin, key.start, key.end, name=self.written(key))
        return ObjectItem(self.origin, key.start, value.end, key=key, value=value)

    def call(self, *values: Part) -> Call:
        kinds = _kinds(values)
        opened = kinds.index("LPAR")
        return Call(
            self.origin,
            values[0].start,
            values[-1].end,
            name="::".join(part.name for part in _nodes(values[:opened])),
            arguments=tuple(_nodes(values[opened:])),
            expand="ELLIPSIS" in kinds,
        )

    def for_tuple(self, *values: Part) -> ForTuple:
        key_name, value_name, (collection, result, *condition) = self.loop(values)
        return ForTuple(
            self.origin,
            values[0].start,
            values[-1].end,
            key_name=key_name,
            value_name=value_name,
            collection=collection,
            result=result,
            condition=next(iter(condition), None),
        )

    def for_object(self, *values: Part) -> ForObject:
        key_name, value_name, (collection, result_key, result, *condition) = self.loop(values)
        return ForObject(
            self.origin,
            values[0].start,
            values[-1].end,
            key_name=key_name,
            value_name=value_name,
            collection=collection,
            result_key=result_key,
            result=result,
            condition=next(iter(condition), None),
            group="ELLIPSIS" in _kinds(values),
        )

    def loop(self, values: Sequence[Part]) -> tuple[str | None, str, list[Part]]:
        """The names and the expressions of a ``for`` expression."""
        first, *nodes = _nodes(values)
        if "COMMA" in _kinds(values):
            return self.written(first), self.written(nodes[0]), nodes[1:]
        return None, self.written(first), nodes

    # Templates

    def mark(self, *values: Part) -> Mark:
        nodes, kinds = _nodes(values), _kinds(values)
        word = next((word for word in ("IF", "ELSE", "ENDIF", "FOR", "ENDFOR") if word in kinds), "").lower()
        return Mark(
            word=word,
            expr=nodes[-1] if nodes else None,
            names=tuple(self.written(node) for node in nodes[:-1]),
            trim_before=values[0].text.endswith("~"),
            trim_after=values[-1].text.startswith("~"),
            start=values[0].start,
            end=values[-1].end,
        )

    def string(self, opened: Token, *values: Part) -> Literal | Template:
        *inside, closed = values
        pieces = [Text(text=part.text) if isinstance(part, Token) else part for part in inside]
        match assemble(pieces, opened.text, self.origin):
            case ():
                return Literal(self.origin, opened.start, closed.end, value="")
            case (str() as text,):
                return Literal(self.origin, opened.start, closed.end, value=text)
            case parts:
                return Template(self.origin, opened.start, closed.end, parts=parts)


def _first(value: Part) -> Part:
    return value


def _list(*values: Part) -> list[Part]:
    return list(values)


def _nodes(values: Sequence[Part]) -> list[Part]:
    return [part for part in values if not isinstance(part, Token)]


def _kinds(values: Sequence[Part]) -> list[str]:
    """The name of each terminal; empty for a node."""
    return [part.kind if isinstance(part, Token) else "" for part in values]


def _deepened(steps: SplatSteps, step: SplatStep) -> SplatSteps:
    """The steps of a splat with one more splat inside the last of those that it holds."""
    if steps and isinstance(last := steps[-1], SplatStep):
        return (*steps[:-1], replace(last, end=step.end, steps=_deepened(last.steps, step)))
    return (*steps, step)
