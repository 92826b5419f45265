"""Evaluates expressions. What a user got wrong is reported once and becomes an unknown, so that evaluation
always goes on. python-hcl2 evaluates nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from types import NoneType
from typing import Any, Final

from flareiac.kernel import codes
from flareiac.kernel.codes import Code
from flareiac.kernel.data import UNKNOWN
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, did_you_mean
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Source
from flareiac.kernel.types import (
    ANY,
    BOOL,
    NUMBER,
    STRING,
    AnyType,
    BoolType,
    ListType,
    MapType,
    NumberType,
    ObjectType,
    RefType,
    SetType,
    StringType,
    TupleType,
    Type,
)
from flareiac.lang import operators
from flareiac.lang.call import ALWAYS, call_function, is_function, no_function
from flareiac.lang.conversion import ConversionError, convert, named, unify
from flareiac.lang.functions.signature import FunctionError, LimitError
from flareiac.lang.functions.signature import Template as FunctionTemplate
from flareiac.lang.operators import OperatorError
from flareiac.lang.references import calls, references
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
    Loop,
    Node,
    ObjectConstructor,
    Parentheses,
    Splat,
    SplatStep,
    SplatSteps,
    Template,
    TemplateFor,
    TemplateIf,
    TemplatePart,
    TupleConstructor,
    Unary,
    Variable,
)
from flareiac.lang.template_text import parse_template
from flareiac.lang.values import (
    LONGEST_TEXT,
    MOST_ELEMENTS,
    NamedValues,
    Resource,
    Symbols,
    Value,
    boolean,
    contains_sensitive,
    normal,
    object_value,
    pairs,
    show,
    spelling,
    string,
    tuple_value,
    united,
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
_LIMITS: Final = frozenset({codes.TOO_DEEP.id, codes.TEXT_TOO_LONG.id, codes.VALUE_TOO_LARGE.id})
_WITHOUT_DATA: Final = frozenset({codes.UNKNOWN_SYMBOL, codes.UNKNOWN_FUNCTION})
"""Complaints that name what is written and what is declared, never a value."""


@dataclass(frozen=True, slots=True)
class _Need:
    """The requirement on a value at some place: its type, and the complaints about null and about anything
    else.
    """

    type: Type
    code: Code
    of_null: str
    of_others: str


_CONDITION: Final = _Need(
    BOOL,
    codes.INVALID_CONDITION,
    "A condition is true or false, and this one is null.",
    "A condition is true or false",
)
_KEY: Final = _Need(
    STRING,
    codes.INVALID_KEY,
    "The key of an item is null; it must be a string.",
    "The key of an item is a string",
)
_TEXT: Final = _Need(
    STRING,
    codes.INVALID_TEMPLATE_VALUE,
    "The expression is null, and null has no text.",
    "Only strings, numbers and bools can stand in a template",
)
_NULL_INDEX: Final = "The index is null; it must be a number or a string."
_WITHOUT_PARTS: Final = (StringType, NumberType, BoolType)
_LITERALS: Final[Mapping[type, Type]] = {str: STRING, bool: BOOL, Decimal: NUMBER, NoneType: ANY}


class Evaluator:
    """One evaluation: the scope and where complaints go.

    ``hidden``: some of the scope's values are parts of something sensitive (the elements in a ``for`` over
    it) without a mark of their own, so that no complaint may show a value.
    """

    def __init__(
        self, scope: Scope, diagnostics: Diagnostics, *, hidden: bool = False, steps: "_Steps | None" = None
    ) -> None:
        self.scope, self.diagnostics, self.hidden = scope, diagnostics, hidden
        self.steps = steps or _Steps()

    def value(self, expr: Expression) -> Value:
        return _METHODS[type(expr)](self, expr)

    def within(self, variables: Mapping[str, Value], *, hidden: bool) -> "Evaluator":
        return Evaluator(
            self.scope.child(variables), self.diagnostics, hidden=hidden or self.hidden, steps=self.steps
        )

    def silently(self, expr: Expression) -> tuple[Value, Diagnostics]:
        """The value, and the complaints, of which those alone are handed on that no value decides."""
        scratch = Diagnostics()
        value = Evaluator(self.scope, scratch, hidden=self.hidden, steps=self.steps).value(expr)
        self.diagnostics.extend(diagnostic for diagnostic in scratch if self.is_certain(diagnostic))
        return value, scratch

    def is_certain(self, complaint: Diagnostic) -> bool:
        """Returns True where a complaint counts, whatever the values are."""
        return complaint.code in ALWAYS or complaint in self.steps.certain

    def check_names(self, node: Node) -> None:
        """Complains about the functions and root symbols that a node names and that are not there, although
        it may never be evaluated.
        """
        for traversal in references(node):
            if self.scope.lookup(traversal.root) is None:
                start, name = traversal.start, traversal.root
                self.no_symbol(Variable(traversal.origin, start, start + len(name), name=name), name)
        for call in calls(node):
            if not is_function(call.name, self.scope):
                self.fail(call, codes.UNKNOWN_FUNCTION, no_function(call.name, self.scope))

    def bounded(self, value: Value, node: Node) -> Value:
        """The value, where it is not too large to go on with."""
        if value.weight <= MOST_ELEMENTS:
            return value
        detail = (
            f"A value has up to {MOST_ELEMENTS:,} parts, and those that it holds several times count each "
            "time. Use a part of it."
        )
        return self.fail(node, codes.VALUE_TOO_LARGE, detail)

    def fail(self, node: Node, code: Code, detail: str, context: Node | None = None) -> Value:
        """Complains, with the values of the references involved."""
        hidden = self.hidden and code not in _WITHOUT_DATA
        self.diagnostics.error(
            code,
            _HIDDEN if hidden else detail,
            subject=node.span,
            context=context.span if context is not None else None,
            # Nothing goes through what is too large, not even to show the beginning of it
            values=() if self.hidden or code == codes.VALUE_TOO_LARGE else self.values_of(context or node),
        )
        return unknown()

    def needed(self, value: Value, need: _Need, node: Node, context: Node) -> Value | None:
        """The value as what is needed; None after complaining."""
        detail = need.of_null
        try:
            if value.raw is not None:
                return convert(value, need.type)
        except ConversionError as error:
            detail = f"{need.of_others}: {error}."
        self.fail(node, need.code, detail, context)
        return None

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

    def rendered(self, template: FunctionTemplate) -> Value:
        """The value that a template comes to. Raises ``FunctionError``."""
        scratch = Diagnostics()
        expr = parse_template(Source(template.name, template.text), scratch)
        value = unknown()
        if expr is not None and not scratch.has_errors:
            scope = _inside_template(template, expr, self.scope)
            value = Evaluator(scope, scratch, hidden=self.hidden, steps=self.steps).value(expr)
        for complaint in scratch:
            kind = LimitError if complaint.code in _LIMITS else FunctionError
            raise kind(f"at {complaint.subject}: {complaint.line}", 0)
        if value.raw is None:
            raise FunctionError("the template comes to null", 0)
        if template.is_text and not isinstance(value.type, StringType | AnyType):
            value = convert(value, STRING)
        return value

    # Names and steps

    def literal(self, expr: Literal) -> Value:
        return Value(_LITERALS[expr.value.__class__], expr.value)

    def variable(self, expr: Variable) -> Value:
        value = self.scope.lookup(expr.name)
        return self.no_symbol(expr, expr.name) if value is None else value

    def no_symbol(self, node: Node, name: str) -> Value:
        known = list(self.scope.roots())
        hint = did_you_mean(name, known)
        detail = hint.strip() or (
            f"Known here: {', '.join(sorted(known))}." if known else "Nothing can be referred to here."
        )
        return self.fail(
            node,
            codes.UNKNOWN_SYMBOL,
            f'There is no "{name}" here. {detail} A text is written in double quotes.',
        )

    def attribute(self, expr: GetAttribute) -> Value:
        return self.take_attribute(self.value(expr.source), expr.name, expr)

    def take_attribute(self, source: Value, name: str, expr: Node) -> Value:
        match source.raw:
            case None:
                detail = f'The value before ".{name}" is null, so it has no attributes.'
                return self.fail(expr, codes.ACCESS_TO_NULL, detail)
            case _ if source.raw is UNKNOWN:
                return self.unknown_attribute(source, name, expr)
            case Resource(owner, _, members) | Symbols(owner, members):
                value = self.member(members, name, owner, expr, static=isinstance(source.raw, Symbols))
            case Mapping() as members:
                owner = "this map" if isinstance(source.type, MapType) else "this object"
                value = self.member(members, name, owner, expr, hidden=source.sensitive)
            case _:
                return self.fail(expr, codes.UNSUPPORTED_ATTRIBUTE, _without_attribute(source.type, name))
        return value.with_sensitive(source.sensitive)

    def unknown_attribute(self, source: Value, name: str, expr: Node) -> Value:
        match source.type:
            case ObjectType(attributes):
                if name not in attributes:
                    hint = "" if source.sensitive else did_you_mean(name, attributes)
                    return self.fail(
                        expr, codes.UNSUPPORTED_ATTRIBUTE, f'This object has no attribute "{name}".{hint}'
                    )
                return unknown(attributes[name], sensitive=source.sensitive)
            case MapType(element):
                return unknown(element, sensitive=source.sensitive)
            case AnyType() | RefType():
                return unknown(sensitive=source.sensitive)
            case _:
                return self.fail(
                    expr,
                    codes.UNSUPPORTED_ATTRIBUTE,
                    f'{_capital(named(source.type))} has no attribute "{name}".',
                )

    def member(
        self,
        members: Mapping[str, Value],
        name: str,
        owner: str,
        expr: Node,
        *,
        hidden: bool = False,
        static: bool = False,
    ) -> Value:
        try:
            return members[name]
        except KeyError:
            known = [] if hidden else list(members)
        if isinstance(members, NamedValues):
            return self.fail(expr, *members.lacks(name))
        hint = did_you_mean(name, known)
        if not hint and known:
            hint = f" It has {', '.join(map(str, known[:12]))}{', ...' if len(known) > 12 else ''}."
        failed = self.fail(expr, codes.UNSUPPORTED_ATTRIBUTE, f'{_capital(owner)} has no "{name}".{hint}')
        if static:
            self.steps.certain.update(self.diagnostics.items[-1:])
        return failed

    def index(self, expr: Index) -> Value:
        source = self.value(expr.source)
        return self.take_index(source, self.value(expr.key), expr, expr.key)

    def take_index(self, source: Value, key: Value, expr: Node, key_node: Node) -> Value:
        match source.raw:
            case None:
                detail = "The value before the index is null, so it has no elements."
                return self.fail(expr, codes.ACCESS_TO_NULL, detail)
            case _ if key.raw is None:
                return self.fail(key_node, codes.INVALID_INDEX, _NULL_INDEX, expr)
            case Symbols() | Resource() if isinstance(key.raw, str):
                value = self.take_attribute(source, key.raw, expr)
            case _ if source.raw is UNKNOWN and isinstance(source.type, (*_WITHOUT_PARTS, SetType)):
                return self.fail(expr, codes.INVALID_INDEX, _without_elements(source.type))
            case _ if source.raw is UNKNOWN or key.raw is UNKNOWN:
                value = unknown(_element_type(source.type, key))
            case tuple() if not isinstance(source.type, SetType):
                value = self.element(source, key, expr, key_node)
            case Mapping():
                value = self.entry(source, key, expr, key_node)
            case _:
                return self.fail(expr, codes.INVALID_INDEX, _without_elements(source.type))
        return value.with_sensitive(source.sensitive or key.sensitive)

    def element(self, source: Value, key: Value, expr: Node, key_node: Node) -> Value:
        index = _Need(
            NUMBER, codes.INVALID_INDEX, _NULL_INDEX, f"The index of {named(source.type)} is a number"
        )
        position = self.needed(key, index, key_node, expr)
        if position is None:
            return unknown()
        at, count = position.raw, len(source.raw)
        if at != at.to_integral_value():
            return self.fail(key_node, codes.INVALID_INDEX, "An index is a whole number.", expr)
        if 0 <= at < count:
            element: Value = source.raw[int(at)]
            return element
        has = f"It has {count} element{'' if count == 1 else 's'}{f', 0 to {count - 1}' if count else ''}."
        if source.sensitive:
            has = "How many it has is sensitive."
        negative = " Indexes do not count from the end." if at < 0 else ""
        detail = f"There is no element {_shown(key)}. {has}{negative}"
        return self.fail(key_node, codes.INVALID_INDEX, detail, expr)

    def entry(self, source: Value, key: Value, expr: Node, key_node: Node) -> Value:
        of_others = f"The key of {named(source.type)} is a string"
        entry_key = self.needed(
            key, _Need(STRING, codes.INVALID_INDEX, _NULL_INDEX, of_others), key_node, expr
        )
        if entry_key is None:
            return unknown()
        name = spelling(source.raw, entry_key.raw)
        if name in source.raw:
            value: Value = source.raw[name]
            return value
        if isinstance(source.raw, NamedValues) and not key.sensitive:
            return self.fail(key_node, *source.raw.lacks(entry_key.raw), expr)
        hint = "" if key.sensitive or source.sensitive else did_you_mean(entry_key.raw, source.raw)
        return self.fail(key_node, codes.INVALID_INDEX, f"There is no key {_shown(key)}.{hint}", expr)

    def splat(self, expr: Splat) -> Value:
        return self.spread(self.value(expr.source), expr.steps, expr)

    def spread(self, source: Value, steps: SplatSteps, expr: Node) -> Value:
        """A splat of a value: its elements, or the value itself as the only one, or none where it is null."""
        element = source.type.element if isinstance(source.type, ListType | SetType) else None
        if source.raw is None:
            if element is None and not isinstance(source.type, TupleType):
                return tuple_value(())
            detail = "The list before the splat is null, so it has no elements."
            return self.fail(expr, codes.ACCESS_TO_NULL, detail)
        if source.raw is UNKNOWN:
            return self.spread_unknown(source, element, steps, expr)
        items = source.raw if isinstance(source.raw, tuple) else (replace(source, sensitive=False),)
        hidden = self.hidden or source.sensitive
        inside = Evaluator(self.scope, self.diagnostics, hidden=hidden, steps=self.steps)
        results = tuple(inside.after_splat(part, steps, expr) for part in items)
        types = [result.type for result in results]
        if not types:  # what the steps would make of an element, and whether there are such steps
            types = [inside.after_splat(unknown(ANY if element is None else element), steps, expr).type]
        if element is not None and types.count(types[0]) == len(types):
            return Value(ListType(types[0]), results, source.sensitive)
        return tuple_value(results).with_sensitive(source.sensitive)

    def spread_unknown(self, source: Value, element: Type | None, steps: SplatSteps, expr: Node) -> Value:
        """The value of a splat of an unknown value: a list of unknown length, or an unknown value of any type
        where the source may turn out to be null.
        """
        before = len(self.diagnostics)
        result = self.after_splat(unknown(source.type if element is None else element), steps, expr)
        if element is None or isinstance(element, AnyType) or len(self.diagnostics) > before:
            return unknown(sensitive=source.sensitive)
        return unknown(ListType(result.type), sensitive=source.sensitive)

    def after_splat(self, value: Value, steps: SplatSteps, expr: Node) -> Value:
        for step in steps:
            match step:
                case str():
                    value = self.take_attribute(value, step, expr)
                case SplatStep():
                    value = self.spread(value, step.steps, expr)
                case _:
                    value = self.take_index(value, self.value(step), expr, step)
        return value

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
                self.check_names(expr.right)
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
        value, failure = self.silently(right)
        return unknown(BOOL) if failure.has_errors else value

    def conditional(self, expr: Conditional) -> Value:
        condition = self.condition(expr.condition, expr)
        then, then_problems = self.silently(expr.then)
        otherwise, otherwise_problems = self.silently(expr.otherwise)
        if condition.raw is not UNKNOWN:
            self.diagnostics.extend(then_problems if condition.raw else otherwise_problems)
        # What could not be evaluated is of any type
        then = unknown() if then_problems.has_errors else then
        otherwise = unknown() if otherwise_problems.has_errors else otherwise
        wanted = self.branch_type(then, otherwise, expr)
        if wanted is None:
            return unknown()
        if condition.raw is UNKNOWN:
            marked = condition.sensitive or then.sensitive or otherwise.sensitive
            return unknown(wanted, sensitive=marked)
        picked = then if condition.raw else otherwise
        try:
            return convert(picked, wanted).with_sensitive(condition.sensitive)
        except ConversionError as error:
            side = expr.then if condition.raw else expr.otherwise
            detail = f"Both results become {named(wanted)}, and this one cannot: {error}."
            return self.fail(side, codes.INCONSISTENT_CONDITIONAL, detail, expr)

    def branch_type(self, then: Value, otherwise: Value, expr: Conditional) -> Type | None:
        """The type of both results. A result that is resource or known to be null takes part with what it
        is.
        """
        if isinstance(then.raw, Symbols) or isinstance(otherwise.raw, Symbols):
            return ANY
        common = unify([then.type, otherwise.type])
        if common is None:
            self.fail(
                expr,
                codes.INCONSISTENT_CONDITIONAL,
                f"One result is {named(then.type)}, the other {named(otherwise.type)}; no type fits both. "
                "Convert one of them.",
            )
        return common

    def condition(self, expr: Expression, context: Node) -> Value:
        return self.needed(self.value(expr), _CONDITION, expr, context) or unknown(BOOL)

    # Collections

    def tuple_constructor(self, expr: TupleConstructor) -> Value:
        return self.bounded(tuple_value([self.value(element) for element in expr.items]), expr)

    def object_constructor(self, expr: ObjectConstructor) -> Value:
        out: list[tuple[str, Value]] = []
        is_known, marked = True, False
        for member in expr.items:
            key = string(member.key.name) if isinstance(member.key, Variable) else self.value(member.key)
            name, value = self.key(key, member.key, expr), self.value(member.value)
            marked = marked or key.sensitive
            if name is None:
                is_known = False
            else:
                out.append((name, value))
        if not is_known:
            return unknown(sensitive=marked)
        return self.bounded(object_value(united(out)).with_sensitive(marked), expr)

    def key(self, key: Value, node: Node, context: Node) -> str | None:
        """The text of a key; None where it is unknown or wrong (and reported)."""
        text = None if key.raw is UNKNOWN else self.needed(key, _KEY, node, context)
        return None if text is None else str(text.raw)

    def iterations(self, expr: Loop) -> tuple[bool, Iterator["Evaluator"] | None]:
        """The marks and the elements of a loop: True if the collection is sensitive, and an evaluation for
        each of its elements; None where it is unknown or cannot be gone through (and that is reported).
        """
        source = self.value(expr.collection)
        items = pairs(source)
        if items is None:
            if source.raw is not UNKNOWN or isinstance(source.type, _WITHOUT_PARTS):
                what = "and this is null" if source.raw is None else f"not {named(source.type)}"
                detail = f"A for expression needs a list, set, map or object, {what}."
                self.fail(expr.collection, codes.INVALID_ITERATION, detail, expr)
            return source.sensitive, None
        count = _length(source)
        if not count:
            self.check_names(expr)
            self.check_condition(expr)
        self.steps.taken += count
        if self.steps.taken > MOST_ELEMENTS:
            detail = f"The loops of one expression go through up to {MOST_ELEMENTS:,} elements in all."
            if not self.steps.refused:
                self.fail(expr, codes.VALUE_TOO_LARGE, detail)
            self.steps.refused = True
            return source.sensitive, None
        return source.sensitive, (
            self.within(
                {expr.value_name: element} | ({expr.key_name: key} if expr.key_name is not None else {}),
                hidden=source.sensitive,
            )
            for key, element in items
        )

    def check_condition(self, expr: Loop) -> None:
        """Complains of a condition that is true or false for no element: no element is there to do so."""
        if isinstance(expr, ForTuple | ForObject):
            names = [expr.value_name, *([] if expr.key_name is None else [expr.key_name])]
            self.within(dict.fromkeys(names, unknown()), hidden=False).filtered(expr)

    def filtered(self, expr: ForTuple | ForObject) -> Value:
        """The value that decides if the result counts for the element at hand."""
        return boolean(True) if expr.condition is None else self.condition(expr.condition, expr)

    def for_tuple(self, expr: ForTuple) -> Value:
        marked, iterations = self.iterations(expr)
        if iterations is None:
            return unknown(sensitive=marked)
        out: list[Value] = []
        for inside in iterations:
            kept = inside.filtered(expr)
            marked = marked or kept.sensitive
            if kept.raw is UNKNOWN:
                return unknown(sensitive=marked)
            if kept.raw:
                out.append(inside.value(expr.result))
        return self.bounded(tuple_value(out).with_sensitive(marked), expr)

    def for_object(self, expr: ForObject) -> Value:
        marked, iterations = self.iterations(expr)
        if iterations is None:
            return unknown(sensitive=marked)
        groups: dict[str, list[Value]] = {}
        spelt: dict[str, str] = {}
        is_known = True
        for inside in iterations:
            kept = inside.filtered(expr)
            marked = marked or kept.sensitive
            if kept.raw is not True:
                is_known = is_known and kept.raw is not UNKNOWN
                continue
            key = inside.value(expr.result_key)
            marked = marked or key.sensitive
            name = inside.key(key, expr.result_key, expr)
            if name is None:
                is_known = False
                continue
            name = spelt.setdefault(normal(name), name)
            if name in groups and not expr.group:
                detail = (
                    f"Two items have the key {_shown(key)}. To gather the values of each key, write ... "
                    "after the value."
                )
                inside.fail(expr.result_key, codes.DUPLICATE_KEY, detail, expr)
            else:
                groups.setdefault(name, []).append(inside.value(expr.result))
        if not is_known:
            return unknown(sensitive=marked)
        result = {name: tuple_value(values) if expr.group else values[0] for name, values in groups.items()}
        return self.bounded(object_value(result).with_sensitive(marked), expr)

    # Templates

    def template(self, expr: Template) -> Value:
        match expr.parts:
            case (Node() as only,) if not isinstance(only, TemplateIf | TemplateFor):
                return self.value(only)
            case parts:
                return self.joined(parts, expr)

    def joined(self, parts: tuple[TemplatePart, ...], context: Node) -> Value:
        return self.concatenated((self.part(part, context) for part in parts), context)

    def concatenated(self, values: Iterable[Value], node: Node) -> Value:
        """Texts as one; unknown where any is."""
        texts: list[str] = []
        marked, is_known, length = False, True, 0
        for value in values:
            marked = marked or value.sensitive
            if value.raw is UNKNOWN:
                is_known = False
                continue
            texts.append(value.raw)
            length += len(value.raw)
            if length > LONGEST_TEXT:
                self.fail(node, codes.TEXT_TOO_LONG, f"A text has up to {LONGEST_TEXT:,} characters.")
                return unknown(STRING, sensitive=marked)
        return Value(STRING, "".join(texts) if is_known else UNKNOWN, marked)

    def part(self, part: TemplatePart, context: Node) -> Value:
        match part:
            case str():
                return string(part)
            case TemplateIf():
                return self.template_if(part)
            case TemplateFor():
                return self.template_for(part)
            case _:
                return self.needed(self.value(part), _TEXT, part, context) or unknown(STRING)

    def template_if(self, part: TemplateIf) -> Value:
        condition = self.condition(part.condition, part)
        if condition.raw is UNKNOWN:
            return unknown(STRING, sensitive=condition.sensitive)
        chosen, other = (part.then, part.otherwise) if condition.raw else (part.otherwise, part.then)
        for piece in other:
            if isinstance(piece, Node):
                self.check_names(piece)
        return self.joined(chosen, part).with_sensitive(condition.sensitive)

    def template_for(self, part: TemplateFor) -> Value:
        marked, iterations = self.iterations(part)
        if iterations is None:
            return unknown(STRING, sensitive=marked)
        texts = (inside.joined(part.body, part) for inside in iterations)
        return self.concatenated(texts, part).with_sensitive(marked)


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
    Call: call_function,
}


def _inside_template(template: FunctionTemplate, expr: Expression, around: Scope) -> Scope:
    """The symbols of a template: its variables, and the functions that it may call. Raises ``FunctionError``
    for one that it names and that is not among them.
    """
    names = template.variables
    for traversal in references(expr):
        if traversal.root not in names:
            hint = did_you_mean(traversal.root, names)
            why = f'the template is given no variable "{traversal.root}".{hint}'
            raise FunctionError(f"at {traversal.span}: {why}", 1)
    for call in calls(expr):
        function = around.functions.get(call.name.removeprefix("core::"))
        if function is None:
            continue
        if not function.in_templates:
            why = f"a template cannot evaluate another; hand over what {call.name}() gives as a variable"
            raise FunctionError(f"at {call.span}: {why}", 0)
        if function.reads_files and not template.reads_files:
            why = f"a text from elsewhere reads no files; hand over what {call.name}() gives as a variable"
            raise FunctionError(f"at {call.span}: {why}", 0)
    return Scope(lookup=names.get, functions=around.functions, roots=lambda: names)


class _Steps:
    """The number of elements that the loops of an expression have gone through, and the complaints about
    names that do not exist.
    """

    __slots__ = ("certain", "refused", "taken")

    def __init__(self) -> None:
        self.taken, self.refused = 0, False
        self.certain: set[Diagnostic] = set()


def _length(source: Value) -> int:
    """The number of elements that ``pairs`` goes through."""
    match source.raw:
        case Symbols(_, members) | Resource(_, _, members):
            return len(members)
        case parts:
            return len(parts)


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
            member: Value = value.raw[step]
            return member
        case _:
            return None


def _without_attribute(type: Type, name: str) -> str:  # noqa: A002 - the field's word
    match type:
        case ListType() | TupleType():
            why = f'attribute "{name}". To take it from each element, write [*].{name}.'
        case SetType():
            why = f'attribute "{name}".'
        case _:
            why = f'attributes, so there is no "{name}".'
    return f"{_capital(named(type))} has no {why}"


def _without_elements(type: Type) -> str:  # noqa: A002 - the field's word
    if isinstance(type, SetType):
        return "The elements of a set have no order and no keys. Convert it with tolist() first."
    return f"{_capital(named(type))} has no elements."


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
