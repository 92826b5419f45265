"""A configuration means the same inside of a module: each golden case is moved into one, with what was
recorded and observed, and has the same plan and the same complaints, but for the beginning of its addresses.
"""

import dataclasses
import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.records import encode
from flareiac.kernel.sources import Source
from flareiac.lang.parse import parse_file
from flareiac.planning.make_plan import make_plan
from flareiac.render.diagnostics import text
from tests.golden.case import CASES, Case, main_configuration, name_of, planning_inputs, read_case
from tests.support.txtar import Archive, format_txtar

_ROOT_ONLY: Final = ("flareiac", "import", "policy", "module", "output", "removed", "moved", "consumer")
_CALL: Final = 'module "w" {\n  source = "./w"\n}\n'
_ADDRESS: Final = re.compile(
    r'"((?:data\.)?(?:table|topic|job|stream|checkpoint|catalog|engine|namespace|kafka|secret|state)\.[\w-]+)'
)

_DIGEST: Final = re.compile(r"\b[0-9a-f]{32}\b|\b[0-9a-f]{16}\.\.[0-9a-f]{16}\b|(?<=\")[0-9a-f]{12}(?=\\?\")")
"""Addresses are part of what is digested."""


def _is_movable(path: Path) -> bool:
    case = read_case(path)
    if "accept_result_change" in case.main:  # what is accepted is a digest that holds addresses
        return False
    texts = [case.main, *(each for each in (case.recorded, case.observed, case.left) if each is not None)]
    for each in texts:
        if "\n-- " in each or "path." in each or each.startswith(("{", "[")):
            return False
        body = parse_file(Source("main.flare.hcl", each), Diagnostics())
        if any(block.type in _ROOT_ONLY for block in body.blocks):
            return False
        if any(block.type == "variable" and not block.body.attribute("default") for block in body.blocks):
            return False
    return True


def _moved(case: Case) -> Case:
    def inside(hcl: str | None) -> str | None:
        return hcl and format_txtar(Archive(comment=_CALL, files={"w/main.flare.hcl": hcl}))

    inputs = {
        name: _ADDRESS.sub(r'"module.w.\1', content) if name.endswith(".json") else content
        for name, content in case.inputs.items()
    }
    options = json.loads(_ADDRESS.sub(r'"module.w.\1', json.dumps(dataclasses.asdict(case.options))))
    main = inside(case.main)
    assert main is not None
    return dataclasses.replace(
        case,
        inputs=inputs,
        main=main,
        recorded=inside(case.recorded),
        observed=inside(case.observed),
        left=inside(case.left),
        options=type(case.options)(**options),
    )


def _plan(case: Case, root: Path) -> tuple[Any, str]:
    diagnostics = Diagnostics()
    desired = main_configuration(case, root, diagnostics)
    made = None
    if not diagnostics.has_errors:
        made = make_plan(planning_inputs(case, root, desired), case.options.planning(), diagnostics)
    shown = text(list(diagnostics), desired.sources, width=10_000, colour=False)
    return encode(made), shown


def _outside(shown: str, root: Path) -> str:
    """A text as it would be in the root module."""
    shown = shown.replace(str(root), "ROOT").replace("w/main.flare.hcl", "main.flare.hcl")
    shown = re.sub(r"(checkpoints|runtime)/default/module\.w\.(?:checkpoint|engine)\.", r"\1/default/", shown)
    return _DIGEST.sub("DIGEST", shown.replace("module.w.", ""))


_MOVABLE: Final = [path for path in CASES if _is_movable(path)]


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=name_of(path), marks=() if at % 5 == 0 else pytest.mark.slow)
        for at, path in enumerate(_MOVABLE)
    ],
)
def test_a_configuration_means_the_same_in_a_module(path: Path, tmp_path: Path) -> None:
    case = read_case(path)
    plain, moved = tmp_path / "plain", tmp_path / "moved"
    plain.mkdir()
    moved.mkdir()
    expected, complaints = _plan(case, plain)
    plan, others = _plan(_moved(case), moved)
    # Values from outside are judged before any other, those of a call with what they depend on
    assert sorted(_outside(others, moved).split("╷")) == sorted(_outside(complaints, plain).split("╷"))
    assert _comparable(plan, moved) == _comparable(expected, plain)


def _comparable(plan: Any, root: Path) -> Any:
    if plan is None:
        return None
    del plan["configuration"]  # the digest of the files
    plan["references"].pop("engine.embedded", None)  # it is there whether it is used or not
    plan["references"].pop("catalog.embedded", None)
    return json.loads(_outside(json.dumps(plan, sort_keys=True), root))
