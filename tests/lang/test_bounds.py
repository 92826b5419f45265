"""Values that share parts, texts that multiply and loops inside of loops end in one complaint, soon and in
little memory.
"""

import tracemalloc
from collections.abc import Mapping
from pathlib import Path

import pytest

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Source
from flareiac.kernel.types import NUMBER
from flareiac.lang import evaluate as lang_evaluate
from flareiac.lang.evaluate import evaluate
from flareiac.lang.functions import functions, signature
from flareiac.lang.parse import parse_expression
from flareiac.lang.scope import Scope
from flareiac.lang.values import Value, list_value, number, object_value, string, to_data

FUNCTIONS = functions(Path())
LIMITS = {codes.VALUE_TOO_LARGE.id, codes.TEXT_TOO_LONG.id}
MEMORY = 40 * 1024 * 1024
NUMBERS = list_value([number(1)] * 5_000, NUMBER)
LOCALS: Mapping[str, Value] = {
    "numbers": NUMBERS,
    "texts": list_value([string("x" * 100)] * 100, string("").type),
    "text": string("a" * 4_000),
    "words": string("ab" * 20_000),
    "object": object_value({f"k{at}": number(at) for at in range(1_000)}),
}


def evaluated(text: str, locals_: Mapping[str, Value] = LOCALS) -> tuple[Value, Diagnostics]:
    diagnostics = Diagnostics()
    expr = parse_expression(Source("x", text), diagnostics)
    assert expr is not None, list(diagnostics)
    scope = Scope(lookup={"local": object_value(locals_)}.get, functions=FUNCTIONS)
    return evaluate(expr, scope, diagnostics), diagnostics


def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (lang_evaluate, signature):
        monkeypatch.setattr(module, "MOST_ELEMENTS", 10_000)
        monkeypatch.setattr(module, "LONGEST_TEXT", 100_000)


@pytest.mark.parametrize(
    "text",
    [
        "[for x in local.numbers : [for y in local.numbers : 1]]",
        "{ for x in local.numbers : x => [for y in local.numbers : 1]... }",
        "[for x in range(1000) : 1 if [for y in range(1000) : 1] == []]",
        '"%{ for x in local.numbers }%{ for y in local.numbers }%{ endfor }%{ endfor }"',
    ],
)
def test_loops_inside_of_loops_end(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    small_bounds(monkeypatch)
    _, diagnostics = evaluated(text)
    assert {item.code for item in diagnostics} == {codes.VALUE_TOO_LARGE.id}


@pytest.mark.parametrize(
    "step",
    [
        "[local.a, local.a]",
        "{ x = local.a, y = local.a }",
        "[for x in [1, 2] : local.a]",
        '{ for x in [1, 2] : "same" => local.a... }',
        "[{ a = [local.a] }, local.a][*]",
        "tolist([local.a, local.a])",
        "concat([local.a], [local.a])",
        "slice(tolist([[local.a, local.a]]), 0, 0)",
        "try([local.a, local.a], 1)",
        "true ? [local.a, local.a] : null",
        'zipmap(["x", "y"], [local.a, local.a])',
        "merge({ x = local.a }, { y = local.a })",
        '"${local.a}${local.a}"',
        'format("%s%s", local.a, local.a)',
        'join("", [local.a, local.a])',
        'replace(local.a, "/^/", local.a)',
        '"%{ for x in [1, 2] }${local.a}%{ endfor }"',
    ],
)
def test_what_doubles_in_each_step_ends(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    small_bounds(monkeypatch)
    value = string("x")
    for _ in range(60):
        value, diagnostics = evaluated(step, {"a": value})
        if diagnostics.has_errors:
            break
    assert [item.code for item in diagnostics if item.code in LIMITS]
    assert len(diagnostics) == 1


@pytest.mark.parametrize(
    "text",
    [
        'replace(local.text, "a", local.text)',
        'replace(local.text, "", local.text)',
        'replace(local.text, "/a/", local.text)',
        'replace(local.text, "/(a)/", "$1-${local.text}")',
        f'replace(local.text, "/a+/", "{"$0" * 1000}")',
        "join(local.text, local.numbers)",
        'split("", local.words)',
        'indent(10000, replace(local.text, "a", "\\n"))',
        f'format("{"%9999d" * 2000}", {", ".join(["1"] * 2000)})',
        'format("%99999999d", 1)',
        'formatlist("%s${local.text}", local.numbers)',
        "concat([for x in range(30) : local.numbers]...)",
        "flatten([for x in range(30) : local.numbers])",
        "[for x in range(30) : local.numbers]",
        "setproduct(local.numbers, local.numbers)",
        "setproduct(range(100), range(100), range(50))",
        "jsonencode([for x in range(10) : [for y in range(10) : local.texts]])",
        "[for x in range(1000) : local.texts] == []",
        "values({ for x in range(1000) : x => local.texts })",
        "chunklist([for x in range(30) : local.numbers], 1)",
        "distinct([for x in range(30) : local.numbers])",
        "[for x in range(200) : local.object][*].k1",
    ],
)
def test_what_grows_at_once_is_refused_before_it_is_there(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    small_bounds(monkeypatch)
    tracemalloc.start(1)
    try:
        _, diagnostics = evaluated(text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [item.code for item in diagnostics]
    assert {item.code for item in diagnostics} <= LIMITS
    assert peak < MEMORY


@pytest.mark.parametrize("around", ["try({}, 1)", "can({})", "true ? {} : {}", "true ? 1 : {}", "[{}, 1]"])
@pytest.mark.parametrize(
    "text", ['replace(local.text, "a", local.text)', "setproduct(local.numbers, local.numbers)"]
)
def test_no_function_hides_it(text: str, around: str, monkeypatch: pytest.MonkeyPatch) -> None:
    small_bounds(monkeypatch)
    _, diagnostics = evaluated(around.replace("{}", text))
    assert [item.code for item in diagnostics if item.code in LIMITS]


def test_the_weight_counts_shared_parts_each_time() -> None:
    pair, _ = evaluated('[["a", "b"], {}]', {})
    assert pair.weight == 5
    assert evaluated("[local.a, local.a]", {"a": pair})[0].weight == 11
    assert evaluated("local.a[0]", {"a": pair})[0].weight == 3


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("length([for x in range(1000) : range(900)])", 1000),
        ("length(flatten([for x in range(15) : local.numbers]))", 75_000),
        ('length(split("b", substr(local.words, 0, 20000)))', 10_001),
        ('length(replace(local.text, "a", "aa"))', 8_000),
    ],
)
def test_large_values_within_the_bounds_are_values(text: str, wanted: int) -> None:
    value, diagnostics = evaluated(text)
    assert not list(diagnostics)
    assert to_data(value) == wanted
