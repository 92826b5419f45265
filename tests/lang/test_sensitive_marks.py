"""Sensitive values are neither shown nor can they be derived from the values that are shown.

The law: an expression is evaluated with several secrets in the same place; what may be shown of its results
is the same each time, and no complaint holds the secret.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Source
from flareiac.kernel.types import AnyType, BoolType, ListType, MapType, NumberType, SetType, Type
from flareiac.lang.evaluate import evaluate
from flareiac.lang.functions import functions
from flareiac.lang.functions.signature import Builtin, Parameter
from flareiac.lang.parse import parse_expression
from flareiac.lang.scope import Scope
from flareiac.lang.syntax import Expression
from flareiac.lang.values import Value, from_data, lazy_object, show, string

SECRET = "VARSECRET_c3"
SECRETS = (SECRET, "a", "VARSECRET_longer")
"""The second one is what the plain arguments are: a function that compares tells it apart."""
FUNCTIONS = functions(Path())
SHOWING = {"nonsensitive", "issensitive"}
MARKED = (
    "var.tok",
    "[var.tok]",
    "[[var.tok]]",
    '["a", var.tok]',
    "{ (var.tok) = 1 }",
    "{ (var.tok) = [1] }",
    "[{ (var.tok) = 1 }]",
    "{ a = var.tok }",
    "{ a = [var.tok] }",
    "{ a = { (var.tok) = 1 } }",
    "var.list",
    "var.map",
    "toset([var.tok])",
    "[for x in var.list : x]",
    '"x${var.tok}"',
)


def scope(secret: str) -> Scope:
    members: Mapping[str, Value] = {
        "tok": string(secret).with_sensitive(),
        "list": from_data([secret, "b"]).with_sensitive(),
        "map": from_data({secret: secret, "b": "c"}).with_sensitive(),
        "nested": from_data([{secret: [secret]}]).with_sensitive(),
    }
    roots = {"var": lazy_object(members, "var")}
    return Scope(lookup=roots.get, functions=FUNCTIONS, roots=lambda: roots)


@cache
def parsed(text: str) -> Expression | None:
    return parse_expression(Source("x", text), Diagnostics())


def evaluated(text: str, secret: str = SECRET) -> tuple[Value, Diagnostics]:
    diagnostics = Diagnostics()
    expr = parsed(text)
    assert expr is not None, text
    return evaluate(expr, scope(secret), diagnostics), diagnostics


def visible(value: Value) -> object:
    """All that may be shown of a value, its type included."""
    if value.sensitive:
        return "(sensitive value)"
    match value.raw:
        case tuple():
            return [str(type(value.type)), *map(visible, value.raw)]
        case Mapping():
            return {name: visible(item) for name, item in value.raw.items()}
        case raw:
            return (str(value.type), str(raw))


def plain(wanted: Type) -> tuple[str, ...]:
    match wanted:
        case NumberType():
            return ("1", "0")
        case BoolType():
            return ("true",)
        case ListType(element) | SetType(element):
            return tuple(f"[{item}]" for item in plain(element)[:1])
        case MapType(element):
            return tuple(f"{{ a = {item} }}" for item in plain(element)[:1])
        case AnyType():
            return ('"a"', '["a"]', "{ a = 1 }")
        case _:
            return ('"a"',)


def parameters(function: Builtin) -> Iterator[tuple[Parameter, ...]]:
    least = sum(not item.optional for item in function.parameters)
    for count in range(least, len(function.parameters) + 1):
        if count:
            yield function.parameters[:count]
    if function.variadic is not None:
        yield (*function.parameters, function.variadic)
        yield (*function.parameters, function.variadic, function.variadic)


def calls(function: Builtin) -> Iterator[str]:
    for taken in parameters(function):
        for at in range(len(taken)):
            others = [plain(item.type) if index != at else MARKED for index, item in enumerate(taken)]
            for arguments in product(*others):
                yield f"{function.name}({', '.join(arguments)})"


def check(text: str) -> None:
    shown = []
    for secret in SECRETS:
        value, diagnostics = evaluated(text, secret)
        if not diagnostics.has_errors:
            shown.append(visible(value))
        if secret != "a":
            assert secret not in str(list(diagnostics)), text
            assert secret not in show(value), text
            assert secret.lower() not in str(visible(value)).lower(), text
    assert all(item == shown[0] for item in shown), text


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - SHOWING))
def test_functions(name: str) -> None:
    for text in calls(FUNCTIONS[name]):
        check(text)
        check(f"[{text}][0].zzz")


@pytest.mark.parametrize(
    "marked",
    [*MARKED, "var.nested", "merge(var.map, { a = 1 })", "zipmap([var.tok], [1])", "flatten([[var.nested]])"],
)
@pytest.mark.parametrize(
    "around",
    [
        "{}.zzz",
        "{}[0].zzz",
        "{}[*].zzz",
        "{}.*.zzz",
        '{}["zzz"]',
        '{}["VARSECRET"]',
        '{}["VARSECRET_c"]',
        "{}.VARSECRET_c",
        "{}[0].VARSECRET_c",
        "{}[*].VARSECRET_c",
        "{}[99]",
        "{} + 1",
        "-{}",
        "!{}",
        "{} ? 1 : 2",
        '"${{{}}}"',
        "[for x in {} : x.zzz]",
        "[for x in {} : x + 1]",
        "[for x in {} : tonumber(x)]",
        "[for k, x in {} : tonumber(k)]",
        "[for x in {} : x.VARSECRET_c]",
        "{{for k, x in {} : k => x.zzz}}",
        "{{for k, x in {} : x => 1}}",
        "{{for k, x in {} : x => k + 1}}",
        "[for x in {} : [for y in x : y + 1]]",
        "[for x in {} : [for y, z in x : tonumber(y)]]",
        '"%{{ for x in {} }}${{x + 1}}%{{ endfor }}"',
        "[for x in {} : try(tonumber(x))]",
        "[for x in {} : 1 if x]",
        "{{ a = 1 }}[{}]",
        "{{ VARSECRET_c = 1 }}[{}]",
        "[1][{}]",
        "{} == 1",
        "{} == var.tok",
        "{} ? 1 : {{}}",
        "[{}...]",
        "concat({}...)",
        "max({}...)",
        "tonumber({})",
        "tolist({})",
        "tomap({})",
        "tomap({{ a = {}, b = [1] }})",
        "type({})",
        "type({{ a = {} }})",
        "jsondecode(jsonencode({})).zzz",
        'jsondecode("{{\\"${{jsonencode({})}}\\": 1}}")',
        "{}()",
    ],
)
def test_expressions(around: str, marked: str) -> None:
    text = around.format(marked)
    if parsed(text) is not None:
        check(text)


def test_a_complaint_still_names_what_is_not_sensitive() -> None:
    _, diagnostics = evaluated("[for x in var.list : uper(x)]")
    assert 'Did you mean "upper"?' in next(iter(diagnostics)).detail
    _, diagnostics = evaluated("{ apple = 1 }.aple")
    assert 'Did you mean "apple"?' in next(iter(diagnostics)).detail


def test_nonsensitive_shows() -> None:
    assert show(evaluated("nonsensitive(var.tok)")[0]) == f'"{SECRET}"'
