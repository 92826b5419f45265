"""``dynamic "name" { for_each, iterator, labels, content }``: one block for each element."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from flareiac.kernel import codes
from flareiac.kernel.data import UNKNOWN
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Span
from flareiac.kernel.types import ANY, STRING, ListType
from flareiac.lang.conversion import ConversionError, convert, named
from flareiac.lang.evaluate import evaluate
from flareiac.lang.scope import Scope
from flareiac.lang.syntax import BlockNode, Label
from flareiac.lang.values import Resource, Value, object_value, pairs
from flareiac.lang.written import Reading, WrittenAttribute
from flareiac.sdk.schema import Attribute, Block

DYNAMIC: Final = Block(
    description="Makes nested blocks from a collection.",
    attributes={
        "for_each": Attribute(type=ANY, description="The collection.", required=True),
        "iterator": WrittenAttribute(
            type=ANY,
            description="The name of the element inside; else that of the block.",
            reading=Reading.CODE,
        ),
        "labels": Attribute(type=ListType(STRING), description="The labels of each block."),
    },
)
"""The attributes of a dynamic block beside its content."""


def expand_dynamic(node: BlockNode, scope: Scope, diagnostics: Diagnostics) -> list[tuple[BlockNode, Scope]]:
    """The blocks that a ``dynamic`` block stands for, each with the scope of its content. Complaints go to
    ``diagnostics``.
    """
    contents = node.body.blocks_of("content")
    for_each = node.body.attribute("for_each")
    if len(node.label_nodes) != 1 or len(contents) != 1 or for_each is None:
        diagnostics.error(
            codes.INVALID_DYNAMIC,
            "It is written so:\n\n"
            '    dynamic "block name" {\n      for_each = ...\n      content { ... }\n    }',
            subject=node.header_span,
        )
        return []
    for attribute in node.body.attributes:
        if attribute.name not in DYNAMIC.attributes:
            diagnostics.error(
                codes.INVALID_DYNAMIC,
                f'It has no attribute "{attribute.name}". A dynamic block takes '
                f"{', '.join(DYNAMIC.attributes)} and a content block.",
                subject=attribute.name_span,
            )
    items = _elements(evaluate(for_each.expr, scope, diagnostics), for_each.expr.span, diagnostics)
    out: list[tuple[BlockNode, Scope]] = []
    for key, value in items:
        inside = scope.child({node.iterator: object_value({"key": key, "value": value})})
        labels = _labels(node, inside, diagnostics)
        out.append((replace(contents[0], type=node.labels[0], label_nodes=labels), inside))
    return out


def _elements(value: Value, place: Span, diagnostics: Diagnostics) -> Iterable[tuple[Value, Value]]:
    elements = None if isinstance(value.raw, Resource) else pairs(value)
    if value.sensitive:
        wrong = "Its for_each is sensitive, and the number of blocks would show what is sensitive."
    elif value.raw is UNKNOWN:
        wrong = "How many blocks there are must be known when the plan is made."
    elif elements is None:
        what = "null" if value.raw is None else named(value.type)
        wrong = f"It needs a list, set, map or object, not {what}."
    else:
        return elements
    diagnostics.error(codes.INVALID_DYNAMIC_FOR_EACH, wrong, subject=place)
    return ()


def _labels(node: BlockNode, scope: Scope, diagnostics: Diagnostics) -> tuple[Label, ...]:
    attribute = node.body.attribute("labels")
    if attribute is None:
        return ()
    expr = attribute.expr
    try:
        value = convert(evaluate(expr, scope, diagnostics), ListType(STRING))
    except ConversionError as error:
        wrong = f"The labels of a dynamic block are a list of strings: {error}."
    else:
        texts = [part.raw for _, part in value.parts]
        if (
            isinstance(value.raw, tuple)
            and not value.sensitive
            and all(isinstance(text, str) for text in texts)
        ):
            return tuple(
                Label(origin=node.origin, start=expr.start, end=expr.end, text=text) for text in texts
            )
        wrong = "The labels of a dynamic block must be known, not null and not sensitive."
    diagnostics.error(codes.INVALID_DYNAMIC, wrong, subject=expr.span)
    return ()
