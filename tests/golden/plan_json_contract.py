"""The parts of Terraform's plan JSON that programs need which read it: without any of them one of the
programs fails, or passes over what it should check.
"""

import json
from collections.abc import Iterator
from typing import Any

from flareiac.app.discovery import installed
from flareiac.model.plan import Plan
from flareiac.render.plan_json import plan_json
from flareiac.render.ui_json import plan_lines
from tests.formats.printed_checks import check_lines, check_printed

ACTIONS = (["no-op"], ["create"], ["update"], ["delete"], ["delete", "create"], ["forget"])
"""An action that a reader does not know is left out by some, and ends others."""
_PLACE = {"address", "mode", "type", "name"}


def check_plan_json(made: Plan) -> None:
    """Fails where a plan's JSON lacks something that a reader relies on, and where it or a line of ``plan
    -json`` does not fit its schema.
    """
    schemas = {name: kind.schema for name, kind in installed().registry.types.items()}
    document: dict[str, Any] = json.loads(
        json.dumps(plan_json(made, tool_version="0.0.0", schemas=schemas), allow_nan=False)
    )
    check_printed("show-plan", document)
    check_lines("ui", plan_lines(made, made.diagnostics, {}, tool_version="0.0.0"))
    assert document["format_version"] == "1.2"
    assert document["terraform_version"].startswith("1.")
    root = document["planned_values"]["root_module"]
    planned = list(_planned(root))
    for item in planned:
        assert _PLACE | {"provider_name", "schema_version", "values", "sensitive_values"} <= set(item)
    for item in _configured(document["configuration"]["root_module"]):
        assert _PLACE | {"provider_config_key", "expressions", "schema_version"} <= set(item)
        assert item["provider_config_key"] in document["configuration"]["provider_config"]
    _check_references(root.get("resources", []), document["configuration"]["root_module"])
    changes = document["resource_changes"]
    for entry in (*changes, *document.get("resource_drift", ())):
        assert _PLACE | {"provider_name", "change"} <= set(entry)
        _check_change(entry["change"])
    assert {item["address"] for item in planned} == {
        item["address"] for item in changes if item["change"]["after"] is not None
    }


def _check_change(change: dict[str, Any]) -> None:
    assert change["actions"] in ACTIONS
    assert {"before", "after", "after_unknown", "before_sensitive", "after_sensitive"} <= set(change)
    old, new = change["before"], change["after"]
    match change["actions"]:
        case ["create"]:
            assert (old is None, new is None) == (True, False)
        case ["delete"] | ["forget"]:
            assert (old is None, new, change["after_unknown"]) == (False, None, {})
        case _:
            assert old is not None
            assert new is not None


def _check_references(planned: list[dict[str, Any]], module: dict[str, Any]) -> None:
    """A reader lays what is referred to into what refers to it, and the other way round, by type: no
    attribute may be in its place.
    """
    by_block: dict[str, list[dict[str, Any]]] = {}
    for item in planned:
        by_block.setdefault(item["address"].partition("[")[0], []).append(item)
    for item in _configured(module):
        for expression in item["expressions"].values():
            for name in expression.get("references", ()) if isinstance(expression, dict) else ():
                for other in by_block.get(name.partition("[")[0], ()):
                    for own in by_block.get(item["address"], ()):
                        assert other["type"] not in own["values"]
                        assert own["type"] not in other["values"]


def _planned(module: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from module.get("resources", ())
    for inner in module.get("child_modules", ()):
        yield from _planned(inner)


def _configured(module: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from module["resources"]
    for call in module.get("module_calls", {}).values():
        yield from _configured(call["module"])
