"""A declared definition is compared with the one that was set to run last, also where the state has recorded another
definition: a text that was recorded and never started is no "No changes".
"""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from flareiac.kernel.data import Attributes
from flareiac.sdk.changes import Action, Effect
from flareiac.sdk.references import Resolved
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.results import Present, Recorded
from flareiac_spark.change.changes import Live, Mixed, Noted, Refused, Reworded
from flareiac_spark.change.diff import changes
from flareiac_spark.change.query_text import same_texts
from flareiac_spark.change.running_definition import running_definition
from flareiac_spark.control import JobSpec
from flareiac_spark.definition.build import query_digest, spec_of
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.job.payload import JobPayload
from flareiac_spark.observation.job import JobFacts
from tests.spark.change.test_job_recorded import AGGREGATES, ASIDE, EDITS, JOB, SAME, planned
from tests.spark.declared import LAKE, STATELESS, Loaded, loaded, running

OF_STATELESS = (
    ("id > 0", "id > 1"),
    ("SELECT id, region", "SELECT id, upper(region) AS region"),
    ("SELECT id, region", "select id, region"),
    ('"30s"', '"45s"'),
    *ASIDE[:3],
)
TABLES = {"table.hourly", "table.orders", "table.regions"}


def asked(desired: Loaded, recorded: Loaded, runs: Loaded, *, stateful: bool) -> PlanRequest:
    """A question about a job that is recorded in one way and was set to run in another."""
    facts = running(operators=AGGREGATES if stateful else (), **_of_another(runs))
    was = Recorded(attributes=recorded.attributes(), identity={"digest": "d"})
    return PlanRequest(
        address="job.x",
        desired=desired.attributes(),
        recorded=was,
        observed=Present(attributes=was.attributes, identity=was.identity, facts=facts),
        references=_there(desired),
        project=desired.project,
    )


def _there(project: Loaded) -> dict[str, Resolved]:
    return {
        address: replace(item, identity={"uuid": "u"}) if address in TABLES else item
        for address, item in project.references().items()
    }


def _of_another(runs: Loaded) -> Attributes:
    spec = spec_of("job.x", runs.attributes(), _there(runs), runs.project)
    return {"digest": "other", "spec": spec, "query": query_digest(spec)}


def facts_of(request: PlanRequest) -> JobFacts:
    assert isinstance(request.observed, Present)
    assert isinstance(request.observed.facts, JobFacts)
    return request.observed.facts


@pytest.mark.parametrize("stateful", [True, False])
def test_what_runs_is_what_is_compared(stateful: bool, tmp_path: Path) -> None:
    chance, base = random.Random(5), LAKE + (JOB if stateful else STATELESS)
    edits = EDITS if stateful else OF_STATELESS
    projects: list[Loaded] = []
    for edit in (("", ""), *edits):
        projects.append(loaded(base.replace(*edit), tmp_path))
        assert not [item for item in projects[-1].diagnostics if item.severity == "error"]
    seen: set[str] = set()
    for _ in range(150):
        recorded, runs, desired = (chance.choice(projects) for _ in range(3))
        request = asked(desired, recorded, runs, stateful=stateful)
        facts, new = facts_of(request), desired.job()
        as_asked = running_definition(request, recorded.job(), new, facts)
        assert query_digest(_spec(as_asked, desired)) == facts.query
        found = planned(request)
        assert found.action is Action.UPDATE, "it is never without changes"
        if found.blockers:
            seen.add("blocked")
            continue
        assert "another definition than the recorded one is set to run" in found.drift
        assert {step.effect for step in found.steps} & {Effect.RESTART, Effect.STARTS}
        said = " ".join(step.text for step in found.steps)
        for change in changes(as_asked, new, facts):
            match change:
                case Refused():
                    raise AssertionError(f"{change.text} goes on from what runs")
                case Mixed() | Noted() | Live() | Reworded():
                    continue
                case _:
                    seen.add("said")
                    assert change.text in said or getattr(change, "column", None) is not None, change
        payload = JobPayload.of(found.payload)
        assert not payload.live
        assert not payload.text_only
        if not same_texts(as_asked, new):
            seen.add("proven")
            assert payload.proof, "Spark has to prove it"
            assert JobDefinition.of(payload.before or recorded.attributes()).steps == as_asked.steps
    # Over state another text than the one that ran last takes a person's word, or a new generation
    assert seen == ({"blocked", "said"} if stateful else {"said", "proven"})


def _spec(job: JobDefinition, project: Loaded) -> JobSpec:
    return spec_of("job.x", job.attributes, _there(project), project.project, analysis=True)


@pytest.mark.parametrize("same", SAME)
def test_a_text_that_was_proven_and_recorded_is_no_change(same: tuple[str, str], tmp_path: Path) -> None:
    """The application goes on with the text that it was started with, under the recorded digest."""
    runs, recorded = loaded(LAKE + JOB, tmp_path), loaded((LAKE + JOB).replace(*same), tmp_path)
    request = asked(recorded, recorded, runs, stateful=True)
    facts = replace(facts_of(request), digest="d", runs="d")
    assert isinstance(request.observed, Present)
    assert planned(replace(request, observed=replace(request.observed, facts=facts))).action is Action.NO_OP


@pytest.mark.parametrize("phase", ["starting", "running", "idle", "stopping", "backoff"])
def test_an_application_that_has_not_taken_what_should_run_is_drift(phase: str, tmp_path: Path) -> None:
    same = loaded(LAKE + STATELESS, tmp_path)
    request = asked(same, same, same, stateful=False)
    for runs, said in (("before", True), ("d", False), (None, False)):
        facts = replace(facts_of(request), digest="d", phase=phase, runs=runs)
        assert isinstance(request.observed, Present)
        found = planned(replace(request, observed=replace(request.observed, facts=facts)))
        text = "its application still runs another definition than the one that is set to run"
        assert (text in found.drift) == said
        assert (found.action is Action.UPDATE) == said
        assert JobPayload.of(found.payload).nonce == (1 if said else 0)
