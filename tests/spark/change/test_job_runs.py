"""A declared definition is compared with the one that was set to run last, also where the state has recorded another
definition: a text that was recorded and never started is no "No changes".
"""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from flareiac.kernel.data import Attributes
from flareiac.kernel.records import decode, encode
from flareiac.sdk.changes import Action, Effect
from flareiac.sdk.references import Resolved
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.results import Present, Recorded
from flareiac_spark.change.changes import Live, MetadataOnly, NewGeneration, ResultsChange, TakenAsSame
from flareiac_spark.change.diff import changes
from flareiac_spark.change.kept_reading import with_kept_reading
from flareiac_spark.change.proofs import pair_digest
from flareiac_spark.change.query_text import same_texts
from flareiac_spark.change.running_definition import running_definition
from flareiac_spark.definition.build import query_digest, spec_of
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.generation.job_case import JobCase
from flareiac_spark.job.payload import JobPayload
from flareiac_spark.observation.job import JobFacts
from flareiac_spark_runtime.control import JobSpec, StoredProof, job_spec_to_json
from tests.spark.change.test_job_recorded import AGGREGATES, ASIDE, EDITS, JOB, RESTART, SAME, planned
from tests.spark.declared import LAKE, STATELESS, Loaded, loaded, running

READ = (
    ('format = "json"', 'format = "json"\n    options = { "primitivesAsString" = "true" }'),
    ('format = "json"', 'format = "json"\n    reading = 1'),
    ('format = "json"', 'format = "json"\n    max_files_per_trigger = 3'),
    (
        'column "region" { type = "string" }\n  column "unread"',
        'column "region" { type = "int" }\n  column "unread"',
    ),
)
OF_STATELESS = (
    *READ,
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
    edits = (*EDITS, *READ) if stateful else OF_STATELESS
    projects: list[Loaded] = []
    for edit in (("", ""), *edits):
        projects.append(loaded(base.replace(*edit), tmp_path))
        assert not [item for item in projects[-1].diagnostics if item.severity == "error"]
    seen: set[str] = set()
    for _ in range(200):
        recorded, runs, desired = (chance.choice(projects) for _ in range(3))
        request = asked(desired, recorded, runs, stateful=stateful)
        facts, new = facts_of(request), with_kept_reading(desired.job(), recorded.job())
        as_asked = running_definition(JobCase(request=request, desired=new, facts=facts), recorded.job())
        assert query_digest(_spec(as_asked, desired)) == facts.query
        assert _read(as_asked, desired) == _read(runs.job(), runs)
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
                case NewGeneration():
                    raise AssertionError(f"{change.text} goes on from what runs")
                case ResultsChange() | MetadataOnly() | Live() | TakenAsSame():
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
        if stateful:
            # What made the state is the recorded text, or the one that was set to run
            texts = {query_digest(_spec(job, desired)) for job in (recorded.job(), new)}
            assert facts.query in texts
    assert seen == ({"blocked", "said", "proven"} if stateful else {"said", "proven"})


def _spec(job: JobDefinition, project: Loaded) -> JobSpec:
    return spec_of("job.x", job.attributes, _there(project), project.project, analysis=True)


def _read(job: JobDefinition, project: Loaded) -> object:
    """The inputs as an application is asked to read them."""
    given = job_spec_to_json(_spec(job, project))["inputs"]
    for item in given:
        del item["source"]["columns"]
    return given, [dict(item.columns) for item in job.inputs.values()]


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


@pytest.mark.parametrize(
    ("edit", "codes"),
    [(READ[0], ["FIK093"]), (READ[1], ["FIK093"]), (READ[2], []), (READ[3], ["FIK062"]), (RESTART[0], [])],
)
def test_state_that_was_read_otherwise_takes_a_word(
    edit: tuple[str, str], codes: list[str], tmp_path: Path
) -> None:
    """An apply set another reading to run and died, and the edit was undone. What leaves every value as it is
    takes none.
    """
    was = loaded(LAKE + JOB, tmp_path)
    found = planned(asked(was, was, loaded((LAKE + JOB).replace(*edit), tmp_path), stateful=True))
    assert [item.code for item in found.blockers] == codes


@pytest.mark.parametrize("verdict", ["equal", "state", "different", "unproven", ""])
def test_a_proof_frees_what_goes_on_from_a_text_that_was_not_recorded(verdict: str, tmp_path: Path) -> None:
    """The text that is set to run counts the same in another way, and the declared one is another text of it."""
    was, runs = (loaded((LAKE + JOB).replace(*edit), tmp_path) for edit in (("", ""), RESTART[1]))
    new = loaded((LAKE + JOB).replace(*RESTART[1]).replace(*SAME[2]), tmp_path)
    request = asked(new, was, runs, stateful=True)
    case = JobCase(request=request, desired=new.job(), facts=facts_of(request))
    as_asked = running_definition(case, was.job())
    pair = pair_digest(as_asked, new.job())
    blocked = planned(request)
    assert [item.code for item in blocked.blockers] == ["FIK093"]
    assert blocked.provable
    payload = JobPayload.of(blocked.payload)
    assert (payload.analyse, payload.pair) == (True, pair)
    assert JobDefinition.of(payload.before) == as_asked
    known = {"pair": pair if verdict else "another", "at": 1.0, "verdict": verdict or "equal", "spark": "4.1"}
    identity = {"digest": "d", "proofs": [encode(decode(StoredProof, known, "proof"))]}
    recorded = Recorded(attributes=was.attributes(), identity=identity)
    found = planned(replace(request, recorded=recorded))
    assert [item.code for item in found.blockers] == ([] if verdict in ("equal", "state") else ["FIK093"])
    assert found.provable == (not verdict)
    if not found.blockers:
        assert JobPayload.of(found.payload).proof, "it is proven again where it starts"
