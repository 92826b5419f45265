"""The text that a person reads before an apply."""

import re
from dataclasses import replace

import pytest

from flareiac.kernel.codes import Code
from flareiac.kernel.data import ABSENT, UNKNOWN, Reference
from flareiac.kernel.diagnostics import error
from flareiac.kernel.types import STRING
from flareiac.model.desired import OutputValue
from flareiac.model.plan import OutputChange, Plan
from flareiac.render.plan_text import plan_text
from flareiac.render.resource_text import Detail
from flareiac.sdk.changes import Action, Blocker, Effect, Origin, Step
from flareiac.sdk.resource_type import Kind, ResourceType
from flareiac.sdk.schema import Attribute, Block
from tests.render.plans import change, plan, resource, secret


def shown(made: Plan, detail: Detail = "changes", *, show_steps: bool = False) -> str:
    return plan_text(made, colour=False, width=100, detail=detail, show_steps=show_steps)


def test_a_plan_without_changes_says_so() -> None:
    assert (
        shown(plan(resource("table.a", Action.NO_OP)))
        == "No changes. Your resources match the configuration.\n"
    )


def test_a_new_resource_is_shown_whole_without_what_is_not_managed() -> None:
    planned = {
        "catalog": Reference("catalog.lake"),
        "name": "orders",
        "comment": None,
        "columns": {
            "id": {"type": "long", "required": True, "comment": None},
            "ts": {"type": "timestamptz", "required": False},
        },
        "uuid": UNKNOWN,
    }
    assert shown(plan(resource("table.orders", Action.CREATE, planned=planned))) == (
        """\
This plan creates table.orders.

Changes:

  # table.orders will be created
  + table "orders" {
      + catalog = catalog.lake
      + name    = "orders"
      + columns = {
            id = { type = "long", required = true }
            ts = { type = "timestamptz", required = false }
        }
      + uuid = (known after apply)
    }

Plan: 1 to add, 0 to change, 0 to destroy.
"""
    )


def test_a_restart_shows_what_changes_and_why() -> None:
    made = resource(
        'job.delays["eu"]',
        Action.UPDATE,
        planned={"mode": "stream"},
        changes=(
            change(("trigger", "processing_time"), "30s", "10s", note="restart"),
            change(
                ("steps", "clean", "sql"),
                "SELECT a,\n  b\nFROM flights\n",
                "SELECT a,\n  b, c\nFROM flights\n",
            ),
            change(("conf", "a.b"), "1", ABSENT),
        ),
        steps=(
            Step(
                text="stop and start on the same checkpoint",
                effect=Effect.RESTART,
                why="Spark 4.1 takes a changed projection",
            ),
        ),
        reasons=("its SQL changed",),
    )
    assert shown(plan(made)) == (
        """\
This plan restarts job.delays["eu"].

Restarts and stops:

  # job.delays["eu"] will be updated in-place
  # (its SQL changed)
  ~ job "delays" {
      ~ trigger.processing_time = "30s" -> "10s"  # restart
      ~ steps.clean.sql = <<-EOT
            SELECT a,
          -   b
          +   b, c
            FROM flights
        EOT
      - conf["a.b"] = "1"
        # (1 unchanged attribute hidden; -detail=full shows it)
    }
    1. stop and start on the same checkpoint [restart]
       Spark 4.1 takes a changed projection

Plan: 0 to add, 1 to change, 0 to destroy. Restarts: 1.
"""
    )


def test_what_is_blocked_comes_first_with_its_ways_out_to_paste() -> None:
    blocker = Blocker(
        code="TOY001",
        summary="The aggregate changed on a checkpoint that holds state",
        why="Old sums and new maxima would mix.",
        ways_out=("undo the change", 'start the next generation:\ncheckpoint "agg" {\n  generation = 2\n}'),
    )
    made = plan(
        resource("table.new", Action.CREATE, planned={"name": "new"}),
        resource(
            "job.agg", Action.UPDATE, changes=(change(("sql",), "sum(x)", "max(x)"),), blockers=(blocker,)
        ),
    )
    assert shown(made) == (
        """\
Blocked by job.agg. Once that is resolved, this plan creates table.new.

Blocked, a decision is needed:

  # job.agg is blocked
  ! The aggregate changed on a checkpoint that holds state [TOY001]
    Old sums and new maxima would mix.

    Ways out:
      - undo the change
      - start the next generation:
        checkpoint "agg" {
          generation = 2
        }

  ~ job "agg" {
      ~ sql = "sum(x)" -> "max(x)"
    }

Changes:

  # table.new will be created
  + table "new" {
      + name = "new"
    }

Run flareiac explain TOY001 to read more.

Blocked: 1. Nothing can be applied. Plan: 1 to add, 0 to change, 0 to destroy.
"""
    )


def test_destructive_items_come_before_restarts_and_these_before_the_rest() -> None:
    restart, loss = (
        Step(text="restart", effect=Effect.RESTART),
        Step(text="drop column x", effect=Effect.LOSES_DATA),
    )
    text = shown(
        plan(
            resource("table.plain", Action.UPDATE, changes=(change(("a",), 1, 2),)),
            resource("job.restarted", Action.UPDATE, steps=(restart,)),
            resource("table.lossy", Action.UPDATE, steps=(loss,)),
            resource("table.dropped", Action.DELETE),
            resource("checkpoint.moved", Action.REPLACE, changes=(change(("location",), "a", "b"),)),
        )
    )
    order = re.findall(r"^  # (\S+) (?:will|must)", text, re.MULTILINE)
    assert order == ["table.lossy", "table.dropped", "checkpoint.moved", "job.restarted", "table.plain"]
    assert "Plan: 1 to add, 3 to change, 2 to destroy. Restarts: 1. Lose data: 1.\n" in text


@pytest.mark.parametrize(
    ("action", "phrase"),
    [
        (Action.CREATE, "# table.a will be created"),
        (Action.UPDATE, "# table.a will be updated in-place"),
        (Action.DELETE, "# table.a will be destroyed"),
        (Action.REPLACE, "# table.a must be replaced"),
        (Action.ADOPT, "# table.a will be imported"),
        (Action.FORGET, "# table.a will be forgotten"),
    ],
)
def test_the_phrases_are_those_that_tools_look_for(action: Action, phrase: str) -> None:
    text = shown(plan(resource("table.a", action)))
    assert f"\n  {phrase}" in text
    assert re.search(
        r"^Plan: (\d+ to import, )?\d+ to add, \d+ to change, \d+ to destroy\.", text, re.MULTILINE
    )


def test_drift_shows_the_live_value_and_is_told_apart_from_a_change_of_both() -> None:
    text = shown(
        plan(
            resource(
                "table.a",
                Action.UPDATE,
                changes=(
                    change(("properties", "x"), "7d", "7d", live="5d", origin=Origin.DRIFT),
                    change(("properties", "y"), 1, 3, live=2, origin=Origin.BOTH),
                ),
                drift=('the property "x" was changed from "7d" to "5d"',),
            )
        )
    )
    assert '  # drift: the property "x" was changed from "7d" to "5d"\n' in text
    assert '~ properties.x = "5d" -> "7d"  # drift: changed outside of FlareIaC\n' in text
    assert "~ properties.y = 1 -> 3  # drift: live is 2\n" in text


def test_equal_changes_are_folded_and_every_address_is_still_named() -> None:
    tables = [
        resource(f"table.t{number}", Action.UPDATE, changes=(change(("retention",), "5d", "7d"),))
        for number in range(3)
    ]
    other = resource("table.other", Action.UPDATE, changes=(change(("retention",), "5d", "9d"),))
    assert shown(plan(tables[0], other, *tables[1:])) == (
        """\
This plan changes 4 tables.

Changes:

  # table.t0 will be updated in-place
  # table.t1 will be updated in-place
  # table.t2 will be updated in-place
  ~ 3 tables, all alike {
      ~ retention = "5d" -> "7d"
    }

  # table.other will be updated in-place
  ~ table "other" {
      ~ retention = "5d" -> "9d"
    }

Plan: 0 to add, 4 to change, 0 to destroy.
"""
    )


def test_what_is_only_recorded_is_one_line_and_no_change() -> None:
    text = shown(plan(resource("job.a", Action.RECORD), resource("job.b", Action.RECORD)))
    assert text == (
        "Only what the state records changes for job.a, job.b.\n\nNo changes. Your "
        "resources match the configuration.\n"
    )


def test_sensitive_values_are_never_shown() -> None:
    schema = Block(attributes={"password": Attribute(type=STRING, description="", sensitive=True)})
    link = ResourceType(
        name="link",
        kind=Kind.MANAGED,
        schema=schema,
        description="",
        canonical=lambda *_: {},
    )
    made = plan(
        resource("link.new", Action.CREATE, planned={"password": "hunter2", "user": "me"}),
        resource(
            "link.old",
            Action.UPDATE,
            changes=(change(("password",), "hunter2", "hunter3"), secret(("token",), "hunter2", "hunter4")),
        ),
        outputs={"secret": OutputChange(before=None, after=OutputValue(value="hunter5", sensitive=True))},
    )
    for detail in ("summary", "changes", "full"):
        text = plan_text(made, colour=False, width=100, detail=detail, types={"link": link})
        assert "hunter" not in text
    assert "+ password = (sensitive value)" in text
    assert "~ token    = (sensitive value) -> (sensitive value)" in text
    assert "+ secret = (sensitive value)" in text


def test_the_first_line_about_hidden_attributes_says_how_to_see_them() -> None:
    attributes = {"a": 1, "b": 2, "c": 3}
    edited = (change(("a",), 1, 2),)
    text = shown(
        plan(
            resource("table.a", Action.UPDATE, planned=attributes, recorded=attributes, changes=edited),
            resource("job.b", Action.UPDATE, planned=attributes, recorded=attributes, changes=edited),
        )
    )
    assert text.count("# (2 unchanged attributes hidden; -detail=full shows them)") == 1
    assert text.count("# (2 unchanged attributes hidden)") == 1


def test_the_first_of_several_codes_is_named_with_its_page() -> None:
    blocked = [Blocker(code=code, summary="It cannot be done", why="It is so.") for code in ("TOY7", "TOY8")]
    text = shown(plan(resource("job.a", Action.UPDATE, planned={}, blockers=tuple(blocked))))
    assert text.count("Run flareiac explain") == 1
    assert "\n\nRun flareiac explain TOY7 to read more.\n\nBlocked: 1." in text


def test_outputs_stand_before_the_last_line() -> None:
    outputs = {
        "gone": OutputChange(before=OutputValue(value=1), after=None),
        "new": OutputChange(before=None, after=OutputValue(value=["a"])),
        "same": OutputChange(before=OutputValue(value=1), after=OutputValue(value=1)),
        "up": OutputChange(before=OutputValue(value="a"), after=OutputValue(value=UNKNOWN)),
    }
    assert shown(plan(outputs=outputs)) == (
        """\
Changes to Outputs:
  - gone = 1 -> null
  + new  = ["a"]
  ~ up   = "a" -> (known after apply)

Plan: 0 to add, 0 to change, 0 to destroy.
"""
    )


def test_operations_are_shown_in_order_with_what_they_wait_for() -> None:
    made = plan(resource("table.a", Action.CREATE, planned={}), resource("job.b", Action.CREATE, planned={}))
    assert """\
Operations, in order:
  1. create table.a
  2. create job.b
     after 1: it refers to it
""" in shown(made, show_steps=True)
    assert "Operations" not in shown(made)


def test_summary_names_the_resources_and_full_shows_what_stays() -> None:
    made = plan(
        resource(
            "table.a",
            Action.UPDATE,
            planned={"kept": "k", "x": 2},
            changes=(change(("x",), 1, 2),),
            reasons=("because",),
        )
    )
    assert shown(made, "summary") == (
        "This plan changes table.a.\n\nChanges:\n\n  # table.a will be updated in-place\n  # (because)\n\n"
        "Plan: 0 to add, 1 to change, 0 "
        "to destroy.\n"
    )
    assert '\n        kept = "k"\n' in shown(made, "full")


def test_a_partial_and_a_failed_plan_say_so() -> None:
    assert "This plan is partial: targets" in shown(plan(targeted=True))
    assert "it brings back what drifted" in shown(replace(plan(targeted=True), remediates=True))
    failed = replace(
        plan(resource("table.a", Action.CREATE, planned={})), diagnostics=(error(Code("TOY001", "No")),)
    )
    assert shown(failed).endswith("Planning failed: this plan has errors and cannot be applied.\n")


def test_colour_adds_escapes_and_changes_nothing_else() -> None:
    made = plan(
        resource("table.a", Action.CREATE, planned={"x": "1", "sql": "a\nb\n"}),
        resource(
            "table.b",
            Action.UPDATE,
            changes=(change(("x",), 1, 2, note="metadata only"),),
            drift=("it moved",),
        ),
        resource(
            "table.c", Action.DELETE, steps=(Step(text="drop", effect=Effect.IRREVERSIBLE, why="asked for"),)
        ),
    )
    coloured = plan_text(made, colour=True, width=100, show_steps=True)
    assert "\x1b[32m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == shown(made, show_steps=True)


def test_values_can_not_steer_the_terminal() -> None:
    text = shown(
        plan(
            resource(
                'table.a["\x1b[2J"]',
                Action.CREATE,
                planned={"x": "\x1b[2J\u202e", "y": "line\n\x07bell", "\x1b": 1},
            ),
            resource(
                "table.b",
                Action.UPDATE,
                changes=(change(("x",), "a\nb", "a\n\x1b[31mc"),),
                reasons=("\x1b]0;title\x07",),
            ),
        )
    )
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)
    assert "\\u001b[2J" in text


def test_long_texts_keep_to_the_width() -> None:
    why = "Spark would accept this and mix old sums with new maxima in one column. " * 4
    made = plan(
        resource(
            "job.a",
            Action.UPDATE,
            steps=(Step(text="restart", effect=Effect.RESTART, why=why),),
            reasons=(why,),
            changes=(
                change(
                    ("tags",),
                    [f"tag-{number:02d}" for number in range(30)],
                    [f"tag-{number:02d}" for number in range(31)],
                ),
            ),
        )
    )
    text = plan_text(made, colour=False, width=80)
    assert max(map(len, text.splitlines())) <= 80
    assert '          + "tag-30",\n' in text
    assert "# (28 unchanged lines)" in text


@pytest.mark.parametrize(
    ("actions", "alone"),
    [
        ((Action.RECORD, Action.NO_OP), True),
        ((Action.RECORD, Action.UPDATE), False),
        ((Action.FORGET,), False),
    ],
)
def test_a_plan_that_only_brings_the_state_up_to_date_needs_no_approval(
    actions: tuple[Action, ...], alone: bool
) -> None:
    resources = [
        resource(f"table.t{at}", action, planned={}, recorded={}) for at, action in enumerate(actions)
    ]
    assert plan(*resources).state_only is alone
    changed = OutputChange(before=None, after=OutputValue(value=1))
    assert not plan(*resources, outputs={"n": changed}).state_only
