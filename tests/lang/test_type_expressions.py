"""Type constraints: what they spell, the defaults of optional attributes, and what is refused."""

import pytest

from flareiac.kernel.data import Data
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Source
from flareiac.lang.conversion import ConversionError
from flareiac.lang.parse import parse_expression
from flareiac.lang.type_expressions import TypeConstraint, parse_type
from flareiac.lang.values import from_data, to_data


def constraint(text: str) -> tuple[TypeConstraint | None, Diagnostics]:
    diagnostics = Diagnostics()
    expr = parse_expression(Source("x", text), diagnostics)
    assert expr is not None
    return parse_type(expr, diagnostics), diagnostics


@pytest.mark.parametrize(
    "text",
    [
        "string",
        "number",
        "bool",
        "any",
        "list(string)",
        "set(number)",
        "map(list(bool))",
        "tuple([string, number])",
        "object({a = string})",
    ],
)
def test_types_are_spelled_as_written(text: str) -> None:
    found, diagnostics = constraint(text)
    assert found is not None
    assert str(found.type) == text
    assert not list(diagnostics)


@pytest.mark.parametrize(
    ("text", "given", "wanted"),
    [
        ("list(number)", ["1", 2], [1, 2]),
        ("map(string)", {"a": 1}, {"a": "1"}),
        (
            "object({ a = string, b = optional(number, 5), c = optional(string) })",
            {"a": 1},
            {"a": "1", "b": 5, "c": None},
        ),
        ('list(object({ a = optional(string, "x") }))', [{}, {"a": "y"}], [{"a": "x"}, {"a": "y"}]),
        ("object({ o = optional(object({ n = optional(number, 1) }), {}) })", {}, {"o": {"n": 1}}),
        ("string", None, None),
    ],
)
def test_values_are_converted_with_defaults(text: str, given: Data, wanted: Data) -> None:
    found, diagnostics = constraint(text)
    assert found is not None
    assert to_data(found.apply(from_data(given))) == wanted
    assert not list(diagnostics)


@pytest.mark.parametrize(
    ("text", "given", "part"),
    [
        ("number", "x", "number is required"),
        ("object({ a = string })", {}, '"a" is required'),
        ("list(object({ a = number }))", [{"a": "x"}], "[0].a"),
        ("list(string)", "x", "list of strings is required"),
    ],
)
def test_what_does_not_fit_says_where(text: str, given: Data, part: str) -> None:
    found, _ = constraint(text)
    assert found is not None
    with pytest.raises(ConversionError) as caught:
        found.apply(from_data(given))
    assert part in str(caught.value)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("strin", 'Did you mean "string"?'),
        ("list", "list(type)"),
        ("lst(string)", 'Did you mean "list"?'),
        ("list(string, number)", "one argument"),
        ("object([])", "braces"),
        ("optional(string)", "object({...}) only"),
        ("1 + 1", "A type is written"),
        ('object({ a = optional(number, "x") })', "number"),
    ],
)
def test_refused(text: str, part: str) -> None:
    _, diagnostics = constraint(text)
    (found,) = diagnostics
    assert part in found.detail
