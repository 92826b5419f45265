"""Function calls: arguments to parameters, conversion, unknown and sensitive, and the sentences when
something does not fit.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple, Protocol

from flareiac.kernel import codes
from flareiac.kernel.codes import Code
from flareiac.kernel.data import UNKNOWN
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, did_you_mean
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.types import BOOL
from flareiac.lang.conversion import ConversionError, convert
from flareiac.lang.functions.signature import (
    Builtin,
    FunctionError,
    LimitError,
    Parameter,
    Template,
    within_limit,
)
from flareiac.lang.scope import Scope
from flareiac.lang.syntax import Call, Expression, GetAttribute, Index, Node, Splat, Variable
from flareiac.lang.values import Symbols, Value, boolean, contains_sensitive, unknown, unmark

ALWAYS: Final = frozenset(
    code.id
    for code in (
        codes.UNKNOWN_SYMBOL,
        codes.UNKNOWN_FUNCTION,
        codes.TOO_DEEP,
        codes.TEXT_TOO_LONG,
        codes.VALUE_TOO_LARGE,
    )
)
"""Complaints that no value decides: they count wherever they stand, also inside of ``try`` and in the result
of a conditional that is not taken.
"""
_ATTEMPTS: Final = ("try", "can")
"""Functions that take expressions, not values: errors in these are what they are about."""


_REFUSED: Final[Mapping[str, str]] = {
    "bcrypt": 'Terraform\'s function "bcrypt" gives another hash each time, so that no plan would ever be '
    "without a change. Make the hash once, outside, and hand it over in a sensitive variable.",
    "rsadecrypt": 'Terraform\'s function "rsadecrypt" needs a private key in the configuration, where none '
    "belongs. Decrypt outside, and hand the result over in a sensitive variable.",
    "list": 'Terraform has removed the function "list". Write tolist([ ... ]).',
    "map": 'Terraform has removed the function "map". Write tomap({ ... }).',
    **{
        name: f'The function "{name}" of {whose} is not supported.'
        for whose, names in (("OpenTofu", "base64gunzip cidrcontains urldecode"), ("Terraform", "convert"))
        for name in names.split()
    },
}
"""Functions of Terraform and OpenTofu that are refused, with the reason."""


_REFERENCES: Final = (Variable, GetAttribute, Index, Splat)
_IN_PLACE: Final = (
    "the template is a reference such as local.greeting to a text from elsewhere. One that is written in "
    "place needs no function: it is a string"
)


class Evaluating(Protocol):
    """The evaluation around a call, as the call uses it."""

    scope: Scope

    def value(self, expr: Expression) -> Value: ...

    def silently(self, expr: Expression) -> tuple[Value, Diagnostics]: ...

    def fail(self, node: Node, code: Code, detail: str, context: Node | None = None) -> Value: ...

    def check_names(self, node: Node) -> None: ...

    def rendered(self, template: Template) -> Value: ...

    def is_certain(self, complaint: Diagnostic) -> bool: ...


def call_function(evaluator: Evaluating, expr: Call) -> Value:
    """The value of a call."""
    name = expr.name.removeprefix("core::")
    if name in _ATTEMPTS:
        return _attempt(evaluator, expr, name)
    function = evaluator.scope.functions.get(name)
    if function is None:
        return evaluator.fail(expr, codes.UNKNOWN_FUNCTION, no_function(expr.name, evaluator.scope))
    arguments = _arguments(evaluator, expr)
    return unknown() if arguments is None else _Invocation(evaluator, expr, function).value(arguments)


def is_function(name: str, scope: Scope) -> bool:
    name = name.removeprefix("core::")
    return name in _ATTEMPTS or name in scope.functions


def no_function(name: str, scope: Scope) -> str:
    """The message for a function that does not exist."""
    if (reason := _REFUSED.get(name.removeprefix("core::"))) is not None:
        return reason
    return f'There is no function "{name}".{did_you_mean(name, [*scope.functions, *_ATTEMPTS])}'


def _attempt(evaluator: Evaluating, expr: Call, name: str) -> Value:
    """``try`` gives the first argument that evaluates without error, ``can`` tells whether its one argument
    does.
    """
    if not expr.arguments or (name == "can" and len(expr.arguments) > 1):
        count = "one argument" if name == "can" else "at least one argument"
        return evaluator.fail(expr, codes.WRONG_ARGUMENT_COUNT, f"{name}() takes {count}.")
    failure: list[str] = []
    for argument in expr.arguments:
        evaluator.check_names(argument)
    for argument in expr.arguments:
        value, diagnostics = evaluator.silently(argument)
        if any(map(evaluator.is_certain, diagnostics)):
            return unknown()
        good = not diagnostics.has_errors
        if name == "can" and good and not value.is_known:
            return unknown(BOOL, sensitive=contains_sensitive(value))  # it may fail once it is known
        if name == "can":
            return boolean(good).with_sensitive(good and contains_sensitive(value))
        if good:
            return value
        failure.extend(diagnostic.line for diagnostic in diagnostics)
    return evaluator.fail(expr, codes.NOTHING_TO_TRY, " ".join(failure[:4]))


def _arguments(evaluator: Evaluating, expr: Call) -> list[tuple[Value, Node]] | None:
    """The values with the syntax they come from; None where the expanded argument is unknown or no list."""
    arguments: list[tuple[Value, Node]] = [
        (evaluator.value(argument), argument) for argument in expr.arguments
    ]
    if not expr.expand or not arguments:
        return arguments
    last, node = arguments.pop()
    if isinstance(last.raw, tuple):
        return [*arguments, *((element.with_sensitive(last.sensitive), node) for element in last.raw)]
    if last.raw is not UNKNOWN:
        detail = "Only a list, set or tuple can be expanded with ... into arguments."
        evaluator.fail(node, codes.INVALID_ARGUMENT, detail, expr)
    return None


@dataclass(frozen=True, slots=True)
class _Invocation:
    """One call of one function, where it is written."""

    evaluator: Evaluating
    expr: Call
    function: Builtin

    def value(self, arguments: list[tuple[Value, Node]]) -> Value:
        parameters = self.function.parameters_of(len(arguments))
        if parameters is None:
            detail = f"{self.function.signature} was given {len(arguments)}."
            return self.evaluator.fail(self.expr, codes.WRONG_ARGUMENT_COUNT, detail)
        seen: list[_Seen] = []
        for (value, node), parameter in zip(arguments, parameters, strict=True):
            taken = self.taken(value, node, parameter)
            if taken is None:
                return unknown()
            seen.append(_seen(taken, parameter))
        marked = any(argument.marked for argument in seen)
        values = tuple(argument.value for argument in seen)
        if not all(argument.is_known for argument in seen):
            return unknown(self.function.returns(values), sensitive=marked)
        return self.result(values, [node for _, node in arguments], marked)

    def taken(self, value: Value, node: Node, parameter: Parameter) -> Value | None:
        """The argument as its parameter takes it, or None after complaining."""
        wrong = f'"{parameter.name}" of {self.function.signature}'
        try:
            if value.raw is not None or parameter.null:
                return convert(_whole(value), parameter.type)
            wrong = f"{wrong} must not be null."
        except ConversionError as error:
            wrong = f"Unsuitable {wrong}: {error}."
        self.evaluator.fail(node, codes.INVALID_ARGUMENT, wrong, self.expr)
        return None

    def result(self, values: tuple[Value, ...], nodes: list[Node], marked: bool) -> Value:
        try:
            result = self.function.call(*values)
            if isinstance(result, Template):
                if result.is_text and not isinstance(nodes[0], _REFERENCES):
                    raise FunctionError(_IN_PLACE, 0)
                result = self.evaluator.rendered(result)
            return _bounded(result).with_sensitive(marked)
        except ArithmeticError:
            detail = f"{self.function.name}(): The result is too large for a number."
            return self.evaluator.fail(self.expr, codes.FUNCTION_FAILED, detail)
        except LimitError as error:
            detail = f"{self.function.name}(): {error.message[:1].upper()}{error.message[1:]}."
            return self.evaluator.fail(self.expr, codes.VALUE_TOO_LARGE, detail)
        except (FunctionError, ConversionError) as error:
            at = getattr(error, "argument", None)
            node = nodes[at] if at is not None and at < len(nodes) else self.expr
            reason = error.message[:1].upper() + error.message[1:].rstrip(".")
            if marked:
                reason = "One of the arguments is sensitive, so that the reason is not shown"
            detail = f"{self.function.name}(): {reason}."
            return self.evaluator.fail(node, codes.FUNCTION_FAILED, detail, self.expr)


class _Seen(NamedTuple):
    """An argument as a function sees it, and its effect on the result."""

    value: Value
    is_known: bool
    marked: bool


def _seen(value: Value, parameter: Parameter) -> _Seen:
    if parameter.raw:
        return _Seen(value, True, False)
    if parameter.parts:
        return _Seen(value, not value.is_unknown, value.sensitive)
    marked = contains_sensitive(value)
    return _Seen(unmark(value) if marked else value, value.is_known, marked)


def _whole(value: Value) -> Value:
    """A root symbol with all of its members, so that a function can take it for an object."""
    if not isinstance(value.raw, Symbols):
        return value
    members = value.raw.members
    return Value(value.type, {name: members[name] for name in members})


def _bounded(result: Value) -> Value:
    """The result, where it is not too large to go on with. Raises ``LimitError``."""
    if isinstance(result.raw, str):
        within_limit(len(result.raw))
    elif isinstance(result.raw, tuple | Mapping):
        within_limit(result.weight, "parts")
    return result
