"""Reads HCL's JSON form into the same syntax nodes as native text.

An object of JSON may be a block or a value, and a text a template or an address: only the schema can tell.
The form of a file says so name by name, and everything after this module sees syntax that means the same
wherever it came from.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Protocol

from flareiac.kernel import codes
from flareiac.kernel.addresses import NAME_RULE, is_name
from flareiac.kernel.articles import with_article
from flareiac.kernel.diagnostics import Diagnostics, Related
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Source, Span
from flareiac.lang import lalr
from flareiac.lang.build import Builder
from flareiac.lang.dynamic import DYNAMIC
from flareiac.lang.grammar import table
from flareiac.lang.json_text import (
    JsonArray,
    JsonObject,
    JsonScalar,
    JsonString,
    JsonValue,
    places_in,
    read_json,
)
from flareiac.lang.origin import Origin
from flareiac.lang.syntax import (
    FIELDS,
    AttributeNode,
    BlockNode,
    Body,
    Expression,
    Label,
    Literal,
    Node,
    ObjectConstructor,
    ObjectItem,
    Parentheses,
    Template,
    TemplateFor,
    TemplateIf,
    TupleConstructor,
    children,
    literal_text,
)
from flareiac.lang.syntax_errors import InvalidSyntax
from flareiac.lang.tokens import Token, tokenize, tokenize_template
from flareiac.lang.written import OpenBlock, Reading, WrittenAttribute
from flareiac.sdk.schema import Block, Nesting

_COMMENT: Final = "//"
_PREFIX: Final = "value = (\n"


class BodyForm(Protocol):
    """The meaning of the members of an object that is a body."""

    def reading(self, name: str) -> Reading | None:
        """The way in which the attribute of this name is read; None where there is none."""

    def block(self, name: str) -> "BlockForm | None":
        """The form of the blocks of this name; None where there are none."""


@dataclass(frozen=True, slots=True)
class BlockForm:
    """The form of a block: how many labels it has, and its body, which may depend on the first label."""

    labels: int
    body: Callable[[str], BodyForm]


@dataclass(frozen=True, slots=True)
class SchemaForm:
    """The form of a body that has these schemas together."""

    schemas: tuple[Block, ...]

    def reading(self, name: str) -> Reading | None:
        """See ``BodyForm``."""
        for schema in self.schemas:
            if (attribute := schema.attributes.get(name)) is not None:
                return attribute.reading if isinstance(attribute, WrittenAttribute) else Reading.TEMPLATE
        return next((each.others for each in self.schemas if isinstance(each, OpenBlock)), None)

    def block(self, name: str) -> BlockForm | None:
        """See ``BodyForm``; a body with blocks takes ``dynamic``, too."""
        for schema in self.schemas:
            if (nested := schema.blocks.get(name)) is not None:
                return plain_form(nested.block, 1 if nested.nesting is Nesting.MAP else 0)
        if name == "dynamic" and any(schema.blocks for schema in self.schemas):
            return BlockForm(1, self._dynamic)
        return None

    def _dynamic(self, label: str) -> BodyForm:
        made = self.block(label)
        return _DynamicForm(made.body("") if made is not None else ANYTHING)


def plain_form(block: Block, labels: int) -> BlockForm:
    """The form of a block with this body, whatever its label is."""
    form = SchemaForm((block,))
    return BlockForm(labels, lambda _label: form)


@dataclass(frozen=True, slots=True)
class _DynamicForm:
    content: BodyForm

    def reading(self, name: str) -> Reading | None:
        return SchemaForm((DYNAMIC,)).reading(name)

    def block(self, name: str) -> BlockForm | None:
        return BlockForm(0, lambda _label: self.content) if name == "content" else None


ANYTHING: Final = SchemaForm((OpenBlock(),))
"""The form of a body of which nothing is known: each member is an attribute."""
VALUES: Final = SchemaForm((OpenBlock(others=Reading.LITERAL),))
"""The form of a file of values, such as one of variables: nothing in it is evaluated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonBlockNode(BlockNode):
    """A block of JSON. What tells it from others is its last label; without one, the name of its type, or the
    brace that opens it where several stand in an array: it begins there.
    """

    header: int
    """The offset at which that ends."""

    @property
    def header_end(self) -> int:
        return self.header

    @property
    def type_span(self) -> Span:
        return self.header_span


FIELDS[JsonBlockNode] = FIELDS[BlockNode]


def read_json_body(source: Source, form: BodyForm, diagnostics: Diagnostics) -> Body:
    """The body of a file in JSON. A block with a text that makes no sense is reported and left out; where the
    JSON itself makes none, nothing of the file is read.
    """
    text = source.text.removeprefix("\ufeff")
    origin = Origin(source, len(source.text) - len(text))
    reader = _Reader(text, origin, diagnostics)
    try:
        root = read_json(text)
        return reader.body(root, form, is_top=True)
    except InvalidSyntax as stopped:
        reader.complain(stopped)
        return Body(origin, 0, len(text), attributes=(), blocks=())


class _Reader:
    """Reads the values of one file. ``origin``: of the block at hand."""

    def __init__(self, text: str, origin: Origin, diagnostics: Diagnostics) -> None:
        self.text, self.origin, self.diagnostics = text, origin, diagnostics

    def complain(self, problem: InvalidSyntax) -> None:
        subject = self.origin.span(problem.start, problem.end)
        self.diagnostics.error(problem.code, problem.detail, subject=subject)

    # Bodies

    def body(self, value: JsonValue, form: BodyForm, *, is_top: bool = False) -> Body:
        attributes: dict[str, AttributeNode] = {}
        blocks: list[BlockNode] = []
        for name, member in self.members(value):
            if name.text == _COMMENT:
                continue
            reading, block = form.reading(name.text), form.block(name.text)
            if reading is None and block is None and (is_top or _is_like_a_block(member)):
                # The reader of the body says that there is no such block
                blocks.append(self.block_node(name.text, (), name, JsonObject((), member.start, member.end)))
            elif block is not None:
                blocks += self.top_blocks(name, member, block) if is_top else self.blocks(name, member, block)
            else:
                node = self.attribute(name, member, reading or Reading.TEMPLATE)
                if node is not None and (first := attributes.setdefault(name.text, node)) is not node:
                    self.set_twice(name.text, node.name_span, first.name_span)
        return Body(
            self.origin, value.start, value.end, attributes=tuple(attributes.values()), blocks=tuple(blocks)
        )

    def members(self, value: JsonValue) -> Iterator[tuple[JsonString, JsonValue]]:
        """The members of an object, or of all objects in an array."""
        match value:
            case JsonObject(members=members):
                yield from members
            case JsonArray(elements=elements) if all(isinstance(each, JsonObject) for each in elements):
                for each in elements:
                    yield from self.members(each)
            case _:
                detail = "The value of the file is an object, or an array of objects."
                raise InvalidSyntax(codes.INVALID_SYNTAX, detail, value.start, value.end)

    def set_twice(self, name: str, second: Span, first: Span) -> None:
        self.diagnostics.error(
            codes.ATTRIBUTE_SET_TWICE,
            f'"{name}" was already set on line {first.start.line}.',
            subject=second,
            related=(Related(span=first, message="It was set here first."),),
        )

    def attribute(self, name: JsonString, value: JsonValue, reading: Reading) -> AttributeNode | None:
        if not is_name(name.text):
            detail = f'"{name.text:.60}" cannot be the name of an attribute. {NAME_RULE}'
            self.complain(InvalidSyntax(codes.INVALID_SYNTAX, detail, name.start, name.end))
            return None
        expr = self.expression(value, reading)
        return AttributeNode(self.origin, name.start + 1, value.end, name=name.text, expr=expr)

    def top_blocks(self, name: JsonString, value: JsonValue, form: BlockForm) -> Iterator[BlockNode]:
        """Each block has an origin of its own with the digest of its text, as the items of native text."""
        whole = self.origin
        for labels, body, mark in self.labelled(name, value, form.labels, name):
            content = self.text[body.start : body.end]
            digest = hashlib.sha256(f"json {content}".encode(errors="surrogatepass")).hexdigest()[:32]
            self.origin = Origin(whole.source, whole.base, digest)
            try:
                yield self.block(name.text, labels, mark, body, form)
            except InvalidSyntax as stopped:
                self.complain(stopped)
        self.origin = whole

    def blocks(self, name: JsonString, value: JsonValue, form: BlockForm) -> Iterator[BlockNode]:
        for labels, body, mark in self.labelled(name, value, form.labels, name):
            yield self.block(name.text, labels, mark, body, form)

    def block(
        self, kind: str, labels: Sequence[JsonString], mark: JsonValue, body: JsonObject, form: BlockForm
    ) -> BlockNode:
        inside = form.body(labels[0].text if labels else "")
        return self.block_node(kind, labels, mark, body, self.body(body, inside))

    def block_node(
        self,
        kind: str,
        labels: Sequence[JsonString],
        mark: JsonValue,
        value: JsonObject,
        body: Body | None = None,
    ) -> BlockNode:
        start, end = _inside(mark)
        empty = Body(self.origin, value.start, value.end, attributes=(), blocks=())
        return JsonBlockNode(
            self.origin,
            start,
            value.end,
            type=kind,
            label_nodes=tuple(Label(self.origin, *_inside(label), text=label.text) for label in labels),
            body=body or empty,
            header=end,
        )

    def labelled(
        self,
        name: JsonString,
        value: JsonValue,
        count: int,
        mark: JsonValue,
        labels: tuple[JsonString, ...] = (),
    ) -> Iterator[tuple[tuple[JsonString, ...], JsonObject, JsonValue]]:
        """Each block below a value: its labels, its body, and the value that distinguishes it from others."""
        match value:
            case JsonScalar(value=None):
                pass
            case JsonArray(elements=elements):
                for each in elements:
                    place = each if len(elements) > 1 and not labels and not count else mark
                    if isinstance(each, JsonArray):
                        self.refuse_block(name, each, labels, count)
                    else:
                        yield from self.labelled(name, each, count, place, labels)
            case JsonObject(members=members) if count:
                for label, inner in members:
                    yield from self.labelled(name, inner, count - 1, label, (*labels, label))
            case JsonObject():
                yield labels, value, mark
            case _:
                self.refuse_block(name, value, labels, count)

    def refuse_block(
        self, name: JsonString, value: JsonValue, labels: Sequence[JsonString], count: int
    ) -> None:
        names = [name.text, *(label.text for label in labels), *["name"] * count]
        wanted = "".join(f'"{each}": {{ ' for each in names) + "..." + " }" * len(names)
        detail = f"{with_article(name.text, capital=True)} block is an object: {wanted}."
        if labels and labels[-1].text == _COMMENT:
            detail = (
                'A comment, the member "//", stands in the body of a block beside its attributes. Here it '
                "would be the name of a block."
            )
        self.complain(InvalidSyntax(codes.INVALID_BLOCK, detail, value.start, value.end))

    # Expressions

    def expression(self, value: JsonValue, reading: Reading) -> Expression:
        start, end = value.start, value.end
        match value:
            case JsonString():
                return self.text_of(value, reading)
            case JsonScalar(value=scalar):
                return Literal(self.origin, start, end, value=scalar)
            case JsonArray(elements=elements):
                parts = tuple(self.expression(each, reading) for each in elements)
                return TupleConstructor(self.origin, start, end, items=parts)
            case JsonObject(members=members):
                return ObjectConstructor(self.origin, start, end, items=tuple(self.items(members, reading)))

    def items(
        self, members: Sequence[tuple[JsonString, JsonValue]], reading: Reading
    ) -> Iterator[ObjectItem]:
        names: dict[str, JsonString] = {}
        for name, value in members:
            if (first := names.setdefault(name.text, name)) is not name:
                self.set_twice(name.text, self.origin.span(*_inside(name)), self.origin.span(*_inside(first)))
            literal = Literal(self.origin, name.start, name.end, value=name.text)
            key = self.text_of(name, reading) if reading is Reading.TEMPLATE else literal
            if literal_text(key) is None:  # a name alone would mean itself
                key = Template(self.origin, name.start, name.end, parts=(key,))
            yield ObjectItem(
                self.origin, name.start, value.end, key=key, value=self.expression(value, reading)
            )

    def text_of(self, string: JsonString, reading: Reading) -> Expression:
        text = string.text
        if reading is Reading.CODE:
            return self.code(string)
        if reading is Reading.LITERAL or ("${" not in text and "%{" not in text):
            return Literal(self.origin, string.start, string.end, value=text)
        expr = self.parsed(string, text, tokenize_template)
        match expr:
            case Template(parts=(part,)) if not isinstance(part, str | TemplateIf | TemplateFor):
                return part  # it has the value of its one part, whatever type that is
            case Template(parts=parts):
                return Template(self.origin, string.start, string.end, parts=parts)
            case Literal(value=value):
                return Literal(self.origin, string.start, string.end, value=value)
            case _:
                raise AssertionError("a template is read as one")

    def code(self, string: JsonString) -> Expression:
        text = f"{_PREFIX}{string.text}\n)\n"
        expr = self.parsed(string, text, tokenize, before=len(_PREFIX))
        if not isinstance(expr, Parentheses):
            raise _not_one(string)
        return expr.inner

    def parsed(
        self, string: JsonString, text: str, read: Callable[[str], list[Token]], before: int = 0
    ) -> Expression:
        """The expression that a string spells. ``before``: characters at the beginning of ``text`` that are
        not in it. Raises ``InvalidSyntax``.
        """
        places = places_in(self.text, string)

        def place(offset: int) -> int:
            return places[min(max(offset - before, 0), len(places) - 1)]

        inner = Origin(self.origin.source)
        builder = Builder(text, inner)
        try:
            body = lalr.parse(read(text), table(), builder)
        except InvalidSyntax as stopped:
            builder.problems.append(stopped)
            body = None
        moved = [
            InvalidSyntax(each.code, each.detail, place(each.start), place(each.end))
            for each in builder.problems
        ]
        if body is None or len(body.attributes) != 1 or body.blocks:
            *others, last = moved or [_not_one(string)]
            for problem in others:
                self.complain(problem)
            raise last
        for problem in moved:
            self.complain(problem)
        expr = body.attributes[0].expr
        waiting: list[Node] = [expr]
        while waiting:
            node = waiting.pop()
            for name, value in (
                ("origin", self.origin),
                ("start", place(node.start)),
                ("end", place(node.end)),
            ):
                object.__setattr__(node, name, value)
            waiting += children(node)
        return expr


def _not_one(string: JsonString) -> InvalidSyntax:
    detail = "One expression is expected in this text."
    return InvalidSyntax(codes.INVALID_SYNTAX, detail, string.start, string.end)


def _inside(value: JsonValue) -> tuple[int, int]:
    """The offsets of a text without its quotes; of an object or array, of the bracket that opens it."""
    if isinstance(value, JsonString):
        return value.start + 1, value.end - 1
    return value.start, value.start + 1


def _is_like_a_block(value: JsonValue) -> bool:
    match value:
        case JsonObject():
            return True
        case JsonArray(elements=elements):
            return bool(elements) and all(isinstance(each, JsonObject) for each in elements)
        case _:
            return False
