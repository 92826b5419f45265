"""From one block to its instances: ``count`` and ``for_each``. Pure."""

from flareiac.kernel import codes
from flareiac.kernel.addresses import InstanceKey
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.types import BOOL, NUMBER, SetType
from flareiac.lang.conversion import ConversionError, convert, named
from flareiac.lang.evaluate import evaluate
from flareiac.lang.scope import Scope
from flareiac.lang.syntax import BlockNode, Expression
from flareiac.lang.values import Value, contains_sensitive, number, object_value, string

_MOST = 100_000
"""Instances of one block: a slip of the keyboard must not fill the memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One instance of a block: its key, and the scope in which its body is evaluated."""

    key: InstanceKey
    scope: Scope


def instances(block: BlockNode, scope: Scope, diagnostics: Diagnostics) -> list[Instance] | None:
    """The instances, in order; None after an error."""
    count, for_each = block.body.attribute("count"), block.body.attribute("for_each")
    enabled = next(
        (each for nested in block.body.blocks_of("lifecycle") if (each := nested.body.attribute("enabled"))),
        None,
    )
    if enabled is not None:
        if (several := count or for_each) is not None:
            none = "count = 0" if several is count else "for_each = {}"
            why = f"enabled and {several.name} exclude each other. For no instance, write {none}."
            diagnostics.error(codes.INVALID_ENABLED, why, subject=enabled.name_span)
            return None
        return _enabled(enabled.expr, scope, diagnostics)
    if count is not None and for_each is not None:
        diagnostics.error(
            codes.COUNT_AND_FOR_EACH, "They exclude each other: keep one of them.", subject=for_each.name_span
        )
        return None
    if count is not None:
        return _counted(count.expr, scope, diagnostics)
    if for_each is not None:
        return _each(for_each.expr, scope, diagnostics)
    return [Instance(key=None, scope=scope)]


def _enabled(expression: Expression, scope: Scope, diagnostics: Diagnostics) -> list[Instance] | None:
    value = _known("enabled", expression, scope, diagnostics)
    if value is None:
        return None
    try:
        wanted = convert(value, BOOL)
        problem = "it is null" if wanted.is_null else "it is sensitive" if value.sensitive else ""
    except ConversionError as error:
        wanted, problem = value, str(error)
    if problem:
        why = f"enabled takes true or false: {problem}."
        diagnostics.error(codes.INVALID_ENABLED, why, subject=expression.span)
        return None
    return [Instance(key=None, scope=scope)] if wanted.raw is True else []


def _counted(expression: Expression, scope: Scope, diagnostics: Diagnostics) -> list[Instance] | None:
    value = _known("count", expression, scope, diagnostics)
    if value is None:
        return None
    try:
        amount = convert(value, NUMBER).raw
    except ConversionError as problem:
        diagnostics.error(
            codes.INVALID_COUNT, f"count takes a whole number: {problem}.", subject=expression.span
        )
        return None
    if amount is None or amount != int(amount) or amount < 0:
        diagnostics.error(
            codes.INVALID_COUNT,
            "count must be a whole number, 0 or more, and not null.",
            subject=expression.span,
        )
        return None
    if amount > _MOST:
        diagnostics.error(
            codes.COUNT_TOO_LARGE,
            f"count is {amount:,}, and the limit is {_MOST:,}. So many instances are a mistake.",
            subject=expression.span,
        )
        return None
    return [
        Instance(key=index, scope=scope.child({"count": object_value({"index": number(index)})}))
        for index in range(int(amount))
    ]


def _each(expression: Expression, scope: Scope, diagnostics: Diagnostics) -> list[Instance] | None:
    value = _known("for_each", expression, scope, diagnostics)
    if value is None:
        return None
    if contains_sensitive(value):
        diagnostics.error(
            codes.INVALID_FOR_EACH,
            "for_each must not be sensitive: its keys become addresses, which are shown.",
            subject=expression.span,
        )
        return None
    pairs = _pairs(value)
    if pairs is None:
        diagnostics.error(
            codes.INVALID_FOR_EACH,
            _unsuitable(value),
            subject=expression.span,
        )
        return None
    return [
        Instance(key=key, scope=scope.child({"each": object_value({"key": string(key), "value": pair})}))
        for key, pair in pairs
    ]


def _pairs(value: Value) -> list[tuple[str, Value]] | None:
    raw = value.raw
    if isinstance(raw, tuple) and isinstance(value.type, SetType):
        return (
            [(element.raw, element) for element in raw]
            if all(isinstance(element.raw, str) for element in raw)
            else None
        )
    if isinstance(raw, tuple) or not hasattr(raw, "items"):
        return None
    return sorted(raw.items())


def _unsuitable(value: Value) -> str:
    wanted = "for_each takes a map, an object or a set of strings"
    if value.raw is None:
        return f"{wanted}, and this is null. For no instance, write {{}} or toset([])."
    if not isinstance(value.type, SetType):
        return f"{wanted}, not {named(value.type)}. For a list, write toset(...)."
    if any(element.raw is None for element in value.raw):
        return f"{wanted}, and a null is in this set. Leave it out: toset([for x in ... : x if x != null])."
    way_out = (
        "Convert its elements with tostring()."
        if value.type.element in (NUMBER, BOOL)
        else "Make a map of it, with a name for each: { for x in ... : x.name => x }."
    )
    return f"{wanted}, and this is {named(value.type)}. {way_out}"


def _known(name: str, expression: Expression, scope: Scope, diagnostics: Diagnostics) -> Value | None:
    """The value of what decides how many instances there are; None after complaining."""
    before = len(diagnostics)
    value = evaluate(expression, scope, diagnostics)
    if len(diagnostics) > before:
        return None
    if value.is_known:
        return value
    diagnostics.error(
        codes.COUNT_NOT_KNOWN,
        f"{name} decides how many resources there are, which must be known when planning. Use a variable "
        "or a local value.",
        subject=expression.span,
    )
    return None
