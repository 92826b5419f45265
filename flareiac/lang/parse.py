"""Reads source text into syntax. Every complaint becomes a diagnostic; what could be read is handed on."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, Related
from flareiac.kernel.sources import Source
from flareiac.lang import lalr
from flareiac.lang.build import Builder
from flareiac.lang.grammar import table
from flareiac.lang.json_body import VALUES, BodyForm, read_json_body
from flareiac.lang.json_text import is_json
from flareiac.lang.origin import Origin
from flareiac.lang.split import top_level_items
from flareiac.lang.syntax import AttributeNode, BlockNode, Body, Expression, Parentheses
from flareiac.lang.syntax_cache import SyntaxCache
from flareiac.lang.syntax_errors import InvalidSyntax
from flareiac.lang.tokens import tokenize

_SHOWN_WHOLE: Final = 400
"""Items up to this many characters are shown around what is wrong in them."""


def parse_file(
    source: Source, diagnostics: Diagnostics, *, cache: bool = True, form: BodyForm = VALUES
) -> Body:
    """The body of a file. An item that makes no sense is reported and left out; the items around it are read
    all the same. ``form``: what the file may hold, which the meaning of JSON depends on.
    """
    if is_json(source.path):
        return read_json_body(source, form, diagnostics)
    text = source.text.removeprefix("\ufeff")
    before = len(source.text) - len(text)
    kept = SyntaxCache(source.path, text, used=cache)
    attributes: dict[str, AttributeNode] = {}
    blocks: list[BlockNode] = []
    for start, end, key in kept.ranges:
        origin = Origin(source, before + start, key)
        piece = text[start:end]
        known = kept.find(key, origin, partial(_read_again, piece, origin))
        body = known or _item(piece, key, origin, kept, diagnostics)
        blocks.extend(body.blocks)
        for written in body.attributes:
            if (first := attributes.setdefault(written.name, written)) is not written:
                _set_twice(written, first, diagnostics)
    kept.close()
    return Body(
        Origin(source, before), 0, len(text), attributes=tuple(attributes.values()), blocks=tuple(blocks)
    )


def parse_blocks(source: Source, word: str, diagnostics: Diagnostics) -> tuple[BlockNode, ...]:
    """The top-level blocks of one type in a file; the items around them are split off and not read."""
    text = source.text.removeprefix("\ufeff")
    before = len(source.text) - len(text)
    block_nodes: list[BlockNode] = []
    for start, end in top_level_items(text):
        if not text.startswith(word, start):
            continue
        piece = text[start:end]
        kept = SyntaxCache(f"{source.path}#{word}", piece, used=True)
        for first, last, key in kept.ranges:
            origin = Origin(source, before + start + first)
            part = piece[first:last]
            known = kept.find(key, origin, partial(_read_again, part, origin))
            body = known or _item(part, key, origin, kept, diagnostics)
            block_nodes.extend(block for block in body.blocks if block.type == word)
        kept.close()
    return tuple(block_nodes)


def parse_expression(source: Source, diagnostics: Diagnostics) -> Expression | None:
    """The expression that a text spells (newlines mean nothing in it), or None after complaining."""
    prefix = "value = (\n"
    text = prefix + source.text + "\n)\n"
    origin = Origin(source, -len(prefix))
    problems = Diagnostics()
    try:
        tokenize(source.text)  # else the parenthesis behind it would be taken for what closes a bracket
    except InvalidSyntax as stopped:
        diagnostics.error(
            stopped.code, stopped.detail, subject=Origin(source, 0).span(stopped.start, stopped.end)
        )
        return None
    body = _read(text, origin, problems)
    diagnostics.extend(_at_the_end(problems, len(source.text)))
    match body.attributes if body is not None else ():
        case ():
            return None
        case (AttributeNode(expr=Parentheses(inner=inner, end=end)), *_) if end >= len(text) - 1:
            return inner
        case _:
            subject = origin.span(len(prefix), len(text))
            diagnostics.error(codes.INVALID_SYNTAX, "One expression is expected here.", subject=subject)
            return None


def _at_the_end(problems: Diagnostics, end: int) -> Iterator[Diagnostic]:
    """Yields the complaints, without a word of the parenthesis that is put behind an expression."""
    for each in problems:
        behind = each.subject is not None and each.subject.start.offset >= end
        if behind and each.code == codes.INVALID_SYNTAX.id:
            yield replace(each, detail="The text ends where the expression has to go on.")
        else:
            yield each


def _item(text: str, key: str, origin: Origin, kept: SyntaxCache, diagnostics: Diagnostics) -> Body:
    before = len(diagnostics)
    body = _read(text, origin, diagnostics)
    if body is None:
        return Body(origin, 0, len(text), attributes=(), blocks=())
    if len(diagnostics) == before:
        kept.add(key, body)
    return body


def _read_again(text: str, origin: Origin) -> Body:
    """The body of a piece of text that was read without complaint, read again."""
    body = _read(text, origin, Diagnostics())
    assert body is not None, "it was kept because it could be read"
    return body


def _read(text: str, origin: Origin, diagnostics: Diagnostics) -> Body | None:
    builder = Builder(text, origin)
    body: Body | None = None
    try:
        body = lalr.parse(tokenize(text), table(), builder)
    except InvalidSyntax as stopped:
        builder.problems.append(stopped)
    for error in builder.problems:
        subject = origin.span(error.start, error.end)
        context = origin.span(0, len(text)) if len(text) < _SHOWN_WHOLE else None
        diagnostics.error(error.code, error.detail, subject=subject, context=context)
    return body


def _set_twice(attribute_node: AttributeNode, first: AttributeNode, diagnostics: Diagnostics) -> None:
    diagnostics.error(
        codes.ATTRIBUTE_SET_TWICE,
        f'"{attribute_node.name}" was already set on line {first.name_span.start.line}.',
        subject=attribute_node.name_span,
        related=(Related(span=first.name_span, message="It was set here first."),),
    )
