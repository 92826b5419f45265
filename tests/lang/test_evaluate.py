"""Expressions to values: what a user writes and what it is worth."""

from pathlib import Path

import pytest

from flareiac.kernel.data import UNKNOWN, Data
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Source
from flareiac.lang.evaluate import evaluate
from flareiac.lang.functions import functions
from flareiac.lang.parse import parse_expression
from flareiac.lang.scope import Scope
from flareiac.lang.values import (
    Value,
    contains_sensitive,
    from_data,
    lazy_object,
    object_value,
    resource_value,
    string,
    to_data,
    unknown,
)

FUNCTIONS = functions(Path())
VARIABLES = {
    "var": lazy_object(
        {"name": string("orders"), "secret": string("hush").with_sensitive(), "later": unknown()}, "var"
    ),
    "table": lazy_object(
        {"orders": resource_value("table.orders", "table", {"name": string("orders"), "id": unknown()})},
        "table",
    ),
    "people": from_data([{"name": "Ann", "age": 41}, {"name": "Bob", "age": 7}]),
    "ages": object_value({"ann": from_data(41), "bob": from_data(7)}),
}


def scope() -> Scope:
    return Scope(lookup=VARIABLES.get, functions=FUNCTIONS, roots=lambda: VARIABLES)


def value_of(text: str) -> tuple[Value, Diagnostics]:
    diagnostics = Diagnostics()
    expr = parse_expression(Source("expression", text), diagnostics)
    assert expr is not None, list(diagnostics)
    return evaluate(expr, scope(), diagnostics), diagnostics


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("0.1 + 0.2 == 0.3", True),
        ("-7 % 3", -1),
        ("!!true", True),
        ("10 / 4", 2.5),
        ("true || [][0]", True),
        ("false && [][0]", False),
        ('1 == 1 ? "yes" : "no"', "yes"),
        ('true ? 1 : "a"', "1"),
        ('"a${1 + 1}b"', "a2b"),
        ('"${people}"', [{"name": "Ann", "age": 41}, {"name": "Bob", "age": 7}]),
        ('"%{ if true }yes%{ else }no%{ endif }"', "yes"),
        ('"%{ for x in [1, 2] }<${x}>%{ endfor }"', "<1><2>"),
        ('"a ${~ 1 ~} b"', "a1b"),
        ('"$${x} %%{y}"', "${x} %{y}"),
        ("<<EOT\n  one\n two\nEOT\n", "  one\n two\n"),
        ("<<-EOT\n    one\n      two ${1}\n    EOT\n", "one\n  two 1\n"),
        ("[for p in people : p.name if p.age > 18]", ["Ann"]),
        ("{for name, age in ages : upper(name) => age}", {"ANN": 41, "BOB": 7}),
        (
            '{for p in people : (p.age > 18 ? "old" : "young") => p.name...}',
            {"old": ["Ann"], "young": ["Bob"]},
        ),
        ("people[*].name", ["Ann", "Bob"]),
        ("people.*.name[1]", "Bob"),
        ("people[0].age", 41),
        ("people.0.age", 41),
        ('ages["ann"]', 41),
        ('{ a = 1, "b" : 2, (var.name) = 3 }', {"a": 1, "b": 2, "orders": 3}),
        ("max([1, 5, 3]...)", 5),
        ("null == null", True),
        ('[1, "a"] == [1, "a"]', True),
        ('try(people[5].name, "none")', "none"),
        ("can(people[5])", False),
        ("table.orders.name", "orders"),
        ('duration("1h30m")', 5_400_000),
        ('bytes("2KB")', 2048),
        ('format("%03d %s %v", 7, "x", [true])', "007 x [true]"),
        ('jsonencode({b = [1, null], a = "<"})', '{"a":"\\u003c","b":[1,null]}'),
    ],
)
def test_value(text: str, wanted: Data) -> None:
    value, diagnostics = value_of(text)
    assert not list(diagnostics)
    assert to_data(value) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "var.later",
        "var.later + 1",
        '"x${var.later}"',
        "var.later ? 1 : 2",
        "[for x in var.later : x]",
        "upper(var.later)",
        "can(upper(var.later))",
    ],
)
def test_unknown_travels(text: str) -> None:
    value, diagnostics = value_of(text)
    assert not list(diagnostics)
    assert to_data(value) is UNKNOWN


@pytest.mark.parametrize(
    "text",
    [
        "var.secret",
        '"x${var.secret}"',
        "[var.secret]",
        "upper(var.secret)",
        'var.secret == "a"',
        'var.secret == "hush" ? 1 : 2',
    ],
)
def test_sensitive_travels(text: str) -> None:
    value, diagnostics = value_of(text)
    assert not list(diagnostics)
    assert contains_sensitive(value)


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        ("vra.name", "FIL101", 'Did you mean "var"?'),
        ("table.ordrs", "FIL102", 'Did you mean "orders"?'),
        ("people[2]", "FIL104", "2 elements, 0 to 1"),
        ("people.name", "FIL102", "[*].name"),
        ('1 + "x"', "FIL105", "number"),
        ("1 / 0", "FIL105", "zero"),
        ('uper("x")', "FIL120", 'Did you mean "upper"?'),
        ("upper()", "FIL121", "upper(text)"),
        ('"a${null}"', "FIL111", "null"),
        ('{for p in people : "same" => p}', "FIL110", "..."),
        ('parseint("xyz", 10)', "FIL123", "base 10"),
    ],
)
def test_trouble_is_told_once_with_a_way_out(text: str, code: str, part: str) -> None:
    _, diagnostics = value_of(text)
    (found,) = diagnostics
    assert found.code == code
    assert part in found.detail
    assert found.subject is not None


def test_values_of_references_are_told_but_never_sensitive_ones() -> None:
    _, diagnostics = value_of("people[0].age + var.secret")
    (found,) = diagnostics
    assert dict(found.values) == {"people[0].age": "41", "var.secret": "(sensitive value)"}
    assert "hush" not in str(found)
