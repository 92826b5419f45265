"""Makes syntax nodes from the grammar's reductions, and refuses what HCL refuses although the grammar takes
it.
"""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
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
)
from flareiac.lang.syntax_errors import SyntaxTrouble
from flareiac.lang.template_parts import Mark, Piece, Text, assemble
from flareiac.lang.tokens import Token
from flareiac.lang.values import written_number

Part: TypeAlias = Any
"""What a symbol of the grammar is worth: a token, a node, a list to be spliced, or None for newlines."""


class Step(NamedTuple):
    """One step after an expression: an attribute's name or an index."""

    name: str | None
    key: Expression | None
    start: int
    end: int
    bracketed: bool = False


class Tail(NamedTuple):
    """A splat operator with the steps that the grammar gives to it."""

    full: bool
    steps: list[Step]
    start: int
    end: int


_LONGEST_CHAIN: Final = 200


class Builder:
    """Handlers by rule name for one piece of text. ``troubles`` collects what is wrong without stopping the
    reading.
    """

    def __init__(self, text: str, origin: Origin) -> None:
        self.text, self.origin = text, origin
        self.troubles: list[SyntaxTrouble] = []
        self.chains: dict[int, int] = {}
        self.handlers: dict[str, Callable[[list[Part]], Part]] = {
            "start": lambda values: self.body(values, 0, len(text)),
            "body": list,
            "attribute": self.attribute,
            "block": self.block,
            "new_line_or_comment": lambda _values: None,
            "identifier": self.word,
            "keyword": self.word,
            "literal_value": self.constant,
            "int_lit": self.number,
            "float_lit": self.number,
            "string": self.string,
            "string_part": lambda values: values[0],
            "interpolation": self.mark,
            "template_if_start": self.mark,
            "template_else": self.mark,
            "template_endif": self.mark,
            "template_for_start": self.mark,
            "template_endfor": self.mark,
            "conditional": self.conditional,
            "binary_op": self.binary,
            "binary_term": list,
            "binary_operator": lambda values: values[0],
            "unary_op": self.unary,
            "expr_term": self.parentheses,
            "tuple": self.tuple_constructor,
            "object": self.object_constructor,
            "object_elem": self.object_item,
            "function_call": self.call,
            "arguments": list,
            "index_expr_term": lambda values: self.step(values[0], values[1]),
            "get_attr_expr_term": lambda values: self.step(values[0], values[1]),
            "attr_splat_expr_term": self.splat,
            "full_splat_expr_term": self.splat,
            "braces_index": lambda values: Step(None, values[1], values[0].start, values[-1].end, True),
            "short_index": lambda values: Step(
                None, self.number(values[1:]), values[0].start, values[-1].end
            ),
            "get_attr": lambda values: Step(self.written(values[1]), None, values[0].start, values[1].end),
            "attr_splat": lambda values: Tail(False, values[1:], values[0].start, values[-1].end),
            "full_splat": lambda values: Tail(True, values[1:], values[0].start, values[-1].end),
            "for_tuple_expr": self.for_tuple,
            "for_object_expr": self.for_object,
            "for_intro": list,
            "for_cond": list,
        }

    def written(self, part: Part) -> str:
        return self.text[part.start : part.end]

    def word(self, values: list[Part]) -> Variable:
        token = values[0]
        return Variable(origin=self.origin, start=token.start, end=token.end, name=token.text)

    def constant(self, values: list[Part]) -> Literal:
        token = values[0]
        return Literal(
            origin=self.origin,
            start=token.start,
            end=token.end,
            value={"true": True, "false": False, "null": None}[token.text],
        )

    def number(self, values: list[Part]) -> Literal:
        token = values[0]
        try:
            value = written_number(token.text)
        except ValueError as error:
            self.complain(
                codes.NUMBER_OUT_OF_RANGE, f"This number cannot be used: {error}.", token.start, token.end
            )
            value = Decimal(0)
        return Literal(origin=self.origin, start=token.start, end=token.end, value=value)

    def complain(self, code: Code, detail: str, start: int, end: int) -> None:
        self.troubles.append(SyntaxTrouble(code, detail, start, end))

    # Bodies

    def attribute(self, values: list[Part]) -> AttributeNode:
        name, _, expr = values
        return AttributeNode(
            origin=self.origin, start=name.start, end=expr.end, name=self.written(name), expr=expr
        )

    def block(self, values: list[Part]) -> BlockNode:
        brace = next(
            index for index, part in enumerate(values) if isinstance(part, Token) and part.kind == "LBRACE"
        )
        name, labels, items, opened, closed = (
            values[0],
            values[1:brace],
            values[brace + 1 : -1],
            values[brace],
            values[-1],
        )
        if "\n" in self.text[values[brace - 1].end : opened.start]:
            self.complain(
                codes.INVALID_BLOCK,
                "The opening brace stands on the line of the block's header.",
                opened.start,
                opened.end,
            )
        self.check_braces(items, opened, closed)
        body = self.body(items, opened.start, closed.end)
        return BlockNode(
            origin=self.origin,
            start=name.start,
            end=closed.end,
            type=self.written(name),
            label_nodes=tuple(self.label(part) for part in labels),
            body=body,
        )

    def label(self, part: Part) -> Label:
        if isinstance(part, Template) or (
            isinstance(part, Literal) and self.text.startswith("<<", part.start)
        ):
            self.complain(
                codes.INVALID_BLOCK,
                "A block's label is a plain string or a name, without interpolation.",
                part.start,
                part.end,
            )
            return Label(origin=self.origin, start=part.start, end=part.end, text="")
        text = part.value if isinstance(part, Literal) and isinstance(part.value, str) else self.written(part)
        return Label(origin=self.origin, start=part.start, end=part.end, text=text)

    def check_braces(self, items: list[Part], opened: Token, closed: Token) -> None:
        """A block of one line holds one attribute at most; in any other, every item stands on lines of its
        own.
        """
        if not items:
            return
        if "\n" in self.text[opened.end : items[0].start]:
            if "\n" not in self.text[items[-1].end : closed.start]:
                self.missing_newline(items[-1], closed.start)
            return
        if len(items) > 1 or isinstance(items[0], BlockNode):
            self.complain(
                codes.INVALID_BLOCK,
                "A block written on one line may hold one attribute only. Begin a new line after the "
                "opening brace.",
                items[0].start,
                items[-1].end,
            )
        elif "\n" in self.text[items[0].end : closed.start]:
            self.complain(
                codes.INVALID_BLOCK,
                "A block that begins with an attribute on its first line ends on that line. Begin a new "
                "line after the opening brace.",
                closed.start,
                closed.end,
            )

    def missing_newline(self, item: AttributeNode | BlockNode, start: int) -> None:
        self.complain(
            codes.MISSING_NEWLINE,
            "An attribute ends with its line."
            if isinstance(item, AttributeNode)
            else "A block ends with its line.",
            start,
            start + 1,
        )

    def body(self, items: list[Part], start: int, end: int) -> Body:
        attributes: dict[str, AttributeNode] = {}
        blocks: list[BlockNode] = []
        before: AttributeNode | BlockNode | None = None
        for item in items:
            if before is not None and "\n" not in self.text[before.end : item.start]:
                self.missing_newline(before, item.start)
            before = item
            if isinstance(item, BlockNode):
                blocks.append(item)
            elif (first := attributes.setdefault(item.name, item)) is not item:
                line = first.span.start.line
                self.complain(
                    codes.ATTRIBUTE_SET_TWICE,
                    f'"{item.name}" was already set on line {line}.',
                    item.start,
                    item.start + len(item.name),
                )
        return Body(
            origin=self.origin,
            start=start,
            end=end,
            attributes=tuple(attributes.values()),
            blocks=tuple(blocks),
        )

    def lengthen(self, left: Expression, end: int) -> None:
        """Counts a chain such as ``a + b + c``, whose tree is as deep as the chain is long. Raises where that
        gets out of hand.
        """
        count = self.chains[left.start] = self.chains.get(left.start, 0) + 1
        if count > _LONGEST_CHAIN:
            raise SyntaxTrouble(
                codes.TOO_DEEP,
                f"More than {_LONGEST_CHAIN} steps in a row; split it with local values.",
                left.start,
                end,
            )

    # Expressions

    def parentheses(self, values: list[Part]) -> Parentheses:
        opened, inner, closed = values
        return Parentheses(origin=self.origin, start=opened.start, end=closed.end, inner=inner)

    def unary(self, values: list[Part]) -> Unary:
        token, operand = values
        return Unary(
            origin=self.origin, start=token.start, end=operand.end, operator=token.text, operand=operand
        )

    def binary(self, values: list[Part]) -> Binary:
        left, token, right = values
        self.lengthen(left, right.end)
        return Binary(
            origin=self.origin, start=left.start, end=right.end, operator=token.text, left=left, right=right
        )

    def conditional(self, values: list[Part]) -> Conditional:
        condition, then, otherwise = (part for part in values if not isinstance(part, Token))
        return Conditional(
            origin=self.origin,
            start=condition.start,
            end=otherwise.end,
            condition=condition,
            then=then,
            otherwise=otherwise,
        )

    def step(self, source: Expression, step: Step) -> GetAttribute | Index:
        self.lengthen(source, step.end)
        if step.name is not None:
            return GetAttribute(
                origin=self.origin, start=source.start, end=step.end, source=source, name=step.name
            )
        assert step.key is not None
        return Index(origin=self.origin, start=source.start, end=step.end, source=source, key=step.key)

    def splat(self, values: list[Part]) -> Expression:
        """``.*`` takes attributes and legacy indexes only; what follows an index in brackets applies to the
        whole result.
        """
        source, tail = values
        self.lengthen(source, tail.end)
        inside = tail.steps
        if not tail.full:
            if isinstance(source, Splat) and self.text.startswith(".", source.source.end):
                self.complain(
                    codes.UNSUPPORTED_INDEX,
                    "A splat inside of .* is not possible; use [*].",
                    tail.start,
                    tail.end,
                )
            inside = inside[
                : next((index for index, step in enumerate(inside) if step.bracketed), len(inside))
            ]
        steps = tuple(step.key if step.name is None else step.name for step in inside)
        end = inside[-1].end if inside else (tail.end if not tail.steps else tail.steps[0].start)
        if tail.full and isinstance(source, Splat) and self.text.startswith("[", source.source.end):
            result: Expression = self.splat_inside(
                source, SplatStep(origin=self.origin, start=tail.start, end=end, steps=steps), end
            )
        else:
            result = Splat(origin=self.origin, start=source.start, end=end, source=source, steps=steps)
        for step in tail.steps[len(inside) :]:
            result = self.step(result, step)
        return result

    def splat_inside(self, outer: Splat, step: SplatStep, end: int) -> Splat:
        """The outer splat with one more inside the last of those that it holds."""
        return replace(outer, end=end, steps=_deepened(outer.steps, step))

    def tuple_constructor(self, values: list[Part]) -> TupleConstructor:
        items = tuple(part for part in values if not isinstance(part, Token))
        return TupleConstructor(origin=self.origin, start=values[0].start, end=values[-1].end, items=items)

    def object_constructor(self, values: list[Part]) -> ObjectConstructor:
        items: list[ObjectItem] = [part for part in values if isinstance(part, ObjectItem)]
        for before, item in pairwise(items):
            gap = self.text[before.end : item.start]
            if "\n" not in gap and "," not in gap:
                self.complain(
                    codes.MISSING_NEWLINE,
                    "Items of an object are separated by a comma or a newline.",
                    item.start,
                    item.start + 1,
                )
        return ObjectConstructor(
            origin=self.origin, start=values[0].start, end=values[-1].end, items=tuple(items)
        )

    def object_item(self, values: list[Part]) -> ObjectItem:
        key, _, value = values
        if isinstance(key, GetAttribute | Index | Splat):
            self.complain(
                codes.AMBIGUOUS_KEY,
                "To use the value of this expression as the key, put it in parentheses; to use its text, "
                "in quotes.",
                key.start,
                key.end,
            )
        if isinstance(key, Literal) and not isinstance(key.value, str | Decimal):
            key = Variable(origin=self.origin, start=key.start, end=key.end, name=self.written(key))
        return ObjectItem(origin=self.origin, start=key.start, end=value.end, key=key, value=value)

    def call(self, values: list[Part]) -> Call:
        opened = next(
            index for index, part in enumerate(values) if isinstance(part, Token) and part.kind == "LPAR"
        )
        name = "::".join(part.name for part in values[:opened] if isinstance(part, Variable))
        arguments = tuple(part for part in values[opened + 1 :] if not isinstance(part, Token))
        expand = any(isinstance(part, Token) and part.kind == "ELLIPSIS" for part in values[opened + 1 :])
        return Call(
            origin=self.origin,
            start=values[0].start,
            end=values[-1].end,
            name=name,
            arguments=arguments,
            expand=expand,
        )

    def for_tuple(self, values: list[Part]) -> ForTuple:
        names, rest, _ = self.loop(values)
        return ForTuple(
            origin=self.origin,
            start=values[0].start,
            end=values[-1].end,
            key_name=names[0] if len(names) == 2 else None,
            value_name=names[-1],
            collection=rest[0],
            result=rest[1],
            condition=rest[2] if len(rest) > 2 else None,
        )

    def for_object(self, values: list[Part]) -> ForObject:
        names, rest, kinds = self.loop(values)
        return ForObject(
            origin=self.origin,
            start=values[0].start,
            end=values[-1].end,
            key_name=names[0] if len(names) == 2 else None,
            value_name=names[-1],
            collection=rest[0],
            result_key=rest[1],
            result=rest[2],
            condition=rest[3] if len(rest) > 3 else None,
            group="ELLIPSIS" in kinds,
        )

    def loop(self, values: list[Part]) -> tuple[list[str], list[Expression], list[str]]:
        """The names, the expressions and the kinds of tokens of a ``for`` expression."""
        kinds = [part.kind for part in values if isinstance(part, Token)]
        nodes = [part for part in values if not isinstance(part, Token)]
        count = 2 if "COMMA" in kinds else 1
        return [self.written(node) for node in nodes[:count]], nodes[count:], kinds

    # Templates

    def mark(self, values: list[Part]) -> Mark:
        words = [part.kind for part in values if isinstance(part, Token)]
        nodes = [part for part in values if not isinstance(part, Token)]
        word = next((word for word in ("IF", "ELSE", "ENDIF", "FOR", "ENDFOR") if word in words), "").lower()
        names = nodes[:-1] if word == "for" else []
        return Mark(
            word=word,
            expr=nodes[-1] if nodes else None,
            names=tuple(self.written(node) for node in names),
            trim_before=values[0].text.endswith("~"),
            trim_after=values[-1].text.startswith("~"),
            start=values[0].start,
            end=values[-1].end,
        )

    def string(self, values: list[Part]) -> Literal | Template:
        opened, closed = values[0], values[-1]
        pieces: list[Piece] = [
            Text(text=part.text) if isinstance(part, Token) else part for part in values[1:-1]
        ]
        parts = assemble(pieces, opened.text, self.origin) if pieces else ()
        if not parts:
            return Literal(origin=self.origin, start=opened.start, end=closed.end, value="")
        if len(parts) == 1 and isinstance(parts[0], str):
            return Literal(origin=self.origin, start=opened.start, end=closed.end, value=parts[0])
        return Template(origin=self.origin, start=opened.start, end=closed.end, parts=parts)


def _deepened(steps: SplatSteps, step: SplatStep) -> SplatSteps:
    if steps and isinstance(last := steps[-1], SplatStep):
        return (*steps[:-1], replace(last, end=step.end, steps=_deepened(last.steps, step)))
    return (*steps, step)
