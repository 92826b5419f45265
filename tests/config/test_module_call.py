"""Two calls of one module have values of their own, and share an evaluation."""

from pathlib import Path
from typing import Final

import pytest

from flareiac.app.discovery import installed
from flareiac.config.blocks import collect
from flareiac.config.evaluation import DataBlocks, Evaluation
from flareiac.config.kept_blocks import KeptBlocks
from flareiac.config.module_call import ModuleCall
from flareiac.config.variables import Given, Inputs
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Source
from flareiac.lang.functions import functions
from flareiac.lang.parse import parse_file
from flareiac.sdk.project import Project

TEXT: Final = """
variable "name" {}
locals {
  greeting = "hello ${var.name}"
  longer   = "${local.greeting}!"
  number   = 10 / var.name
}
output "said" { value = local.longer }
output "number" { value = local.number }
"""


@pytest.fixture
def evaluation(tmp_path: Path) -> Evaluation:
    registry = installed().registry
    return Evaluation(
        registry=registry,
        project=Project(root=tmp_path),
        diagnostics=Diagnostics(),
        recorded=lambda _address: None,
        data=DataBlocks(),
        functions=functions(tmp_path, registry.functions),
        kept=KeptBlocks(tmp_path),
    )


def called(evaluation: Evaluation, name: str) -> ModuleCall:
    """A call in which the variable has this value, evaluated."""
    body = parse_file(Source("main.flare.hcl", TEXT), Diagnostics())
    module = collect([body], evaluation.types, evaluation.diagnostics)
    call = ModuleCall(evaluation=evaluation, module=module, text_is_read=True)
    call.take(Inputs(environment={}, given=[Given(name="name", text=name, origin="the call")]))
    for node in call.order():
        kind, _, label = node.partition(".")
        {"var": call.validate, "local": call.evaluate_local, "output": call.evaluate_output}[kind](label)
    return call


def test_values_belong_to_a_call(evaluation: Evaluation) -> None:
    two, five = called(evaluation, "2"), called(evaluation, "5")
    assert [call.outputs["said"].value for call in (two, five)] == ["hello 2!", "hello 5!"]
    assert [call.outputs["number"].value for call in (two, five)] == [5, 2]
    assert list(evaluation.diagnostics) == []


def test_a_call_fails_by_itself(evaluation: Evaluation) -> None:
    wrong, right = called(evaluation, "x"), called(evaluation, "4")
    assert wrong.failed == {"local.number"}
    assert set(wrong.outputs) == {"said"}
    assert right.failed == set()
    assert len(list(evaluation.diagnostics)) == 1
