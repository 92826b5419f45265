"""The console shows values as ``terraform console`` does, which is the oracle where it is on PATH."""

import os
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Source
from flareiac.lang.evaluate import evaluate
from flareiac.lang.functions import functions
from flareiac.lang.parse import parse_expression
from flareiac.lang.scope import Scope
from flareiac.lang.values import Value
from flareiac.render.console_text import type_text, value_json, value_text

SCOPE = Scope(functions=functions(Path()))
VALUES = r"""
1.50
-3
1e30
true
null
"é$${x} \t \" \\"
"a\nb"
"a\nb\n"
"EOT\n  EOT_"
["a\nb", { c = "d\ne\n" }]
[]
{}
[1, "a", true, null, []]
{ b = 1, "a b" = { c = [2, { d = {} }] } }
tolist([1, 2])
toset(["b", "a"])
toset([{ a = [1] }])
tomap({ b = tomap({ c = "d" }) })
tolist([])
tomap({})
[tostring(null), tonumber(null), tobool(null), tolist(null), tomap(null), toset(null)]
{ a = sensitive(1), b = [sensitive("x")] }
sensitive({ a = 1 })
""".strip().splitlines()
TYPED = r"""
1
null
[1, "a", []]
{ b = { c = [true] }, "a b" = null }
tolist([{ a = 1 }])
tomap({ a = tolist([["x"]]) })
toset([tolist([tolist([{ a = 1 }])])])
{ a = tomap({ b = tolist([tomap({ c = 1 })]) }), d = tolist([tomap({ e = [1] })]) }
toset([])
sensitive(["x"])
""".strip().splitlines()


def value(expression: str) -> Value:
    diagnostics = Diagnostics()
    parsed = parse_expression(Source("console", expression), diagnostics)
    assert parsed is not None
    result = evaluate(parsed, SCOPE, diagnostics)
    assert not diagnostics.has_errors
    return result


@pytest.mark.skipif(shutil.which("terraform") is None, reason="the terraform binary is the oracle")
def test_values_and_types_are_shown_as_terraform_does(tmp_path: Path) -> None:
    def of_terraform(expression: str) -> str:
        return subprocess.run(
            ["terraform", "console", "-no-color"],
            cwd=tempfile.mkdtemp(dir=tmp_path),  # a console locks the state of its folder
            env={**os.environ, "TF_CLI_CONFIG_FILE": os.devnull},
            input=expression,
            capture_output=True,
            text=True,
            check=False,
        ).stdout.removesuffix("\n")

    asked = [*VALUES, *(f"type({expression})" for expression in TYPED)]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(of_terraform, asked))
    ours = [*(value_text(value(each)) for each in VALUES), *(type_text(value(each)) for each in TYPED)]
    # Terraform answers nothing where it refuses an expression.
    answered = {each: answer for each, answer in zip(asked, answers, strict=True) if answer}
    assert len(answered) > len(asked) * 0.9
    assert {each: text for each, text in zip(asked, ours, strict=True) if each in answered} == answered


def test_json_says_where_something_is_sensitive_and_never_what() -> None:
    document = value_json(value('[1, { a = sensitive("secret"), b = [sensitive([2])] }]'))
    assert document["value"] == [1, {"a": None, "b": [None]}]
    assert document["sensitive"] == [False, {"a": True, "b": [True]}]
    assert value_json(value('sensitive("secret")')) == {"value": None, "type": "string", "sensitive": True}
