"""The plan as the tools made for Terraform's plan JSON read it."""

import json
from dataclasses import replace
from typing import Any

import pytest

from flareiac.kernel.codes import Code
from flareiac.kernel.data import UNKNOWN, Reference
from flareiac.kernel.diagnostics import error
from flareiac.kernel.types import STRING
from flareiac.model.desired import OutputValue
from flareiac.model.plan import OutputChange, Plan
from flareiac.render.plan_json import plan_json
from flareiac.render.plan_text import plan_text
from flareiac.sdk.changes import Action, Blocker, Effect, Origin, Step
from flareiac.sdk.schema import Attribute, Block, NestedBlock, Nesting
from tests.render.plans import change, plan, resource

TERRAFORM_ACTIONS = [
    ["no-op"],
    ["create"],
    ["read"],
    ["update"],
    ["delete"],
    ["delete", "create"],
    ["create", "delete"],
    ["forget"],
]


def rendered(made: Plan, schemas: dict[str, Block] | None = None) -> dict[str, Any]:
    data = plan_json(made, tool_version="0.1.0", schemas=schemas)
    again: dict[str, Any] = json.loads(json.dumps(data))
    assert again == data, "it is JSON data as it stands"
    return again


def everything() -> Plan:
    return plan(
        *(
            resource(f"table.{action.name.lower()}", action, planned={"name": "n"}, recorded={"name": "o"})
            for action in Action
        ),
        resource(
            'module.sales["eu"].table.orders[0]',
            Action.CREATE,
            planned={"catalog": Reference("catalog.lake"), "id": UNKNOWN},
        ),
    )


def test_versions_are_those_that_the_pickiest_reader_takes() -> None:
    data = rendered(everything())
    assert (data["format_version"], data["terraform_version"]) == ("1.2", "1.11.4")
    assert data["flareiac"]["version"] == "0.1.0"
    assert data["timestamp"] == "2001-09-09T01:46:40Z"


def test_every_entry_has_what_readers_need_and_only_known_actions() -> None:
    data = rendered(everything())
    for entry in data["resource_changes"]:
        assert {"address", "mode", "type", "name", "provider_name", "change"} <= entry.keys()
        keys = {"actions", "before", "after", "after_unknown", "before_sensitive", "after_sensitive"}
        assert keys <= entry["change"].keys()
        assert entry["change"]["actions"] in TERRAFORM_ACTIONS
    for entry in data["configuration"]["root_module"]["resources"]:
        assert {
            "address",
            "mode",
            "type",
            "name",
            "provider_config_key",
            "expressions",
            "schema_version",
        } <= entry.keys()
        assert entry["provider_config_key"] in data["configuration"]["provider_config"]
    for entry in data["planned_values"]["root_module"]["resources"]:
        assert {
            "address",
            "mode",
            "type",
            "name",
            "provider_name",
            "schema_version",
            "values",
            "sensitive_values",
        } <= entry.keys()


def test_modules_and_keys_stand_where_terraform_has_them() -> None:
    data = rendered(everything())
    entry = data["resource_changes"][-1]
    assert (entry["address"], entry["module_address"], entry["name"], entry["index"]) == (
        'module.sales["eu"].table.orders[0]',
        'module.sales["eu"]',
        "orders",
        0,
    )
    [module] = data["planned_values"]["root_module"]["child_modules"]
    assert module["address"] == 'module.sales["eu"]'
    assert [item["index"] for item in module["resources"]] == [0]
    call = data["configuration"]["root_module"]["module_calls"]["sales"]["module"]
    assert call["resources"][0]["address"] == "table.orders"
    assert call["resources"][0]["expressions"] == {"catalog": {"references": ["catalog.lake"]}}


def test_unknown_values_are_left_out_and_masked() -> None:
    planned = {"id": UNKNOWN, "name": "n", "list": ["a", UNKNOWN], "inner": {"known": 1, "later": UNKNOWN}}
    [entry] = rendered(plan(resource("table.a", Action.CREATE, planned=planned)))["resource_changes"]
    assert entry["change"]["before"] is None
    assert entry["change"]["after"] == {"name": "n", "list": ["a", None], "inner": {"known": 1}}
    assert entry["change"]["after_unknown"] == {"id": True, "list": [False, True], "inner": {"later": True}}


def test_before_is_what_is_there_and_drift_has_its_own_list() -> None:
    made = resource(
        "table.a",
        Action.UPDATE,
        planned={"p": {"x": "7d", "y": 1}},
        recorded={"p": {"x": "7d", "y": 1}},
        changes=(change(("p", "x"), "7d", "7d", live="5d", origin=Origin.DRIFT),),
        drift=("x was changed",),
    )
    data = rendered(plan(made))
    body = data["resource_changes"][0]["change"]
    assert (body["before"], body["after"]) == ({"p": {"x": "5d", "y": 1}}, {"p": {"x": "7d", "y": 1}})
    drift = data["resource_drift"][0]["change"]
    assert (drift["actions"], drift["before"], drift["after"]) == (["update"], body["after"], body["before"])


def test_an_object_that_is_gone_is_drift_that_deletes() -> None:
    made = replace(
        resource("table.a", Action.CREATE, planned={"n": 1}, recorded={"n": 1}, drift=("it is gone",)),
        observed=None,
    )
    data = rendered(plan(made))
    assert data["resource_drift"][0]["change"]["actions"] == ["delete"]
    assert data["resource_changes"][0]["change"]["before"] is None


def test_a_restart_is_an_update() -> None:
    made = resource(
        "job.a", Action.UPDATE, planned={}, recorded={}, steps=(Step(text="restart", effect=Effect.RESTART),)
    )
    [entry] = rendered(plan(made))["resource_changes"]
    assert entry["change"]["actions"] == ["update"]
    assert entry["change"]["flareiac"]["restart"] is True


@pytest.mark.parametrize("effect", [Effect.NEW_GENERATION, Effect.LOSES_DATA])
def test_what_loses_state_or_data_can_be_found_by_the_word_delete(effect: Effect) -> None:
    made = resource(
        "job.a",
        Action.UPDATE,
        changes=(change(("generation",), 1, 2),),
        steps=(Step(text="reset", effect=effect),),
    )
    [entry] = rendered(plan(made))["resource_changes"]
    assert "delete" in entry["change"]["actions"]
    assert entry["change"]["replace_paths"] == [["generation"]]


def test_an_import_names_the_object() -> None:
    made = resource("table.a", Action.ADOPT, planned={"n": 1}, observed={"n": 1}, import_id="lake.sales.a")
    [entry] = rendered(plan(made))["resource_changes"]
    assert entry["change"]["actions"] == ["no-op"]
    assert entry["change"]["importing"] == {"id": "lake.sales.a"}
    changed = replace(made, proposal=replace(made.proposal, changes=(change(("n",), 2, 1),)))
    assert rendered(plan(changed))["resource_changes"][0]["change"]["actions"] == ["update"]


def test_sensitive_values_are_replaced_everywhere() -> None:
    inner = Block(attributes={"token": Attribute(type=STRING, description="", sensitive=True)})
    schema = Block(
        attributes={"password": Attribute(type=STRING, description="", sensitive=True)},
        blocks={
            "input": NestedBlock(nesting=Nesting.MAP, block=inner),
            "part": NestedBlock(nesting=Nesting.LIST, block=inner),
        },
    )
    before = {
        "password": "hunter1",
        "input": {"a": {"token": "hunter2", "x": 1}},
        "part": [{"token": "hunter3"}],
        "open": "o",
    }
    after = {
        "password": "hunter4",
        "input": {"a": {"token": "hunter5", "x": 1}},
        "part": [{"token": "hunter6"}],
        "open": "o",
    }
    changes = (
        change(("password",), "hunter1", "hunter4"),
        change(("input",), before["input"], after["input"]),
    )
    made = plan(
        resource("link.a", Action.UPDATE, planned=after, recorded=before, changes=changes),
        outputs={"s": OutputChange(before=None, after=OutputValue(value=None, sensitive=True))},
    )
    data = rendered(made, {"link": schema})
    assert "hunter" not in json.dumps(data)
    body = data["resource_changes"][0]["change"]
    assert body["after"]["open"] == "o"
    assert body["after_sensitive"] == {
        "password": True,
        "input": {"a": {"token": True}},
        "part": [{"token": True}],
    }
    assert data["output_changes"]["s"]["after_sensitive"] is True


def test_outputs_have_actions_and_values() -> None:
    outputs = {
        "a": OutputChange(before=OutputValue(value=1), after=OutputValue(value=2)),
        "b": OutputChange(before=None, after=OutputValue(value=UNKNOWN)),
        "c": OutputChange(before=OutputValue(value=True), after=None),
        "d": OutputChange(before=OutputValue(value=["x"]), after=OutputValue(value=["x"])),
    }
    data = rendered(plan(outputs=outputs))
    assert {name: item["actions"] for name, item in data["output_changes"].items()} == {
        "a": ["update"],
        "b": ["create"],
        "c": ["delete"],
        "d": ["no-op"],
    }
    assert data["output_changes"]["b"]["after_unknown"] is True
    assert data["planned_values"]["outputs"]["d"] == {
        "sensitive": False,
        "type": ["tuple", ["string"]],
        "value": ["x"],
    }


def test_what_can_not_be_applied_says_so() -> None:
    blocker = Blocker(code="TOY001", summary="no", why="because", ways_out=("undo",))
    blocked = rendered(plan(resource("job.a", Action.UPDATE, blockers=(blocker,))))
    assert (blocked["applyable"], blocked["errored"], blocked["flareiac"]["blocked"]) == (
        False,
        False,
        ["job.a"],
    )
    assert blocked["resource_changes"][0]["change"]["flareiac"]["blockers"][0]["ways_out"] == ["undo"]
    failed = rendered(replace(plan(), diagnostics=(error(Code("TOY002", "broken")),)))
    assert (failed["errored"], failed["complete"]) == (True, False)
    assert failed["flareiac"]["diagnostics"][0]["code"] == "TOY002"


def test_what_ends_has_no_unknown_values_as_an_object() -> None:
    for entry in rendered(plan(resource("table.a", Action.DELETE), resource("table.b", Action.FORGET)))[
        "resource_changes"
    ]:
        assert entry["change"]["after_unknown"] == {}


def test_metadata_that_cannot_be_set_back_is_an_update() -> None:
    steps = (Step(text="widen", effect=Effect.IRREVERSIBLE),)
    data = rendered(
        plan(resource("table.a", Action.UPDATE, planned={"a": 1}, recorded={"a": 2}, steps=steps))
    )
    assert data["resource_changes"][0]["change"]["actions"] == ["update"]
    assert data["flareiac"]["summary"]["lose"] == 0


def test_the_text_counts_what_the_json_calls_a_delete() -> None:
    steps = (Step(text="drop a column", effect=Effect.LOSES_DATA),)
    made = plan(resource("table.a", Action.UPDATE, planned={"a": 1}, recorded={"a": 2}, steps=steps))
    data = rendered(made)
    assert data["resource_changes"][0]["change"]["actions"] == ["delete", "create"]
    assert data["flareiac"]["summary"]["lose"] == 1
    assert "Plan: 0 to add, 1 to change, 0 to destroy. Lose data: 1.\n" in plan_text(
        made, colour=False, width=100
    )
