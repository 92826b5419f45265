"""Functions by example: what they give, and that each tells its own trouble."""

from pathlib import Path

import pytest

from flareiac.kernel.data import Data
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Source
from flareiac.kernel.types import NUMBER, STRING
from flareiac.lang.evaluate import evaluate
from flareiac.lang.functions import functions
from flareiac.lang.parse import parse_expression
from flareiac.lang.scope import Scope
from flareiac.lang.values import to_data
from flareiac.sdk.provider import Function


def half(number: int) -> float:
    if number < 0:
        raise ValueError("the number is below zero")
    return number / 2


PROVIDED = Function(
    name="half", parameters=(("number", NUMBER),), returns=NUMBER, call=half, description="Half of it."
)
NAMED = Function(
    name="greet",
    parameters=(),
    returns=STRING,
    call=lambda *names: " ".join(names),
    description="",
    variadic=("names", STRING),
)


def result(text: str, root: Path = Path()) -> tuple[Data, Diagnostics]:
    diagnostics = Diagnostics()
    expr = parse_expression(Source("x", text), diagnostics)
    assert expr is not None
    return to_data(
        evaluate(expr, Scope(functions=functions(root, (PROVIDED, NAMED))), diagnostics)
    ), diagnostics


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("ceil(1.2) + floor(-1.2) + signum(-5)", -1),
        ("pow(2, 10)", 1024),
        ('parseint("ff", 16)', 255),
        ('join("-", ["a", "b"], ["c"])', "a-b-c"),
        ('split(",", "a,b")', ["a", "b"]),
        ('replace("a.b.c", "/\\\\.(\\\\w)/", "<$1>")', "a<b><c>"),
        ('regex("(?P<y>\\\\d+)-(?P<m>\\\\d+)", "2024-05")', {"y": "2024", "m": "05"}),
        ('regexall("[a-z]", "a1b")', ["a", "b"]),
        ('substr("héllo", 1, 3)', "éll"),
        ('title("hello big world")', "Hello Big World"),
        ('indent(2, "a\\nb")', "a\n  b"),
        ('formatlist("%s=%d", ["a", "b"], [1, 2])', ["a=1", "b=2"]),
        ('format("%5.1f|%-4s|%x", 3.14159, "ab", 255)', "  3.1|ab  |ff"),
        ("chunklist([1, 2, 3], 2)", [[1, 2], [3]]),
        ('coalesce(null, "", "x")', "x"),
        ('compact(["a", "", null])', ["a"]),
        ("concat([1], [], [2, 3])", [1, 2, 3]),
        ("distinct([3, 1, 3])", [3, 1]),
        ("element([1, 2, 3], 4)", 2),
        ("flatten([[1], [[2], 3]])", [1, 2, 3]),
        ("merge({a = 1, b = 2}, null, {b = 3})", {"a": 1, "b": 3}),
        ('lookup({a = 1}, "b", 7)', 7),
        ("range(3)", [0, 1, 2]),
        ("range(3, 0, -1)", [3, 2, 1]),
        ('sort(["b", "a"])', ["a", "b"]),
        ("toset([2, 1, 2])", [1, 2]),
        ("setunion([1], [2])", [1, 2]),
        ('setproduct(["a"], [1, 2])', [["a", 1], ["a", 2]]),
        ('zipmap(["a", "b"], [1, 2])', {"a": 1, "b": 2}),
        ("one([])", None),
        ('jsondecode("{\\"a\\": [1.5, null]}")', {"a": [1.5, None]}),
        ('base64decode(base64encode("hé"))', "hé"),
        ('urlencode("a b&c")', "a+b%26c"),
        ('md5("x")', "9dd4e461268c8034f5c8564e155c67a6"),
        ('tonumber("1.50")', 1.5),
        ('type([1, "a"])', "tuple([number, string])"),
        ("half(3)", 1.5),
        ('greet("a", 1)', "a 1"),
    ],
)
def test_result(text: str, wanted: Data) -> None:
    found, diagnostics = result(text)
    assert not list(diagnostics)
    assert found == wanted


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ('tonumber("x")', "this is 'x'"),
        ("half(-1)", "below zero"),
        ('half("x")', "number"),
        ('regex("(", "x")', "Invalid regular expression"),
        ('jsondecode("{")', "not JSON"),
        ("range(0, 10, 0)", "step must not be zero"),
        ('format("%d", "x")', "Unsuitable value for %d"),
        ('format("%d")', "Not enough arguments"),
        ('zipmap(["a"], [])', "1 keys and 0 values"),
        ('file("../secret")', "outside of the module's directory"),
        ('file("nothing")', "cannot be read"),
        ('duration("7 days")', "not a duration"),
    ],
)
def test_trouble(text: str, part: str, tmp_path: Path) -> None:
    _, diagnostics = result(text, tmp_path)
    (found,) = diagnostics
    assert part in found.detail


def test_files_inside_the_root(tmp_path: Path) -> None:
    (tmp_path / "query.sql").write_text("SELECT 1\n")
    assert result('file("query.sql")', tmp_path)[0] == "SELECT 1\n"
    assert result('[fileexists("query.sql"), fileexists("other")]', tmp_path)[0] == [True, False]


def test_a_sensitive_argument_is_not_told() -> None:
    _, diagnostics = result('tonumber(sensitive("hush"))')
    (found,) = diagnostics
    assert "hush" not in str(found)
