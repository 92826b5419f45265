"""The report of a plan: its content, and Markdown of any size that is whole, counted and in order."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flareiac.kernel.codes import Code
from flareiac.kernel.diagnostics import error, warning
from flareiac.kernel.types import STRING
from flareiac.model.desired import OutputValue
from flareiac.model.plan import OutputChange, Plan, PlannedResource, PlannedTask
from flareiac.render.report.content import Report, StateVerdict, report_of
from flareiac.render.report.html import report_html
from flareiac.render.report.json import report_json
from flareiac.render.report.markdown import LEAST_CHARACTERS, MOST_CHARACTERS, report_markdown
from flareiac.render.report.reasons import REASONS
from flareiac.render.sections import Section
from flareiac.sdk import changes as steps
from flareiac.sdk.changes import Action, Blocker, Effect, Origin, Relation, Step, Usage
from flareiac.sdk.maintenance import MaintenanceTask
from flareiac.sdk.owner import Owner
from flareiac.sdk.resource_type import Kind, ResourceType
from flareiac.sdk.schema import Attribute, Block
from flareiac.sdk.type_roles import Relations
from tests.render.plans import change, plan, resource, secret
from tests.render.report_pages import check_markup, rows
from tests.render.test_report_escaping import TEXTS

LOST = Step(text="empties it: 5 rows", effect=Effect.LOSES_DATA, why="it is rebuilt")
BLOCKED = Blocker(
    code="FIK063", summary="It cannot be", why="Because of this.", ways_out=("write:\n  a = 1",)
)
DESTRUCTIVE = "Destructive or state-changing"


def reported(made: Plan, types: dict[str, ResourceType] | None = None) -> Report:
    return report_of(made, tool_version="0.1.0", types=types or {})


def markdown(made: Plan, most: int = MOST_CHARACTERS) -> str:
    page = report_markdown(reported(made), most)
    check_markup(page)
    return page


def verdict(made: Plan) -> str:
    return markdown(made).split("\n")[1]


def test_the_verdict_is_the_first_line_that_shows() -> None:
    restart = Step(text="stops", effect=Effect.RESTART)
    made = plan(
        resource("table.a", Action.UPDATE, steps=(LOST,)),
        resource("job.b", Action.UPDATE, steps=(restart,)),
        resource("table.c", Action.DELETE),
    )
    page = markdown(made)
    assert page.startswith(
        "<!-- flareiac-report workspace=default -->\n3 changes, 1 restart, **1 destroyed**, "
    )
    assert verdict(made).endswith("**1 destroyed**, **1 loses data**, blocked: no")


def test_other_verdicts() -> None:
    assert verdict(plan()) == "no changes, blocked: no"
    assert (
        verdict(plan(resource("job.a", Action.UPDATE, blockers=(BLOCKED,)))) == "no changes, **blocked: 1**"
    )
    failed = replace(plan(), diagnostics=(error(Code("FIT001", "Wrong"), "so"),))
    assert verdict(failed) == "**planning failed with 1 error**, no changes, blocked: no"
    assert "partial" in verdict(plan(targeted=True))
    elsewhere = markdown(replace(plan(), workspace="a--b"))
    assert elsewhere.startswith("<!-- flareiac-report workspace=a%2D%2Db -->\nWorkspace `a--b`: no changes")


def test_each_change_has_one_reason() -> None:
    drifted = change(("a",), 1, 1, live=2, origin=Origin.DRIFT)
    made = plan(
        resource("t.a", Action.DELETE),
        resource("t.b", Action.REPLACE, replace=True),
        resource("t.c", Action.UPDATE, steps=(Step(text="", effect=Effect.METADATA), LOST)),
        resource("t.d", Action.UPDATE, blockers=(BLOCKED,)),
        resource("t.e", Action.CREATE, steps=(Step(text="", effect=Effect.STARTS),)),
        resource("t.f", Action.ADOPT, changes=(change(("a",), 1, 2),)),
        resource("t.g", Action.UPDATE, changes=(drifted,)),
        resource("t.h", Action.UPDATE, changes=(change(("a",), 1, 2),)),
        resource("t.i", Action.NO_OP),
    )
    found = {item.address[2:]: item.reason for item in reported(made).changes}
    assert found == {
        "a": "destroyed",
        "b": "replaced_by_request",
        "c": "loses_data",
        "d": "blocked_fik063",
        "e": "created",
        "f": "imported_and_changed",
        "g": "drift_restored",
        "h": "changed",
    }
    assert {reason for reason in found.values() if not reason.startswith("blocked_")} <= set(REASONS)
    assert all(re.fullmatch(r"[a-z0-9_]+", reason) for reason in REASONS)


def test_what_is_alike_is_one_line_and_one_difference() -> None:
    made = plan(
        *(
            resource(f"table.t{number}", Action.UPDATE, changes=(change(("retention",), "5d", "7d"),))
            for number in range(37)
        ),
        resource("table.other", Action.UPDATE, changes=(change(("retention",), "5d", "9d"),)),
    )
    page = markdown(made)
    assert '- 37 tables: retention: "5d" -> "7d" (`table.t0`, `table.t1`, `table.t2` and 34 more)' in page
    assert page.count("```diff") == 2
    assert [len(group.addresses) for group in reported(made).groups] == [37, 1]


def test_a_restart_says_how_long_it_takes_and_what_is_done_again() -> None:
    stops = (
        Step(text="stops after its current batch", effect=Effect.RESTART, batch_seconds=61.0),
        Step(text="batch 8 is done again", effect=Effect.RESTART, replays=(8,)),
        Step(text="another text", effect=Effect.TAKEN),
    )
    made = plan(resource("job.a", Action.UPDATE, steps=stops))
    (found,) = reported(made).changes
    assert found.interruption is not None
    assert found.interruption.state is StateVerdict.KEPT_IF_PROVEN
    (row,) = rows(markdown(made), "Restarts and stops")
    assert "| 1m01s as its last batch, then the start | batch 8 | kept, once apply has proven" in row


def test_what_loses_data_comes_before_what_only_changes_state() -> None:
    made = plan(
        resource("job.a", Action.UPDATE, steps=(Step(text="x", effect=Effect.RESULTS_CHANGE),)),
        resource("table.b", Action.UPDATE, steps=(LOST,)),
        resource("table.c", Action.DELETE),
    )
    found = [row.split("|")[1].strip() for row in rows(markdown(made), DESTRUCTIVE)]
    assert found == ["`table.b`", "`table.c`", "`job.a`"]


def _uses(address: str, attributes: Any, _references: object) -> tuple[Usage, ...]:
    return tuple(
        Usage(
            subject=subject,
            holder=address,
            relation=relation,
            reason="",
        )
        for name, relation in (("from", Relation.STREAMS_FROM), ("to", Relation.WRITES))
        for subject in attributes.get(name, ())
    )


JOB = ResourceType(
    name="job",
    kind=Kind.MANAGED,
    schema=Block(attributes={}),
    description="",
    canonical=lambda *_: {},
    relations=Relations(usages=_uses),
)


def _job(address: str, reads: list[str], writes: list[str]) -> PlannedResource:
    attributes: dict[str, Any] = {"from": reads, "to": writes}
    return replace(
        resource(address, Action.NO_OP, planned=attributes, recorded=attributes),
        dependencies=(*reads, *writes),
    )


def test_readers_are_named_with_their_owners_and_the_columns_that_they_read() -> None:
    readers = (
        steps.Reader(address="job.b", columns=("amount",)),
        steps.Reader(address="consumer.bi", owner=Owner(name="BI", contact="@bi"), is_certain=False),
        steps.Reader(address="consumer.gone", is_former=True),
    )
    again = (steps.Reader(address="job.b", columns=("id",)),)
    dropped = replace(LOST, readers=readers)
    made = plan(
        replace(
            resource("table.a", Action.UPDATE, steps=(dropped, replace(LOST, readers=again))),
            owner=Owner(name="Lake"),
        ),
        resource("table.c", Action.UPDATE, steps=(Step(text="x", effect=Effect.RENAMES, readers=again),)),
    )
    page = markdown(made)
    (row,) = rows(page, DESTRUCTIVE)
    assert row.endswith(
        "| `consumer.bi` (BI &#60;@<!-- -->bi>; perhaps not these columns), "
        "`consumer.gone` (as declared until now), `job.b` (`amount`, `id`) | Lake |"
    )
    assert "- `table.c`: x [renames for all readers]; **read by** `job.b` (`id`)" in page
    assert '["consumer.bi"]' in page


def test_the_picture_is_of_what_is_touched_and_is_bounded() -> None:
    made = plan(
        resource("table.a", Action.UPDATE, steps=(LOST,)),
        *(_job(f"job.j{number}", ["table.a"], ["table.b"]) for number in range(100)),
        resource("table.b", Action.NO_OP),
    )
    report = reported(made, {"job": JOB})
    assert len(report.lineage.nodes) == 60
    assert report.lineage.left_out == 41
    assert [node.address for node in report.lineage.nodes if node.reason] == ["table.a"]
    assert "41 more resources are not drawn." in report_markdown(report)


def test_secrets_are_in_no_format() -> None:
    kind = ResourceType(
        name="table",
        kind=Kind.MANAGED,
        schema=Block(attributes={"password": Attribute(type=STRING, description="", sensitive=True)}),
        description="",
        canonical=lambda *_: {},
    )
    hidden = {"password": "hunter2-schema", "name": "shown"}
    made = plan(
        resource("table.a", Action.CREATE, planned=hidden),
        resource(
            "table.b",
            Action.UPDATE,
            planned=hidden,
            recorded=hidden,
            changes=(change(("password",), "hunter2-old", "hunter2-new"), change(("name",), "shown", "x")),
        ),
        resource("job.c", Action.UPDATE, changes=(secret(("key",), "hunter2-key", "hunter2-other"),)),
        resource("table.d", Action.DELETE, recorded=hidden),
        resource("table.e", Action.UPDATE, changes=(change((), {"password": "hunter2-in"}, hidden),)),
        outputs={
            "o": OutputChange(
                before=OutputValue(value="hunter2-out", sensitive=True), after=OutputValue(value="a")
            )
        },
    )
    report = reported(made, {"table": kind})
    for text in (report_markdown(report), json.dumps(report_json(report)), report_html(report)):
        assert "hunter2" not in text
        assert "shown" in text
    assert "(sensitive value)" in report_markdown(report)


def test_complaints_and_outputs_are_in_it() -> None:
    made = replace(
        plan(outputs={"o": OutputChange(before=None, after=OutputValue(value=1))}),
        diagnostics=(
            warning(Code("FIT002", "Odd"), "look", address="table.a"),
            error(Code("FIT001", "Wrong"), "see"),
        ),
    )
    page = markdown(made)
    assert page.index("**Wrong** [`FIT001`]: see") < page.index("- output `o`: `+ o = 1`")
    assert "- **Odd** [`FIT002`] `table.a`: look" in page


NAMES = st.lists(TEXTS, max_size=8)
STEPS = st.lists(
    st.builds(Step, text=TEXTS, effect=st.sampled_from(Effect), why=TEXTS, replays=st.just(())), max_size=2
).map(tuple)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Plans of resources with any texts; each address is another one."""
    made = []
    for number, text in enumerate(draw(NAMES)):
        blockers = [Blocker(code="FIK063", summary=text, why=text, ways_out=(f"{text}:\n{text}", text))]
        made.append(
            resource(
                f'{draw(st.sampled_from(["table", "job"]))}.n{number}["{text}"]',
                draw(st.sampled_from([Action.CREATE, Action.UPDATE, Action.REPLACE, Action.DELETE])),
                planned={"a": text},
                recorded={"a": text},
                changes=(change(("a", text), text, draw(TEXTS), note=text),),
                steps=draw(STEPS),
                drift=(text,) * draw(st.integers(0, 1)),
                blockers=tuple(blockers * draw(st.integers(0, 1))),
            )
        )
    tasks = tuple(
        PlannedTask(
            address=item.address,
            task=MaintenanceTask(
                name=draw(TEXTS),
                id="i",
                due=True,
                summary=draw(TEXTS),
                forecast={draw(TEXTS): 3},
                held=("a|b",),
            ),
        )
        for item in made[:3]
    )
    return replace(plan(*made), tasks=tasks, workspace=draw(st.sampled_from(["default", "prod"])))


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
@given(plans(), st.integers(LEAST_CHARACTERS, 12_000))
def test_any_plan_fits_whole_and_counted(made: Plan, most: int) -> None:
    report = reported(made)
    page, whole = report_markdown(report, most), report_markdown(report, 10_000_000)
    check_markup(page)
    check_markup(whole)
    assert len(page) <= most
    assert page.split("\n")[:2] == whole.split("\n")[:2]
    if len(whole) <= most:
        assert page == whole
    else:
        last = page.rpartition("\n\n")[2]
        assert last.startswith("*Left out to stay within ")
    left = {noun: (int(gone), int(of)) for gone, of, noun in _LEFT.findall(page.rpartition("\n\n")[2])}
    if len(whole) <= most:
        assert left == {}
    losing = [change for change in report.changes if change.section is Section.DESTRUCTIVE]
    gone, of = left.get("destructive or state-changing", (0, len(losing)))
    assert (of, len(rows(page, DESTRUCTIVE))) == (len(losing), of - gone)
    blocked = [change for change in report.changes if change.section is Section.BLOCKED]
    hidden, of = left.get("blocked", (0, len(blocked)))
    assert (of, page.count("\n**Blocked:** ")) == (len(blocked), of - hidden)
    if gone:
        assert page.count("\n### ") <= 1, "nothing else is shown while something is lost unseen"


_LEFT = re.compile(r"(\d+) of (\d+) ([a-z -]+[a-z])")


def test_the_fewest_characters_hold_the_verdict_and_every_number_of_the_longest_plan() -> None:
    name = "`|" * 60
    made = replace(
        plan(
            *(
                resource(f'table.x["{name}{number}"]', Action.DELETE, steps=(LOST,), drift=(name,) * 3)
                for number in range(300)
            ),
            *(
                resource(f'job.x["{name}{number}"]', Action.UPDATE, blockers=(BLOCKED,))
                for number in range(300)
            ),
            *(resource(f'topic.x["{name}{number}"]', Action.CREATE) for number in range(300)),
            targeted=True,
        ),
        diagnostics=tuple(
            kind(Code("FIT001", name), name, address=f"table.{name}{number}")
            for kind in (error, warning)
            for number in range(300)
        ),
        workspace="\N{GRINNING FACE}" * 200,
    )
    page = markdown(made, LEAST_CHARACTERS)
    assert len(page) <= LEAST_CHARACTERS
    assert "300 of 300 blocked" in page
    assert "300 of 300 other changes" in page


@pytest.mark.parametrize("count", [0, 3_000])
def test_a_plan_of_any_length_has_a_report(count: int) -> None:
    made = plan(*(resource(f"table.t{number}", Action.DELETE) for number in range(count)))
    page = markdown(made)
    assert len(page) <= MOST_CHARACTERS
    if count:
        (found,) = re.findall(r"(\d+) of 3000 destructive or state-changing", page)
        assert len(rows(page, DESTRUCTIVE)) == 3_000 - int(found) > 500
