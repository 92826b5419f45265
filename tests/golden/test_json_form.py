"""The configuration of each golden case means the same in HCL's JSON form."""

import json
from pathlib import Path
from typing import Any

import pytest

from flareiac.app.discovery import installed
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.planning.make_plan import make_plan
from flareiac.render.plan_json import plan_json
from tests.golden.case import CASES, Case, configuration, name_of, planning_inputs, read_case
from tests.support.json_form import json_text
from tests.support.txtar import Archive, format_txtar, parse_txtar


@pytest.mark.parametrize("path", CASES, ids=name_of)
def test_the_json_form_gives_the_same_plan(path: Path, tmp_path: Path) -> None:
    case = read_case(path)
    if case.main.startswith(("{", "[")):
        return
    root = parse_txtar(case.main)
    try:
        modules = {f"{name}.json": json_text(text) for name, text in root.files.items()}
        written = format_txtar(Archive(comment=json_text(root.comment), files=modules))
    except ValueError:
        pytest.skip("the native text has mistakes that JSON cannot make")
    native = _outcome(case, case.main, tmp_path)
    for name in root.files:
        (tmp_path / name).unlink()
    assert _outcome(case, written, tmp_path) == native


def _outcome(case: Case, text: str, root: Path) -> Any:
    """The plan as JSON, without places; where there is none, what was complained about."""
    diagnostics = Diagnostics()
    desired = configuration(text, root, diagnostics, case.data_blocks())
    if diagnostics.has_errors:
        return sorted(repr((each.code, each.address, each.attribute)) for each in diagnostics)
    made = make_plan(planning_inputs(case, root, desired), case.options.planning(), diagnostics)
    plan: dict[str, Any] = plan_json(made, tool_version="0.0.0", schemas=dict(installed().registry.schemas))
    plan["flareiac"].pop("configuration")  # the digest of the text
    plan["flareiac"].pop("lineage")  # by chance, where there is no state
    return json.loads(json.dumps(_without_places(plan)))


def _without_places(value: Any) -> Any:
    match value:
        case dict():
            hidden = {"range", "snippet", "declared_at", "span", "subject", "start", "end", "filename"}
            return {name: _without_places(member) for name, member in value.items() if name not in hidden}
        case list() | tuple():
            return [_without_places(each) for each in value]
        case _:
            return value
