"""``why`` says what the plan says: a law over every golden plan."""

from pathlib import Path
from typing import Any

import pytest

from flareiac.app.codes import code_page
from flareiac.app.discovery import installed
from flareiac.app.explain import explain
from flareiac.app.why import quotable_rules
from flareiac.kernel.data import to_json
from flareiac.kernel.paths import render_path
from flareiac.model.plan import Plan
from flareiac.render.control_characters import printable
from flareiac.render.plan_json import plan_json
from flareiac.render.report.content import report_of
from flareiac.render.report.reasons import BLOCKED, REASONS
from flareiac.render.resource_text import written_path
from flareiac.render.why.content import CLASSES, Answer, Lookups, why_of
from flareiac.render.why.text import why_text
from flareiac_spark.change.spark_compatibility import RULES
from tests.golden.case import CASES, name_of, read_case
from tests.golden.outputs import outcome

TOPICS = quotable_rules()


@pytest.mark.parametrize("path", CASES, ids=name_of)
def test_why_never_contradicts_the_plan(path: Path, tmp_path: Path) -> None:
    """Each planned address has the action, class, steps, blockers and differences of the plan and its
    report, and each rule and code has a page.
    """
    made = outcome(read_case(path), tmp_path)[1]
    if made is None:
        pytest.skip("the configuration has errors, so that there is no plan")
    types = installed().registry.types
    addresses = [resource.address for resource in made.resources]
    why = why_of(made, addresses, Lookups(types=types, rules=TOPICS), tool_version="1")
    reported = {each.address: each for each in report_of(made, tool_version="1", types=types).changes}
    document: Any = plan_json(made, tool_version="1", schemas=installed().registry.schemas)
    planned = {each["address"]: each["change"]["flareiac"] for each in document["resource_changes"]}
    for answer in why.answers:
        _check_beside(answer, planned[answer.address])
        if (change := reported.get(answer.address)) is not None:
            assert (answer.action, answer.section, answer.reason) == (
                change.action,
                change.section,
                change.reason,
            )
            assert answer.attributes == change.attributes
        else:
            assert (answer.section, answer.reason) in ((None, "unchanged"), (None, "recorded"))
        _check_pages(answer)
        assert {cause.address for cause in answer.causes} <= {*addresses, *made.references}
    _check_text(made, why_text(why, made, colour=False, width=1000, types=types, detail="full"))


def _check_beside(answer: Answer, planned: Any) -> None:
    steps = [[step.text, step.effect.value, step.why, list(step.rules)] for step in answer.steps]
    assert steps == [
        [each["text"], each["effect"], each["why"], each.get("rules", [])] for each in planned["steps"]
    ]
    blockers = [[each.code, each.why, list(each.ways_out), list(each.rules)] for each in answer.blockers]
    assert blockers == [
        [each["code"], each["why"], each["ways_out"], each.get("rules", [])] for each in planned["blockers"]
    ]
    assert [note for note in answer.notes if not note.startswith("moved from ")] == planned["reasons"]
    assert [*answer.drift] == planned["drift"]
    assert [list(each.path) for each in answer.attributes] == [each["path"] for each in planned["changes"]]
    assert not set(answer.compared.unchanged) & {each.path[0] for each in answer.attributes}


def _check_pages(answer: Answer) -> None:
    assert all(code_page(blocker.code) for blocker in answer.blockers)
    for rule in answer.rules:
        assert rule.known
        assert rule.measured_on
        assert explain(rule.name).name == rule.name
    # What quotes a rule names it.
    parts = [
        *((step.why, step.rules) for step in answer.steps),
        *((blocker.why, blocker.rules) for blocker in answer.blockers),
    ]
    for why, names in parts:
        quoted = {f"Spark {rule.what}." for rule in RULES if str(rule) in why}
        assert quoted <= {TOPICS[name].text for name in names}


def _check_text(made: Plan, text: str) -> None:
    types = installed().registry.types
    for resource in made.resources:
        assert printable(resource.address) in text
        place_of = written_path(types.get(resource.type))
        for change in resource.proposal.changes:
            place = place_of(change.path) or change.path
            names = {
                printable(render_path(place)),
                printable(render_path((*place[:-1], str(place[-1]).removesuffix("_ms")))),
            }
            assert any(name in text for name in names), (render_path(place), to_json(change.new))


def test_each_reason_has_words() -> None:
    assert {*REASONS, "recorded", "unchanged"} == set(CLASSES)
    assert not any(reason.startswith(BLOCKED) for reason in CLASSES)
