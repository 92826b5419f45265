"""A plan that touches a job says that the job is down, whatever it does about it, and stops nothing of it."""

from pathlib import Path

import pytest

from flareiac.kernel.data import Attributes
from flareiac.sdk.changes import Action, Impact, Proposal, Reaction, Relation
from flareiac_spark.change.acceptance_token import token_of
from flareiac_spark.change.changes import ResultsChange
from flareiac_spark.change.diff import changes
from flareiac_spark.observation.job import Hold, JobFacts
from tests.spark.change.test_job_recorded import AGGREGATES, ASIDE, EDITS, JOB, WORD
from tests.spark.declared import BATCH, LAKE, Loaded, loaded, proposal, running

AT, HEARD = 1_800_000_000_000, 1_800_000_060_000
FAILED = "it failed at 2027-01-15T08:00:00Z: X: y"
DOWN: dict[str, tuple[Attributes, str]] = {
    "failed": ({"phase": "failed"}, f"it is down: {FAILED}"),
    "dead": (
        {"alive": False, "heard_ms": HEARD},
        (
            "it is down: its Spark application (engine.embedded) is not running (last heard from at "
            "2027-01-15T08:01:00Z)"
        ),
    ),
    "failed and dead": (
        {"phase": "failed", "alive": False, "ended": "asked to stop"},
        "it is down: its Spark application (engine.embedded) is not running: asked to stop: before that "
        + FAILED,
    ),
    "stopped by hand": (
        {"state": "stopped", "phase": "stopped"},
        "it is down: it was stopped by hand at 2027-01-15T08:00:00Z",
    ),
    "failing": ({"phase": "backoff"}, f"it is down, and is started again by itself: {FAILED}"),
    "held": (
        {"phase": "pending", "since_ms": 0, "hold": Hold(since_ms=AT, until_ms=HEARD)},
        (
            "it is down since 2027-01-15T08:00:00Z: it is held while Spark is asked about its change, by an "
            "apply that is at work or was ended. It starts by itself at 2027-01-15T08:01:00Z at the latest"
        ),
    ),
    "another definition": (
        {"phase": "failed", "digest": "other"},
        f"it is down: {FAILED}",
    ),
}
NEW = (
    *(((edit),) for edit in EDITS),
    (('checkpoint "x" {}', 'checkpoint "x" {\n  generation = 2\n  start_from = "earliest"\n}'),),
    (("  checkpoint = checkpoint.x", "  checkpoint = checkpoint.x\n  stopped = true"),),
    (("  checkpoint = checkpoint.x", "  checkpoint = checkpoint.x\n  restart_nonce = 1"),),
    (("stream = stream.orders", "stream = stream.other"),),
    (ASIDE[0], WORD[0]),
    (),
)
OTHER = """
stream "other" {
  files {
    path   = "elsewhere"
    format = "json"
  }
  column "id" { type = "long" }
  column "ts" { type = "timestamptz" }
  column "region" { type = "string" }
  watermark = { column = "ts", delay = "10m" }
}
"""
BESIDE = Impact(relation=Relation.WRITES, reaction=Reaction.STOPS_FIRST, reason="a column is renamed")


def down(name: str) -> tuple[JobFacts, str]:
    facts, says = DOWN[name]
    given = {"since_ms": AT, "error": "X: y", **facts}
    return running(operators=AGGREGATES, **given), says


@pytest.fixture(scope="module")
def was(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    return loaded(LAKE + OTHER + JOB, tmp_path_factory.mktemp("was"))


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory) -> list[Loaded]:
    root, found = tmp_path_factory.mktemp("edited"), []
    for edits in NEW:
        text = LAKE + OTHER + JOB
        for edit in edits:
            assert edit[0] in text
            text = text.replace(*edit)
        found.append(loaded(text, root))
    return found


def expect(found: Proposal, says: str) -> None:
    assert says in found.reasons, found.reasons
    if "again by itself" not in says:
        assert not [step.text for step in found.steps if "stops" in step.text]


@pytest.mark.parametrize("name", DOWN)
def test_every_class_of_change_says_that_the_job_is_down(
    name: str, was: Loaded, edited: list[Loaded]
) -> None:
    facts, says = down(name)
    blocked = 0
    for new in edited:
        for disturbances in ((), (BESIDE,)):
            found = proposal(new, was, facts, disturbances=disturbances)
            expect(found, says)
            blocked += bool(found.blockers)
    assert blocked > 5, "some of the changes are blocked"


@pytest.mark.parametrize("name", DOWN)
def test_an_accepted_change_says_that_the_job_is_down(name: str, was: Loaded, tmp_path: Path) -> None:
    facts, says = down(name)
    text = (LAKE + OTHER + JOB).replace(*WORD[0])
    new = loaded(text, tmp_path)
    mixed = [item for item in changes(was.job(), new.job(), facts) if isinstance(item, ResultsChange)]
    word = token_of("job.x", mixed, None)
    place = "  checkpoint = checkpoint.x"
    accepting = (place, f'{place}\n  accept_result_change = "{word}"')
    found = proposal(loaded(text.replace(*accepting), tmp_path), was, facts)
    assert name == "another definition" or not found.blockers
    expect(found, says)


@pytest.mark.parametrize("name", DOWN)
def test_a_removal_says_that_the_job_is_down(name: str, was: Loaded) -> None:
    facts, says = down(name)
    found = proposal(None, was, facts)
    assert found.action is Action.DELETE
    expect(found, says)


def test_a_batch_job_whose_run_failed_says_so(tmp_path: Path) -> None:
    facts = JobFacts(digest="other", state="running", alive=True, phase="failed", error="X: y", since_ms=AT)
    text = LAKE + BATCH
    for edit in (("SELECT region", "SELECT upper(region) AS region"), ('"overwrite"', '"overwrite"')):
        found = proposal(loaded(text.replace(*edit), tmp_path), loaded(text, tmp_path), facts)
        assert "its run failed at 2027-01-15T08:00:00Z: X: y" in found.reasons


def test_a_job_that_moves_is_down_with_the_application_that_it_leaves(tmp_path: Path) -> None:
    engine = 'engine "{0}" {{\n  master = "local[1]"\n  runtime_location = "{0}"\n}}\n'
    engines, place = engine.format("old") + engine.format("new"), "  checkpoint = checkpoint.x"
    old, new = (
        loaded(LAKE + engines + JOB.replace(place, f"{place}\n  engine = engine.{name}"), tmp_path)
        for name in ("old", "new")
    )
    facts, says = down("dead")
    expect(proposal(new, old, facts), says.replace("engine.embedded", "engine.old"))


def test_a_job_that_runs_stands_or_is_silent_is_not_called_down(tmp_path: Path) -> None:
    was = loaded(LAKE + JOB, tmp_path)
    for facts in (running(), running(silent="says nothing", alive=False), running(phase=None)):
        found = proposal(loaded((LAKE + JOB).replace('"30s"', '"45s"'), tmp_path), was, facts)
        assert not any("down" in text for text in found.reasons)
        assert any("stops" in step.text for step in found.steps)


def test_a_job_that_is_held_is_no_job_without_changes(was: Loaded, tmp_path: Path) -> None:
    facts, says = down("held")
    found = proposal(was, was, facts)
    assert (found.action, found.drift) == (Action.UPDATE, (says,))
    assert [step.text for step in found.steps] == ["starts again where its checkpoint stands"]
    batch = loaded(LAKE + BATCH, tmp_path)
    assert says in proposal(batch, batch, facts).drift
    done = proposal(batch, batch, facts, identity={"result": {"rows": 1}})
    assert done.action is Action.NO_OP
