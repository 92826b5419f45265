"""The type of an output is that of its value, through evaluation, state, journal and plan file."""

from pathlib import Path

import pytest

from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.records import decode, encode
from flareiac.kernel.sources import Source
from flareiac.lang.evaluate import evaluate
from flareiac.lang.functions import functions
from flareiac.lang.parse import parse_expression
from flareiac.lang.scope import Scope
from flareiac.lang.values import cty_json, to_data
from flareiac.model.desired import OutputValue
from flareiac.render.output_text import outputs_json


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('toset(["a"])', ["set", "string"]),
        ("tolist([1])", ["list", "number"]),
        ("tomap({ a = true })", ["map", "bool"]),
        ("[1, true]", ["tuple", ["number", "bool"]]),
        ('{ a = toset(["x"]) }', ["object", {"a": ["set", "string"]}]),
        ("toset([])", ["set", "dynamic"]),
        ("null", "dynamic"),
    ],
)
def test_the_type_outlives_the_state(text: str, kind: object) -> None:
    diagnostics = Diagnostics()
    expression = parse_expression(Source("a", text), diagnostics)
    assert expression is not None
    value = evaluate(expression, Scope(functions=functions(Path())), diagnostics)
    output = OutputValue(value=to_data(value), type=cty_json(value.type))
    kept = decode(OutputValue, encode(output), complete=True)
    assert outputs_json({"o": kept})["o"]["type"] == kind
    assert kept == output


def test_a_state_without_types_stays_readable() -> None:
    old = decode(OutputValue, {"value": ["a"], "sensitive": False}, complete=True)
    assert outputs_json({"o": old})["o"]["type"] == ["tuple", ["string"]]
    assert old == OutputValue(value=["a"], type=["set", "string"])  # a type alone is no change of an output
