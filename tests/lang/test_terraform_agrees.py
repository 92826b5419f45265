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

YAML_SCALARS = {"a": True, "b": 15, "c": "1_000", "d": "2026-01-02T00:00:00Z", "e": 1.5, "f": None}
YAML_TYPES = "object({a = bool, b = number, c = string, d = string, e = number, f = any})"
YAML_MERGED = [{"x": 1}, {"x": 1, "z": {"x": 1}}]
YAML_MERGED_TYPES = "tuple([object({x = number}), object({x = number, z = object({x = number})})])"


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
        ('cidrhost("0010.1.2.3/8", -1)', "10.255.255.255", "string"),
        ('cidrhost("fe80::/64", 16)', "fe80::10", "string"),
        ('cidrsubnet("10.1.2.3/8", 8, 3)', "10.3.0.0/16", "string"),
        ('cidrsubnet("fe80::/48", 80, 12345678901234567890)', "fe80::ab54:a98c:eb1f:ad2/128", "string"),
        (
            'cidrsubnets("10.0.0.0/8", 8, 4, 2)',
            ["10.0.0.0/16", "10.16.0.0/12", "10.64.0.0/10"],
            "list(string)",
        ),
        ('cidrsubnets("10.0.0.0/8")', [], "list(string)"),
        ('cidrnetmask("10.1.2.3/9")', "255.128.0.0", "string"),
        (
            'csvdecode("a,\\r\\n1,\\"x\\"\\"\\ny\\"\\n\\n")',
            [{"a": "1", "": 'x"\ny'}],
            "list(object({a = string,  = string}))",
        ),
        (
            "formatdate(\"H HH h hh AA 'o''clock' ''\", \"2026-01-01T00:05:09+05:30\")",
            "12 12 0 00 AM o'clock '",
            "string",
        ),
        (
            'formatdate("Z ZZZ ZZZZ ZZZZZ", "2026-01-01T12:05:09-05:30")',
            "-05:30 -0530 -0530 -05:30",
            "string",
        ),
        ('timeadd("2026-01-01T00:00:00.6Z", "-1.5h400ms")', "2025-12-31T22:30:00Z", "string"),
        ('timeadd("2026-01-01T00:00:00-00:00", "0")', "2026-01-01T00:00:00Z", "string"),
        ('timecmp("2026-01-01T00:00:00.1Z", "2026-01-01T01:00:00.10+01:00")', 0, "number"),
        ('textencodebase64("aé", "UTF-16")', "/v8AYQDp", "string"),
        ('textdecodebase64("YQA=", "UTF-16")', "愀", "string"),
        ('textdecodebase64(textencodebase64("あ", "Shift_JIS"), "Shift_JIS")', "あ", "string"),
        (
            'uuidv5("6BA7B810-9DAD-11D1-80B4-00C04FD430C8", "é")',
            "ebfe0af8-3997-5ade-b634-ba92cf69f557",
            "string",
        ),
        (
            'jsonencode([[], {}, [1, null], { b = [true], a = "<" }])',
            '[[],{},[1,null],{"a":"\\u003c","b":[true]}]',
            "string",
        ),
        (
            'yamldecode("a: yes\\nb: 0o17\\nc: 1_000\\nd: 2026-1-2\\ne: 1.50\\nf: ~")',
            YAML_SCALARS,
            YAML_TYPES,
        ),
        ('yamldecode("- &a {x: 1}\\n- {x: 2, <<: *a, z: *a}")', YAML_MERGED, YAML_MERGED_TYPES),
        ('yamldecode("a: b\\t# tab\\n1.0: c")', {"1": "c", "a": "b"}, "object({a = string, 1 = string})"),
        ('yamldecode("a: 1\\na: 2")', {"a": 2}, "object({a = number})"),
        ('yamldecode("---")', None, "any"),
        (
            'yamlencode({ a = [], b = [1, { c = "x\\ny" }], "d\\n" = null })',
            '"a": []\n"b":\n- 1\n- "c": |-\n    x\n    y\n? |\n  d\n: null\n',
            "string",
        ),
        ('yamlencode("é\\t😀\\u0085")', '"é\\t\\U0001F600\\N"\n', "string"),
        ('yamlencode("\\n a")', "|2-\n\n   a\n", "string"),
        ("yamlencode(1.5)", "1.5\n...\n", "string"),
        (
            'yamlencode({ k = "${join(" ", [for n in range(30) : "word"])}" })',
            '"k": "' + "word " * 15 + "word\n  " + "word " * 13 + 'word"\n',
            "string",
        ),
        ('"${1 ~} "', "1", "string"),
        ('"${~ [1] ~}"', [1], "tuple([number])"),
        ('jsondecode("\\"\\\\ud800\\"")', "\ufffd", "string"),
        ('jsondecode("\\"\\\\ud83d\\\\ude00\\"")', "\U0001f600", "string"),
        ('"\\ud800"', "\ufffd", "string"),
        (
            "<<EOT\nroot:\n%{ if true ~}\n  a: 1\n%{ endif ~}\n  b: 2\nEOT",
            "root:\n  a: 1\n  b: 2\n",
            "string",
        ),
        ('<<EOT\na ${ "x" ~}  \n\n  b\nEOT', "a x\n  b\n", "string"),
        ('<<EOT\na\n\n  ${~ "x" }\nEOT', "a\n\nx\n", "string"),
        ("<<-EOT\n    a\n      \n    b\n    EOT", "a\n      \nb\n", "string"),
        ("<<-EOT\n  a:\n  %{ if true ~}\n    b\n  %{ endif ~}\n  EOT", "a:\n    b\n", "string"),
        ('true ? toset(["a"]) : []', ["a"], "set(string)"),
        ('false ? toset(["a"]) : ["b", "b"]', ["b"], "set(string)"),
        ('true ? tolist(["b", "a", "b"]) : toset([])', ["b", "a", "b"], "list(string)"),
        ('coalesce(null, toset(["x"]), [])', ["x"], "set(string)"),
        ('true ? [null, 1] : ["a"]', [None, "1"], "list(string)"),
        ('tolist([toset([1]), toset(["x"]), ["y"]])', [["1"], ["x"], ["y"]], "list(set(string))"),
        (
            'merge(tomap({ a = 1 }), tomap({ b = "x" }))',
            {"a": 1, "b": "x"},
            "object({a = number, b = string})",
        ),
        ('setproduct(["a", "b"], toset(["c"]))', [["a", "c"], ["b", "c"]], "set(tuple([string, string]))"),
        ('title("o\'neil ßb")', "O'Neil ßb", "string"),
        ('lower("ΑΣ")', "ασ", "string"),
        ('"é" == "e\\u0301"', True, "bool"),
        ('length({ "é" = 1, "e\\u0301" = 2 })', 1, "number"),
        ('replace("e\\u0301x", "é", "a")', "ax", "string"),
        ('replace("e\\u0301x", "e", "a")', "éx", "string"),
        ('split("é", "ae\\u0301b")', ["a", "b"], "list(string)"),
        ('[startswith("e\\u0301", "é"), strcontains("e\\u0301", "e")]', [True, False], "tuple([bool, bool])"),
        ('[trim("e\\u0301a", "é")]', ["a"], "tuple([string])"),
        ('regexall("é", "e\\u0301")', ["é"], "list(string)"),
        ('sort(["é", "z", "e\\u0301"])[0]', "z", "string"),
        ('transpose({ a = ["é"], b = ["e\\u0301"] })', {"é": ["a", "b"]}, "map(list(string))"),
        ('format("%g %v %03s %.3g", 1e6, 1e21, "a", 1234567)', "1e+06 1e+21 00a 1.23e+06", "string"),
        ('format("%d %#08x %5.3d|", 1 / 3 * 3, 255, 42)', "1 0x0000ff   042|", "string"),
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
        ('substr("a", 9223372036854775808, 1)', "64 bits"),
        ('indent(1.5, "a")', "whole number"),
        ('zipmap(["a"], toset([1]))', "no order"),
        ("alltrue(setproduct(tolist([]), []))", "is required"),
        ('slice(sort(["a"]), 0, 0)[*].id', "no attribute"),
        ("parseint(2, 10)", "string is required"),
        ('lookup(tomap({ a = "x" }), "a", [1])', "string is required"),
        ('format("%d", 1.5)', "whole number"),
        ('format("%x", "hi")', "number is required"),
        ('false ? toset([1]) : ["x"]', "number is required"),
        ('slice(toset(["a"]), 0, 1)', "no order"),
    ],
)
def test_refused(text: str, part: str) -> None:
    _, diagnostics = evaluated(text)
    (found,) = diagnostics
    assert part in found.detail
