"""Evaluates expressions. What a user got wrong is reported once and becomes an unknown, so that evaluation
always goes on.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from flareiac.kernel import codes
from flareiac.kernel.codes import Code
from flareiac.kernel.data import UNKNOWN
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.kernel.types import (
    ANY,
    BOOL,
    NUMBER,
    STRING,
    AnyType,
    ListType,
    MapType,
    ObjectType,
    RefType,
    SetType,
    TupleType,
    Type,
)
from flareiac.lang import operators
from flareiac.lang.call import call_function
from flareiac.lang.conversion import ConversionError, convert, named, unify
from flareiac.lang.functions.signature import LONGEST_TEXT
from flareiac.lang.operators import OperatorError
from flareiac.lang.references import references
from flareiac.lang.scope import Scope
from flareiac.lang.syntax import (
    Binary,
    Call,
    Conditional,
    Expression,
    ForObject,
    ForTuple,
    GetAttribute,
    Index,
    Literal,
    Node,
    ObjectConstructor,
    Parentheses,
    Splat,
    SplatStep,
    Template,
    TemplateFor,
    TemplateIf,
    TemplatePart,
    TupleConstructor,
    Unary,
    Variable,
)
from flareiac.lang.values import (
    Resource,
    Symbols,
    Value,
    contains_sensitive,
    null,
    object_value,
    show,
    string,
    tuple_value,
    unknown,
    unmark,
)


def evaluate(expr: Expression, scope: Scope, diagnostics: Diagnostics) -> Value:
    """The value of an expression; an unknown of any type where it has none, which has then been reported."""
    try:
        return Evaluator(scope, diagnostics).value(expr)
    except RecursionError:
        diagnostics.error(codes.TOO_DEEP, "Split this expression with local values.", subject=expr.span)
        return unknown()


_HIDDEN: Final = "What is gone through here is sensitive, so that the reason is not shown."
_WITHOUT_DATA: Final = frozenset({codes.UNKNOWN_SYMBOL, codes.UNKNOWN_FUNCTION})
"""Complaints that name what is written and what is declared, never a value."""


class Evaluator:
    """One evaluation: the scope and where complaints go.

    ``hidden``: some of the scope's values are parts of something sensitive (the elements in a ``for`` over
    it) without a mark of their own, so that no complaint may show a value.
    """

    def __init__(self, scope: Scope, diagnostics: Diagnostics, *, hidden: bool = False) -> None:
        self.scope, self.diagnostics, self.hidden = scope, diagnostics, hidden

    def value(self, expr: Expression) -> Value:
        return _METHODS[type(expr)](self, expr)

    def within(self, variables: Mapping[str, Value], *, hidden: bool) -> "Evaluator":
        return Evaluator(self.scope.child(variables), self.diagnostics, hidden=hidden or self.hidden)

    def silently(self, expr: Expression) -> tuple[Value, Diagnostics]:
        """The value, and the complaints that were not handed on."""
        scratch = Diagnostics()
        return Evaluator(self.scope, scratch, hidden=self.hidden).value(expr), scratch

    def fail(self, node: Node, code: Code, detail: str, context: Node | None = None) -> Value:
        """Complains, with the values of the references involved."""
        hidden = self.hidden and code not in _WITHOUT_DATA
        self.diagnostics.error(
            code,
            _HIDDEN if hidden else detail,
            subject=node.span,
            context=context.span if context is not None else None,
            values=() if self.hidden else self.values_of(context or node),
        )
        return unknown()

    def values_of(self, node: Node) -> tuple[tuple[str, str], ...]:
        out: dict[str, str] = {}
        for traversal in references(node)[:6]:
            if None in traversal.steps or str(traversal) in out:
                continue
            value = self.scope.lookup(traversal.root)
            for step in traversal.steps:
                value = _quiet_step(value, step)
            if value is not None and not isinstance(value.raw, Symbols):
                out[str(traversal)] = "(sensitive value)" if contains_sensitive(value) else show(value)
        return tuple(out.items())

    # Names and steps

    def literal(self, expr: Literal) -> Value:
        match expr.value:
            case str():
                return Value(STRING, expr.value)
            case bool():
                return Value(BOOL, expr.value)
            case None:
                return null()
            case Decimal():
                return Value(NUMBER, expr.value)

    def variable(self, expr: Variable) -> Value:
        found = self.scope.lookup(expr.name)
        if found is not None:
            return found
        known = list(self.scope.roots())
        hint = did_you_mean(expr.name, known)
        detail = hint.strip() or (
            f"Known here: {', '.join(sorted(known))}." if known else "Nothing can be referred to here."
        )
        return self.fail(
            expr,
            codes.UNKNOWN_SYMBOL,
            f'There is no "{expr.name}" here. {detail} A text is written in double quotes.',
        )

    def attribute(self, expr: GetAttribute) -> Value:
        return self.take_attribute(self.value(expr.source), expr.name, expr)

    def take_attribute(self, source: Value, name: str, expr: Node) -> Value:
        match source.raw:
            case None:
                return self.fail(
                    expr,
                    codes.ACCESS_TO_NULL,
                    f'The value before ".{name}" is null, so it has no attributes.',
                )
            case _ if source.raw is UNKNOWN:
                return self.unknown_attribute(source, name, expr)
            case Resource(address, _, attributes):
                return self.member(attributes, name, address, expr).with_sensitive(source.sensitive)
            case Symbols(symbol, members):
                return self.member(members, name, symbol, expr)
            case tuple():
                hint = (
                    f" To take it from each element, write [*].{name}."
                    if not isinstance(source.type, SetType)
                    else ""
                )
                return self.fail(
                    expr,
                    codes.UNSUPPORTED_ATTRIBUTE,
                    f'{_capital(named(source.type))} has no attribute "{name}".{hint}',
                )
            case Mapping():
                what = "map" if isinstance(source.type, MapType) else "object"
                return self.member(
                    source.raw, name, f"this {what}", expr, hidden=source.sensitive
                ).with_sensitive(source.sensitive)
            case _:
                return self.fail(
                    expr,
                    codes.UNSUPPORTED_ATTRIBUTE,
                    f'{_capital(named(source.type))} has no attributes, so there is no "{name}".',
                )

    def unknown_attribute(self, source: Value, name: str, expr: Node) -> Value:
        match source.type:
            case ObjectType(attributes):
                if name not in attributes:
                    hint = "" if source.sensitive else did_you_mean(name, attributes)
                    return self.fail(
                        expr, codes.UNSUPPORTED_ATTRIBUTE, f'This object has no attribute "{name}".{hint}'
                    )
                return unknown(attributes[name]).with_sensitive(source.sensitive)
            case MapType(element):
                return unknown(element).with_sensitive(source.sensitive)
            case AnyType() | RefType():
                return unknown().with_sensitive(source.sensitive)
            case _:
                return self.fail(
                    expr,
                    codes.UNSUPPORTED_ATTRIBUTE,
                    f'{_capital(named(source.type))} has no attribute "{name}".',
                )

    def member(
        self, members: Mapping[str, Value], name: str, owner: str, expr: Node, *, hidden: bool = False
    ) -> Value:
        try:
            return members[name]
        except KeyError:
            known = [] if hidden else list(members)
        hint = did_you_mean(name, known)
        if not hint and known:
            hint = f" It has {', '.join(map(str, known[:12]))}{', ...' if len(known) > 12 else ''}."
        return self.fail(expr, codes.UNSUPPORTED_ATTRIBUTE, f'{_capital(owner)} has no "{name}".{hint}')

    def index(self, expr: Index) -> Value:
        source = self.value(expr.source)
        return self.take_index(source, self.value(expr.key), expr, expr.key)

    def take_index(self, source: Value, key: Value, expr: Node, key_node: Node) -> Value:
        marked = source.sensitive or key.sensitive
        if source.raw is None:
            return self.fail(
                expr, codes.ACCESS_TO_NULL, "The value before the index is null, so it has no elements."
            )
        if key.raw is None:
            return self.fail(
                key_node, codes.INVALID_INDEX, "The index is null; it must be a number or a string.", expr
            )
        if isinstance(source.raw, Symbols | Resource) and isinstance(key.raw, str):
            return self.take_attribute(source, key.raw, expr).with_sensitive(marked)
        if source.raw is UNKNOWN or key.raw is UNKNOWN:
            return unknown(_element_type(source.type, key)).with_sensitive(marked)
        if isinstance(source.raw, tuple) and not isinstance(source.type, SetType):
            return self.element(source, key, expr, key_node).with_sensitive(marked)
        if isinstance(source.raw, Mapping):
            return self.entry(source, key, expr, key_node).with_sensitive(marked)
        if isinstance(source.type, SetType):
            return self.fail(
                expr,
                codes.INVALID_INDEX,
                "The elements of a set have no order and no keys. Convert it with tolist() first.",
            )
        return self.fail(expr, codes.INVALID_INDEX, f"{_capital(named(source.type))} has no elements.")

    def element(self, source: Value, key: Value, expr: Node, key_node: Node) -> Value:
        try:
            at = convert(key, NUMBER).raw
        except ConversionError as error:
            return self.fail(
                key_node,
                codes.INVALID_INDEX,
                f"The index of {named(source.type)} is a number: {error}.",
                expr,
            )
        if at != at.to_integral_value():
            return self.fail(key_node, codes.INVALID_INDEX, "An index is a whole number.", expr)
        count = len(source.raw)
        if not 0 <= at < count:
            has = f"It has {count} element{'' if count == 1 else 's'}" + (
                f", 0 to {count - 1}." if count else "."
            )
            has = "How many it has is sensitive." if source.sensitive else has
            negative = " Indexes do not count from the end." if at < 0 else ""
            return self.fail(
                key_node, codes.INVALID_INDEX, f"There is no element {_shown(key)}. {has}{negative}", expr
            )
        item: Value = source.raw[int(at)]
        return item

    def entry(self, source: Value, key: Value, expr: Node, key_node: Node) -> Value:
        try:
            name = convert(key, STRING).raw
        except ConversionError as error:
            return self.fail(
                key_node, codes.INVALID_INDEX, f"The key of {named(source.type)} is a string: {error}.", expr
            )
        if name not in source.raw:
            hint = "" if key.sensitive or source.sensitive else did_you_mean(name, source.raw)
            return self.fail(key_node, codes.INVALID_INDEX, f"There is no key {_shown(key)}.{hint}", expr)
        item: Value = source.raw[name]
        return item

    def splat(self, expr: Splat) -> Value:
        return self.spread(self.value(expr.source), expr.steps, expr)

    def spread(self, source: Value, steps: tuple[SplatStep | Expression | str, ...], expr: Node) -> Value:
        """A splat of a value: its elements, or the value itself as the only one, or none where it is null."""
        if source.raw is None:
            if isinstance(source.type, ListType | SetType | TupleType):
                return self.fail(
                    expr, codes.ACCESS_TO_NULL, "The list before the splat is null, so it has no elements."
                )
            return tuple_value(())
        if source.raw is UNKNOWN:
            return unknown().with_sensitive(source.sensitive)
        listed = isinstance(source.type, ListType | SetType)
        items = source.raw if isinstance(source.raw, tuple) else (replace(source, sensitive=False),)
        inside = Evaluator(self.scope, self.diagnostics, hidden=self.hidden or source.sensitive)
        results = [inside.after_splat(item, steps, expr) for item in items]
        if listed and results and all(item.type == results[0].type for item in results):
            return Value(ListType(results[0].type), tuple(results), source.sensitive)
        if isinstance(source.type, ListType | SetType) and not results:
            return Value(ListType(ANY if steps else source.type.element), (), source.sensitive)
        return tuple_value(results).with_sensitive(source.sensitive)

    def after_splat(self, item: Value, steps: tuple[SplatStep | Expression | str, ...], expr: Node) -> Value:
        for step in steps:
            match step:
                case str():
                    item = self.take_attribute(item, step, expr)
                case SplatStep():
                    item = self.spread(item, step.steps, expr)
                case _:
                    item = self.take_index(item, self.value(step), expr, step)
        return item

    # Operators

    def parentheses(self, expr: Parentheses) -> Value:
        return self.value(expr.inner)

    def unary(self, expr: Unary) -> Value:
        try:
            return operators.unary(expr.operator, self.value(expr.operand))
        except OperatorError as error:
            self.fail(expr.operand, codes.INVALID_OPERAND, error.message, expr)
            return unknown(BOOL if expr.operator == "!" else NUMBER)

    def binary(self, expr: Binary) -> Value:
        try:
            if expr.operator in {"&&", "||"}:
                left = self.value(expr.left)
                return operators.logical(expr.operator, left, lambda: self.right_side(left, expr.right))
            return operators.binary(expr.operator, self.value(expr.left), self.value(expr.right))
        except OperatorError as error:
            subject = {"left": expr.left, "right": expr.right}.get(error.side, expr)
            self.fail(subject, codes.INVALID_OPERAND, f'Operator "{expr.operator}": {error.message}', expr)
            return unknown(NUMBER if expr.operator in {"+", "-", "*", "/", "%"} else BOOL)

    def right_side(self, left: Value, right: Expression) -> Value:
        """The right side of a logical operator. While the left is unknown it is not known whether the right
        will ever count.
        """
        if left.raw is not UNKNOWN:
            return self.value(right)
        value, trouble = self.silently(right)
        return unknown(BOOL) if trouble.has_errors else value

    def conditional(self, expr: Conditional) -> Value:
        condition = self.condition(expr.condition, expr)
        then, then_trouble = self.silently(expr.then)
        otherwise, otherwise_trouble = self.silently(expr.otherwise)
        chosen = {True: [then_trouble], False: [otherwise_trouble]}.get(condition.raw, [])
        for trouble in chosen:
            self.diagnostics.extend(trouble)
        wanted = self.branch_type(then, otherwise, expr)
        if wanted is None:
            return unknown()
        if condition.raw is UNKNOWN:
            return unknown(wanted).with_sensitive(
                condition.sensitive or then.sensitive or otherwise.sensitive
            )
        picked = then if condition.raw else otherwise
        try:
            return convert(picked, wanted).with_sensitive(condition.sensitive)
        except ConversionError:
            return picked.with_sensitive(condition.sensitive)

    def branch_type(self, then: Value, otherwise: Value, expr: Conditional) -> Type | None:
        """The type of both results. A result that is resource or known to be null takes part with what it
        is.
        """
        types = [item.type for item in (then, otherwise)]
        if any(isinstance(item.raw, Symbols) for item in (then, otherwise)):
            return ANY
        found = unify(types)
        if found is None:
            self.fail(
                expr,
                codes.INCONSISTENT_CONDITIONAL,
                f"One result is {named(types[0])}, the other {named(types[1])}; no type fits both. Convert "
                "one of them.",
            )
        return found

    def condition(self, expr: Expression, context: Node) -> Value:
        value = self.value(expr)
        if value.raw is None:
            self.fail(
                expr, codes.INVALID_CONDITION, "A condition is true or false, and this one is null.", context
            )
            return unknown(BOOL)
        try:
            return convert(value, BOOL)
        except ConversionError as error:
            self.fail(expr, codes.INVALID_CONDITION, f"A condition is true or false: {error}.", context)
            return unknown(BOOL)

    # Collections

    def tuple_constructor(self, expr: TupleConstructor) -> Value:
        return tuple_value([self.value(item) for item in expr.items])

    def object_constructor(self, expr: ObjectConstructor) -> Value:
        out: dict[str, Value] = {}
        is_known, marked = True, False
        for item in expr.items:
            key = string(item.key.name) if isinstance(item.key, Variable) else self.value(item.key)
            name, value = self.key(key, item.key, expr), self.value(item.value)
            marked = marked or key.sensitive
            if name is None:
                is_known = False
            else:
                out[name] = value
        if not is_known:
            return unknown().with_sensitive(marked)
        return object_value(out).with_sensitive(marked)

    def key(self, key: Value, node: Node, context: Node) -> str | None:
        """The text of a key; None where it is unknown or wrong (and reported)."""
        if key.raw is UNKNOWN:
            return None
        if key.raw is None:
            self.fail(node, codes.INVALID_KEY, "The key of an item is null; it must be a string.", context)
            return None
        try:
            text = convert(key, STRING).raw
        except ConversionError as error:
            self.fail(node, codes.INVALID_KEY, f"The key of an item is a string: {error}.", context)
            return None
        return text if isinstance(text, str) else None

    def for_items(
        self, expr: ForTuple | ForObject | TemplateFor
    ) -> tuple[Value, Iterator[tuple[Value, Value]] | None]:
        """The collection, and its keys and values; None where it is unknown or cannot be gone through (and
        that is reported).
        """
        source = self.value(expr.collection)
        match source.raw:
            case None:
                self.fail(
                    expr.collection,
                    codes.INVALID_ITERATION,
                    "A for expression needs a list, set, map or object, and this is null.",
                    expr,
                )
                return source, None
            case tuple() if isinstance(source.type, SetType):
                return source, ((item, item) for item in source.raw)
            case tuple():
                return source, (
                    (Value(NUMBER, Decimal(index)), item) for index, item in enumerate(source.raw)
                )
            case Mapping():
                return source, ((Value(STRING, name), source.raw[name]) for name in sorted(source.raw))
            case Symbols(_, members) | Resource(_, _, members):
                return source, ((Value(STRING, name), members[name]) for name in sorted(members))
            case _ if source.raw is UNKNOWN:
                return source, None
            case _:
                self.fail(
                    expr.collection,
                    codes.INVALID_ITERATION,
                    f"A for expression needs a list, set, map or object, not {named(source.type)}.",
                    expr,
                )
                return source, None

    def bound(
        self, expr: ForTuple | ForObject | TemplateFor, source: Value, key: Value, value: Value
    ) -> "Evaluator":
        names = {expr.value_name: value}
        if expr.key_name is not None:
            names[expr.key_name] = key
        return self.within(names, hidden=source.sensitive)

    def for_tuple(self, expr: ForTuple) -> Value:
        source, items = self.for_items(expr)
        if items is None:
            return unknown().with_sensitive(source.sensitive)
        out: list[Value] = []
        marked = source.sensitive
        for key, value in items:
            inside = self.bound(expr, source, key, value)
            kept = inside.condition(expr.condition, expr) if expr.condition is not None else None
            if kept is not None:
                marked = marked or kept.sensitive
                if kept.raw is UNKNOWN:
                    return unknown().with_sensitive(marked)
            if kept is None or kept.raw:
                out.append(inside.value(expr.result))
        return tuple_value(out).with_sensitive(marked)

    def for_object(self, expr: ForObject) -> Value:
        source, items = self.for_items(expr)
        if items is None:
            return unknown().with_sensitive(source.sensitive)
        groups: dict[str, list[Value]] = {}
        marked, is_known = source.sensitive, True
        for key, value in items:
            inside = self.bound(expr, source, key, value)
            kept = inside.condition(expr.condition, expr) if expr.condition is not None else None
            if kept is not None:
                marked = marked or kept.sensitive
                is_known = is_known and kept.raw is not UNKNOWN
            if kept is not None and kept.raw is not True:
                continue
            found = inside.value(expr.result_key)
            marked = marked or found.sensitive
            name = inside.key(found, expr.result_key, expr)
            if name is None:
                is_known = False
            elif name in groups and not expr.group:
                inside.fail(
                    expr.result_key,
                    codes.DUPLICATE_KEY,
                    f"Two items have the key {_shown(found)}. To gather the values of each key, write ... "
                    "after the value.",
                    expr,
                )
            else:
                groups.setdefault(name, []).append(inside.value(expr.result))
        if not is_known:
            return unknown().with_sensitive(marked)
        result = {name: tuple_value(values) if expr.group else values[0] for name, values in groups.items()}
        return object_value(result).with_sensitive(marked)

    # Templates

    def template(self, expr: Template) -> Value:
        if (
            len(expr.parts) == 1
            and isinstance(expr.parts[0], Node)
            and not isinstance(expr.parts[0], TemplateIf | TemplateFor)
        ):
            return self.value(expr.parts[0])
        return self.joined(expr.parts, expr)

    def joined(self, parts: tuple[TemplatePart, ...], context: Node) -> Value:
        texts: list[str] = []
        marked, is_known, length = False, True, 0
        for part in parts:
            value = self.part(part, context)
            marked = marked or value.sensitive
            if value.raw is UNKNOWN:
                is_known = False
            else:
                texts.append(value.raw)
                length += len(value.raw)
            if length > LONGEST_TEXT:
                self.too_long(context)
                return unknown(STRING).with_sensitive(marked)
        if not is_known:
            return unknown(STRING).with_sensitive(marked)
        return Value(STRING, "".join(texts), marked)

    def too_long(self, node: Node) -> None:
        self.fail(node, codes.TEXT_TOO_LONG, f"A text has up to {LONGEST_TEXT:,} characters.")

    def part(self, part: TemplatePart, context: Node) -> Value:
        match part:
            case str():
                return string(part)
            case TemplateIf():
                return self.template_if(part)
            case TemplateFor():
                return self.template_for(part)
            case _:
                return self.interpolated(part, context)

    def interpolated(self, expr: Expression, context: Node) -> Value:
        value = self.value(expr)
        if value.raw is None:
            self.fail(
                expr, codes.INVALID_TEMPLATE_VALUE, "The expression is null, and null has no text.", context
            )
            return unknown(STRING)
        try:
            return convert(value, STRING)
        except ConversionError as error:
            self.fail(
                expr,
                codes.INVALID_TEMPLATE_VALUE,
                f"Only strings, numbers and bools can stand in a template: {error}.",
                context,
            )
            return unknown(STRING)

    def template_if(self, part: TemplateIf) -> Value:
        condition = self.condition(part.condition, part)
        if condition.raw is UNKNOWN:
            return unknown(STRING).with_sensitive(condition.sensitive)
        return self.joined(part.then if condition.raw else part.otherwise, part).with_sensitive(
            condition.sensitive
        )

    def template_for(self, part: TemplateFor) -> Value:
        source, items = self.for_items(part)
        if items is None:
            return unknown(STRING).with_sensitive(source.sensitive)
        values, length = list[Value](), 0
        for key, value in items:
            values.append(self.bound(part, source, key, value).joined(part.body, part))
            length += len(values[-1].raw) if isinstance(values[-1].raw, str) else 0
            if length > LONGEST_TEXT:
                self.too_long(part)
                return unknown(STRING).with_sensitive(source.sensitive)
        marked = source.sensitive or any(value.sensitive for value in values)
        if any(value.raw is UNKNOWN for value in values):
            return unknown(STRING).with_sensitive(marked)
        return Value(STRING, "".join(value.raw for value in values), marked)

    def call(self, expr: Call) -> Value:
        return call_function(self, expr)


_METHODS: Final[dict[type, Callable[[Evaluator, Any], Value]]] = {
    Literal: Evaluator.literal,
    Variable: Evaluator.variable,
    GetAttribute: Evaluator.attribute,
    Index: Evaluator.index,
    Splat: Evaluator.splat,
    Parentheses: Evaluator.parentheses,
    Unary: Evaluator.unary,
    Binary: Evaluator.binary,
    Conditional: Evaluator.conditional,
    TupleConstructor: Evaluator.tuple_constructor,
    ObjectConstructor: Evaluator.object_constructor,
    ForTuple: Evaluator.for_tuple,
    ForObject: Evaluator.for_object,
    Template: Evaluator.template,
    Call: Evaluator.call,
}


def _quiet_step(value: Value | None, step: str | int | None) -> Value | None:
    """One step of a traversal, or None where it leads nowhere."""
    if value is None or value.sensitive:
        return value
    match value.raw:
        case Resource(_, _, members) | Symbols(_, members) if isinstance(step, str):
            try:
                return members[step]
            except KeyError:
                return None
        case Mapping() if isinstance(step, str):
            return value.raw.get(step)
        case tuple() if isinstance(step, int) and 0 <= step < len(value.raw):
            item: Value = value.raw[step]
            return item
        case _:
            return None


def _element_type(source: Type, key: Value) -> Type:
    match source:
        case ListType(element) | MapType(element):
            return element
        case ObjectType(attributes) if isinstance(key.raw, str) and key.raw in attributes:
            return attributes[key.raw]
        case TupleType(elements) if isinstance(key.raw, Decimal) and 0 <= key.raw < len(elements):
            return elements[int(key.raw)]
        case _:
            return ANY


def _shown(value: Value) -> str:
    return "(sensitive value)" if value.sensitive else show(unmark(value))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:] if text.startswith(("a ", "an ", "this ")) else text
