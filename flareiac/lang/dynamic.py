"""``dynamic "name" { for_each, iterator, labels, content }``: one block for each element."""

from collections.abc import Iterator, Mapping
from decimal import Decimal

from flareiac.kernel import codes
from flareiac.kernel.data import UNKNOWN
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Span
from flareiac.kernel.types import NUMBER, STRING, ListType, SetType
from flareiac.lang.conversion import ConversionError, convert, named
from flareiac.lang.evaluate import evaluate
from flareiac.lang.scope import Scope
from flareiac.lang.syntax import BlockNode, Label, Variable
from flareiac.lang.values import Symbols, Value, object_value

_KNOWN = ("for_each", "iterator", "labels")


def expand_dynamic(node: BlockNode, scope: Scope, diagnostics: Diagnostics) -> list[tuple[BlockNode, Scope]]:
    """The blocks that a ``dynamic`` block stands for, each with the scope of its content. Complaints go to
    ``diagnostics``.
    """
    contents = node.body.blocks_of("content")
    for_each = node.body.attribute("for_each")
    if len(node.label_nodes) != 1 or len(contents) != 1 or for_each is None:
        diagnostics.error(
            codes.INVALID_DYNAMIC,
            'It is written dynamic "block name" { for_each = ...; content { ... } }.',
            subject=node.header_span,
        )
        return []
    for item in node.body.attributes:
        if item.name not in _KNOWN:
            diagnostics.error(
                codes.INVALID_DYNAMIC,
                f'It has no attribute "{item.name}". A dynamic block takes {", ".join(_KNOWN)} and a '
                "content block.",
                subject=item.name_span,
            )
    items = _elements(evaluate(for_each.expr, scope, diagnostics), for_each.expr.span, diagnostics)
    iterator = node.body.attribute("iterator")
    name = (
        iterator.expr.name if iterator is not None and isinstance(iterator.expr, Variable) else node.labels[0]
    )
    out: list[tuple[BlockNode, Scope]] = []
    for key, value in items:
        inside = scope.child({name: object_value({"key": key, "value": value})})
        labels = _labels(node, inside, diagnostics)
        block = BlockNode(
            origin=node.origin,
            start=contents[0].start,
            end=contents[0].end,
            type=node.labels[0],
            label_nodes=labels,
            body=contents[0].body,
        )
        out.append((block, inside))
    return out


def _elements(value: Value, place: Span, diagnostics: Diagnostics) -> Iterator[tuple[Value, Value]]:
    if value.sensitive:
        diagnostics.error(
            codes.INVALID_DYNAMIC_FOR_EACH,
            "Its for_each is sensitive, and the number of blocks would show what is sensitive.",
            subject=place,
        )
        return
    match value.raw:
        case _ if value.raw is UNKNOWN:
            diagnostics.error(
                codes.INVALID_DYNAMIC_FOR_EACH,
                "How many blocks there are must be known when the plan is made.",
                subject=place,
            )
        case tuple() if isinstance(value.type, SetType):
            yield from ((item, item) for item in value.raw)
        case tuple():
            yield from ((Value(NUMBER, Decimal(index)), item) for index, item in enumerate(value.raw))
        case Mapping():
            yield from ((Value(STRING, name), value.raw[name]) for name in sorted(value.raw))
        case Symbols(_, members):
            yield from ((Value(STRING, name), members[name]) for name in sorted(members))
        case _:
            what = "null" if value.raw is None else named(value.type)
            diagnostics.error(
                codes.INVALID_DYNAMIC_FOR_EACH,
                f"It needs a list, set, map or object, not {what}.",
                subject=place,
            )


def _labels(node: BlockNode, scope: Scope, diagnostics: Diagnostics) -> tuple[Label, ...]:
    attribute = node.body.attribute("labels")
    if attribute is None:
        return ()
    expr = attribute.expr
    try:
        value = convert(evaluate(expr, scope, diagnostics), ListType(STRING))
    except ConversionError as error:
        diagnostics.error(
            codes.INVALID_DYNAMIC,
            f"The labels of a dynamic block are a list of strings: {error}.",
            subject=expr.span,
        )
        return ()
    if (
        not isinstance(value.raw, tuple)
        or not all(isinstance(item.raw, str) for item in value.raw)
        or value.sensitive
    ):
        diagnostics.error(
            codes.INVALID_DYNAMIC,
            "The labels of a dynamic block must be known, not null and not sensitive.",
            subject=expr.span,
        )
        return ()
    return tuple(
        Label(origin=node.origin, start=expr.start, end=expr.end, text=item.raw) for item in value.raw
    )
