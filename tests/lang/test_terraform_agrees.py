"""Results at the edges of functions, each as ``terraform console`` gives it."""

from pathlib import Path

import pytest

from flareiac.kernel.data import Data
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Source
from flareiac.lang.evaluate import evaluate
from flareiac.lang.functions import functions
from flareiac.lang.parse import parse_expression
from flareiac.lang.scope import Scope
from flareiac.lang.values import Value, to_data


def evaluated(text: str) -> tuple[Value, Diagnostics]:
    diagnostics = Diagnostics()
    expr = parse_expression(Source("x", text), diagnostics)
    assert expr is not None
    return evaluate(expr, Scope(functions=functions(Path())), diagnostics), diagnostics


@pytest.mark.parametrize(
    ("text", "wanted", "kind"),
    [
        ('tolist([null, "a", 100])', [None, "a", "100"], "list(string)"),
        ('toset([null, "a", 100])', ["100", "a", None], "set(string)"),
        ('tomap({ a = null, b = 1, c = "x" })', {"a": None, "b": "1", "c": "x"}, "map(string)"),
        ('distinct([null, 1, "a"])', [None, "1", "a"], "list(string)"),
        ('setsubtract([null, "a", 100], [true])', ["100", "a", None], "set(string)"),
        ("coalesce(true, null, -2)", True, "bool"),
        ('coalesce(null, 1, "a")', "1", "string"),
        ("coalescelist(tolist(null), [1])", [1], "tuple([number])"),
        ('index([1, 100, "1e3"], 100)', 1, "number"),
        ("element([1, 2, 3], 9223372036854775807)", 2, "number"),
        ('lookup({ a = "x" }, "b", 1)', 1, "number"),
        ('setproduct(tolist([]), tolist(["a"]))', [], "list(tuple([any, string]))"),
        ('setproduct(toset([]), toset(["a"]))', [], "set(tuple([any, string]))"),
        ("log(10, 0)", 0, "number"),
        (
            'jsonencode([[], {}, [1, null], { b = [true], a = "<" }])',
            '[[],{},[1,null],{"a":"\\u003c","b":[true]}]',
            "string",
        ),
        ('jsondecode("\\"\\\\ud800\\"")', "\ufffd", "string"),
        ('jsondecode("\\"\\\\ud83d\\\\ude00\\"")', "\U0001f600", "string"),
        ('"\\ud800"', "\ufffd", "string"),
    ],
)
def test_results(text: str, wanted: Data, kind: str) -> None:
    found, diagnostics = evaluated(text)
    assert not list(diagnostics)
    assert to_data(found) == wanted
    assert str(found.type) == kind


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("log(0, 10)", "infinite"),
        ("log(1, 1)", "above zero"),
        ("log(-1, 2)", "above zero"),
        ("pow(0, -1)", "infinite"),
        ("zipmap([null], [1])", "null"),
        ("tolist([null, true, 1])", "the same type"),
        ("coalescelist(null, [1])", "not null"),
        ("coalesce(tobool(null), 1)", "the same type"),
        ('index(toset(["a"]), "a")', "no order"),
        ("element([1, 2], 9223372036854775808)", "64 bits"),
        ("element([1, 2], -9223372036854775809)", "64 bits"),
        ("parseint(2, 10)", "string is required"),
        ('lookup(tomap({ a = "x" }), "a", [1])', "string is required"),
    ],
)
def test_refused(text: str, part: str) -> None:
    _, diagnostics = evaluated(text)
    (found,) = diagnostics
    assert part in found.detail
