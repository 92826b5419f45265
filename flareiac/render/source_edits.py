"""Changes of values in the text of a file: what is not changed stays as it was written, comments included.
Pure.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Source, Span
from flareiac.lang.references import references
from flareiac.lang.syntax import (
    AttributeNode,
    BlockNode,
    Body,
    Call,
    Expression,
    Node,
    ObjectConstructor,
    ObjectItem,
    Parentheses,
    children,
)
from flareiac.render.hcl_text import block_lines, key_text, value_text
from flareiac.sdk.importing import Written, WrittenBlock

Place: TypeAlias = tuple[tuple[str, str | None], ...]
"""Blocks inside a block: the type and the label of each, from the outside to the inside."""
_READS_A_FILE: Final = re.compile(r"file|template", re.IGNORECASE)
_INDENT: Final = "  "


class CannotEdit(Exception):
    """The value cannot be changed where it stands. ``span``: what makes it so."""

    def __init__(self, why: str, span: Span) -> None:
        super().__init__(why)
        self.why, self.span = why, span


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAttribute:
    """``value`` is the new one, None to remove the attribute. With ``key`` it is that of one key of a map,
    and ``whole`` the map.
    """

    place: Place
    name: str
    value: Written
    key: str | None = None
    whole: Written = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddBlock:
    """A block that is added to the one at ``place``."""

    place: Place
    block: WrittenBlock


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveBlock:
    """The block at ``place`` is removed."""

    place: Place


Edit: TypeAlias = SetAttribute | AddBlock | RemoveBlock


def edits_between(old: WrittenBlock, new: WrittenBlock, place: Place = ()) -> Iterator[Edit]:
    """Yields the changes that make ``old`` say what ``new`` says."""
    for name in dict.fromkeys([*old.attributes, *new.attributes]):
        before, after = old.attributes.get(name), new.attributes.get(name)
        if before == after:
            continue
        if not (isinstance(before, Mapping) and isinstance(after, Mapping)):
            yield SetAttribute(place=place, name=name, value=after)
            continue
        for key in dict.fromkeys([*before, *after]):
            if before.get(key) != after.get(key):
                yield SetAttribute(place=place, name=name, key=str(key), value=after.get(key), whole=after)
    blocks = {(block.type, block.label): block for block in old.blocks}
    wanted = {(block.type, block.label): block for block in new.blocks}
    for step, block in wanted.items():
        if step in blocks:
            yield from edits_between(blocks[step], block, (*place, step))
        else:
            yield AddBlock(place=place, block=block)
    for step in blocks:
        if step not in wanted:
            yield RemoveBlock(place=(*place, step))


def edited(source: Source, block: BlockNode, edits: Sequence[Edit]) -> str:
    """The text of ``source`` with a block of it changed. Raises ``CannotEdit``."""
    text = _Text(source)
    for edit in edits:
        body = _body_at(block, edit.place)
        match edit:
            case SetAttribute():
                _set(text, body, edit)
            case AddBlock():
                text.add(body.body, [edit.block], edit.block.type)
            case RemoveBlock():
                text.remove_lines(body)
    return text.result()


def _body_at(block: BlockNode, place: Place) -> BlockNode:
    for type_name, label in place:
        labels = () if label is None else (label,)
        inner = next((each for each in block.body.blocks_of(type_name) if each.labels == labels), None)
        if inner is None:
            name = type_name if label is None else f'{type_name} "{label}"'
            raise CannotEdit(f"The block {name} is not written out here.", block.header_span)
        block = inner
    return block


def _set(text: "_Text", block: BlockNode, edit: SetAttribute) -> None:
    attribute = block.body.attribute(edit.name)
    whole = edit.value if edit.key is None else edit.whole
    if attribute is None:
        if whole is not None:
            text.add(block.body, [(edit.name, whole)], None)
        return
    expression = _inner(attribute.expr)
    if edit.key is None or not isinstance(expression, ObjectConstructor):
        _check_plain(expression)
        if whole is None:
            text.remove_lines(attribute)
        else:
            text.replace(expression, whole)
        return
    known = next((each for each in expression.items if each.name == edit.key), None)
    if known is None and edit.value is not None:
        text.add_key(expression, edit.key, edit.value)
    elif known is not None:
        _check_plain(known.value)
        if edit.value is None:
            text.remove_key(expression, known)
        else:
            text.replace(_inner(known.value), edit.value)


def _blocks_like(body: Body, type_name: str) -> list[BlockNode]:
    """The blocks of a type, and those that make blocks of it."""
    return [block for block in body.blocks if type_name in (block.type, *_generated(block))]


def _generated(block: BlockNode) -> tuple[str, ...]:
    return block.labels if block.type == "dynamic" else ()


def _inner(expression: Expression) -> Expression:
    while isinstance(expression, Parentheses):
        expression = expression.inner
    return expression


def _check_plain(expression: Expression) -> None:
    """Refuses a value that is made of others: its author changes those. Raises ``CannotEdit``."""
    origins = references(expression)
    if origins:
        raise CannotEdit(f"The value here is made of {origins[0]}: change that one.", origins[0].span)
    for node in _all(expression):
        if isinstance(node, Call) and _READS_A_FILE.search(node.name):
            raise CannotEdit(f"The value here is read by {node.name}: change the file.", node.span)


def _all(node: Node) -> Iterator[Node]:
    yield node
    for child in children(node):
        yield from _all(child)


class _Text:
    """A text and its replacements, as ranges of characters."""

    def __init__(self, source: Source) -> None:
        self._text = source.text
        self._newline = "\r\n" if "\r\n" in source.text else "\n"
        self._replaced: list[tuple[int, int, str]] = []

    def result(self) -> str:
        """The text with all of them."""
        parts, at = [], 0
        # What is put at one place stands there in the order in which it was put.
        for start, end, new in sorted(self._replaced, key=lambda each: each[:2]):
            parts += [self._text[at:start], new]
            at = max(at, end)
        return "".join([*parts, self._text[at:]])

    def replace(self, node: Node, value: Written) -> None:
        start, end = _range(node)
        self._replaced.append((start, end, self._lines(value_text(value, self._indent(start)).split("\n"))))

    def remove_lines(self, node: Node) -> None:
        """Removes a node, and its lines where nothing else but a comment stands on them."""
        start, end = _range(node)
        first, after = self._line_start(start), self._line_end(end)
        alone = not self._text[first:start].strip() and re.fullmatch(
            r"[ \t]*,?[ \t]*((#|//).*|/\*.*\*/[ \t]*)?\r?", self._text[end:after]
        )
        if alone:
            self._replaced.append((first, min(after + 1, len(self._text)), ""))
        else:
            self._replaced.append((start, end, ""))

    def add(
        self, body: Body, parts: Sequence[tuple[str, Written] | WrittenBlock], beside: str | None
    ) -> None:
        """Adds attributes after the attributes of a body, or blocks after those of the same type."""
        start, end = _range(body)
        indent = self._indent(start)
        lines = [line for part in parts for line in self._part(part, body, indent + _INDENT)]
        inside = self._text[start + 1 : end - 1]
        if "\n" not in inside:
            kept = [f"{indent}{_INDENT}{inside.strip()}"] if inside.strip() else []
            opened = self._lines(["{", *kept, *lines, f"{indent}}}"])
            self._replaced.append((start, end, opened))
            return
        before: Sequence[Node] = body.attributes if beside is None else _blocks_like(body, beside)
        if not before:
            before = body.blocks if beside is not None else ()
        after = self._line_end(_range(before[-1])[1]) if before else self._line_end(start)
        at = after - 1 if self._text[after - 1 : after] == "\r" else after
        self._replaced.append((at, at, self._newline + self._lines(lines)))

    def add_key(self, expression: ObjectConstructor, key: str, value: Written) -> None:
        """Adds a key after the last one of a map."""
        start, end = _range(expression)
        written = f"{key_text(key)} = {value_text(value, self._indent(start))}"
        if not expression.items:
            self._replaced.append((start, end, f"{{ {written} }}"))
            return
        first, last = _range(expression.items[0])[0], _range(expression.items[-1])[1]
        if "\n" not in self._text[start:first]:
            self._replaced.append((last, last, f", {written}"))
            return
        separated = "," in self._text[last : self._line_end(last)].partition("#")[0].partition("//")[0]
        after = self._line_end(last)
        at = after - 1 if self._text[after - 1 : after] == "\r" else after
        indent = self._indent(first)
        column = self._key_column(expression.items[0])
        name, _, shown = written.partition(" = ")
        line = f"{indent}{name.ljust(max(column - 1, 0))} = {shown}{',' if separated else ''}"
        self._replaced.append((at, at, self._newline + self._lines([line])))

    def _key_column(self, entry: ObjectItem) -> int:
        """The column of the equals sign behind a key, counted from the key; 0 where a colon stands there."""
        (start, end), (value, _) = _range(entry.key), _range(entry.value)
        separator = self._text[end:value]
        return end - start + separator.index("=") if "=" in separator else 0

    def remove_key(self, expression: ObjectConstructor, key: ObjectItem) -> None:
        """Removes a key of a map, with the separator that it leaves behind."""
        start, end = _range(key)
        if not self._text[self._line_start(start) : start].strip():
            self.remove_lines(key)
            return
        index = expression.items.index(key)
        if index + 1 < len(expression.items):
            self._replaced.append((start, _range(expression.items[index + 1])[0], ""))
        elif index:
            self._replaced.append((_range(expression.items[index - 1])[1], end, ""))
        else:
            self._replaced.append((start, end, ""))

    def _part(self, part: tuple[str, Written] | WrittenBlock, body: Body, indent: str) -> list[str]:
        if isinstance(part, WrittenBlock):
            return list(block_lines(part, indent))
        name, value = part
        column = self._column(body.attributes[-1]) if body.attributes else 0
        return f"{indent}{name.ljust(column)} = {value_text(value, indent)}".split("\n")

    def _column(self, attribute: AttributeNode) -> int:
        """The width of the names of the attributes around one, as its author aligned them."""
        start, _ = _range(attribute)
        return max(self._text.index("=", start) - start - 1, len(attribute.name))

    def _lines(self, lines: Sequence[str]) -> str:
        return self._newline.join(lines)

    def _indent(self, at: int) -> str:
        line = self._text[self._line_start(at) : at]
        return line[: len(line) - len(line.lstrip())]

    def _line_start(self, at: int) -> int:
        return self._text.rfind("\n", 0, at) + 1

    def _line_end(self, at: int) -> int:
        end = self._text.find("\n", at)
        return len(self._text) if end < 0 else end


def _range(node: Node) -> tuple[int, int]:
    span = node.span
    return span.start.offset, span.end.offset
