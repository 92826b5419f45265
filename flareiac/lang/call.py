"""Function calls: arguments to parameters, conversion, unknown and sensitive, and the sentences when
something does not fit.
"""

from typing import Protocol

from flareiac.kernel import codes
from flareiac.kernel.codes import Code
from flareiac.kernel.data import UNKNOWN
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.kernel.types import AnyType
from flareiac.lang.conversion import ConversionError, convert
from flareiac.lang.functions.signature import LONGEST_TEXT, MOST_ELEMENTS, Builtin, FunctionError, Parameter
from flareiac.lang.scope import Scope
from flareiac.lang.syntax import Call, Expression, Node
from flareiac.lang.values import Symbols, Value, boolean, contains_sensitive, unknown, unmark


class Evaluating(Protocol):
    """What a call needs of the evaluation around it."""

    scope: Scope

    def value(self, expr: Expression) -> Value: ...

    def silently(self, expr: Expression) -> tuple[Value, Diagnostics]: ...

    def fail(self, node: Node, code: Code, detail: str, context: Node | None = None) -> Value: ...


def call_function(evaluator: Evaluating, expr: Call) -> Value:
    """The value of a call."""
    match expr.name.removeprefix("core::"):
        case "try" | "can" as name:
            return _attempt(evaluator, expr, name)
        case name:
            function = evaluator.scope.functions.get(name)
    if function is None:
        known = [*evaluator.scope.functions, "try", "can"]
        return evaluator.fail(
            expr,
            codes.UNKNOWN_FUNCTION,
            f'There is no function "{expr.name}".{did_you_mean(expr.name, known)}',
        )
    arguments = _arguments(evaluator, expr)
    if arguments is None:
        return unknown()
    return _called(evaluator, expr, function, arguments)


def _attempt(evaluator: Evaluating, expr: Call, name: str) -> Value:
    """``try`` gives the first argument that evaluates without error, ``can`` tells whether its one argument
    does.
    """
    if not expr.arguments or (name == "can" and len(expr.arguments) > 1):
        count = "one argument" if name == "can" else "at least one argument"
        return evaluator.fail(expr, codes.WRONG_ARGUMENT_COUNT, f"{name}() takes {count}.")
    trouble: list[str] = []
    for argument in expr.arguments:
        value, diagnostics = evaluator.silently(argument)
        if name == "can":
            return boolean(not diagnostics.has_errors).with_sensitive(
                not diagnostics.has_errors and contains_sensitive(value)
            )
        if not diagnostics.has_errors:
            return value
        trouble.extend(item.line for item in diagnostics)
    return evaluator.fail(expr, codes.NOTHING_TO_TRY, " ".join(trouble[:4]))


def _arguments(evaluator: Evaluating, expr: Call) -> list[tuple[Value, Node]] | None:
    """The values with the syntax they come from; None where the expanded argument is unknown or no list."""
    found: list[tuple[Value, Node]] = [(evaluator.value(item), item) for item in expr.arguments]
    if not expr.expand or not found:
        return found
    last, node = found.pop()
    if last.raw is UNKNOWN:
        return None
    if not isinstance(last.raw, tuple):
        evaluator.fail(
            node,
            codes.INVALID_ARGUMENT,
            "Only a list, set or tuple can be expanded with ... into arguments.",
            expr,
        )
        return None
    return [*found, *((item.with_sensitive(last.sensitive), node) for item in last.raw)]


def _parameters(function: Builtin, count: int) -> list[Parameter] | None:
    """The parameter of each argument, or None where the number does not fit."""
    least = len(function.parameters) if function.required < 0 else function.required
    if count < least or (count > len(function.parameters) and function.variadic is None):
        return None
    listed = list(function.parameters[:count])
    if function.variadic is not None:
        listed.extend([function.variadic] * (count - len(listed)))
    return listed


def _called(
    evaluator: Evaluating, expr: Call, function: Builtin, arguments: list[tuple[Value, Node]]
) -> Value:
    parameters = _parameters(function, len(arguments))
    if parameters is None:
        return evaluator.fail(
            expr, codes.WRONG_ARGUMENT_COUNT, f"{function.signature} was given {len(arguments)}."
        )
    ready: list[Value] = []
    is_known, marked = True, False
    for (value, node), parameter in zip(arguments, parameters, strict=True):
        prepared = _prepared(evaluator, expr, function, value, node, parameter)
        if prepared is None:
            return unknown()
        if not parameter.raw:
            if parameter.parts:
                marked = marked or prepared.sensitive
            elif contains_sensitive(prepared):
                prepared, marked = unmark(prepared), True
            is_known = is_known and (not prepared.is_unknown if parameter.parts else prepared.is_known)
        ready.append(prepared)
    if not is_known:
        return unknown(function.returns(tuple(ready)), sensitive=marked)
    try:
        return _bounded(function.call(*ready)).with_sensitive(marked)
    except ArithmeticError:
        return evaluator.fail(
            expr, codes.FUNCTION_FAILED, f"{function.name}(): The result is too large for a number."
        )
    except (FunctionError, ConversionError) as error:
        at = getattr(error, "argument", None)
        node = arguments[at][1] if at is not None and at < len(arguments) else expr
        message = error.message[:1].upper() + error.message[1:]
        if marked:
            message = "One of the arguments is sensitive, so that the reason is not shown."
        return evaluator.fail(node, codes.FUNCTION_FAILED, f"{function.name}(): {message.rstrip('.')}.", expr)


def _bounded(result: Value) -> Value:
    """The result, where it is not too large to go on with. Raises ``FunctionError``."""
    if isinstance(result.raw, str) and len(result.raw) > LONGEST_TEXT:
        raise FunctionError(f"the result has more than {LONGEST_TEXT:,} characters")
    if isinstance(result.raw, tuple) and len(result.raw) > MOST_ELEMENTS:
        raise FunctionError(f"the result has more than {MOST_ELEMENTS:,} elements")
    return result


def _prepared(
    evaluator: Evaluating, expr: Call, function: Builtin, value: Value, node: Node, parameter: Parameter
) -> Value | None:
    """The argument as its parameter takes it, or None after complaining."""
    if value.raw is None and not parameter.null:
        evaluator.fail(
            node,
            codes.INVALID_ARGUMENT,
            f'"{parameter.name}" of {function.signature} must not be null.',
            expr,
        )
        return None
    if isinstance(value.raw, Symbols):
        members = value.raw.members
        value = Value(value.type, {name: members[name] for name in members})
    try:
        return value if isinstance(parameter.type, AnyType) else convert(value, parameter.type)
    except ConversionError as error:
        evaluator.fail(
            node,
            codes.INVALID_ARGUMENT,
            f'Unsuitable "{parameter.name}" of {function.signature}: {error}.',
            expr,
        )
        return None
