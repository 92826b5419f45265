"""A job that moves is started in its new application where the old one certainly runs it no more."""

from pathlib import Path

import pytest

from flareiac.sdk.changes import Effect
from flareiac_spark.observation.job import JobFacts
from tests.spark.declared import LAKE, QUERY, STATELESS, loaded, proposal, running

IDENTITY = {"digest": "d", "queries": {"orders": {"id": QUERY, "run_id": "r"}}}
ENGINES = 'engine "one" { runtime_location = "one" }\nengine "two" { runtime_location = "two" }\n'
GONE = JobFacts(checkpoints=running().checkpoints)


def on(engine: str) -> str:
    checkpoint = "checkpoint = checkpoint.x"
    return ENGINES + LAKE + STATELESS.replace(checkpoint, f"{checkpoint}\n  engine = engine.{engine}")


@pytest.mark.parametrize(
    ("facts", "codes"),
    [
        (running(heard_ms=1), []),
        (running(alive=False, ended="asked to stop", heard_ms=1), []),
        (running(alive=False, silent="its last heartbeat is 99 s old", heard_ms=1), ["FIK442"]),
        (running(alive=False, silent="silent", elsewhere="process 1 on h", heard_ms=1), []),
        (GONE, ["FIK442"]),
    ],
    ids=["runs", "ended", "silent", "on another host", "no directory"],
)
def test_a_move_needs_a_certain_stop(facts: JobFacts, codes: list[str], tmp_path: Path) -> None:
    before, after = loaded(on("one"), tmp_path), loaded(on("two"), tmp_path)
    found = proposal(after, before, facts, identity=IDENTITY)
    assert [item.code for item in found.blockers] == codes
    if not codes and facts.alive:
        assert [step.effect for step in found.steps] == [Effect.RESTART]
        assert [stage.name for stage in found.stages] == ["quiesce", "start"]


def test_what_stays_where_it_is_needs_no_word(tmp_path: Path) -> None:
    same = loaded(on("one"), tmp_path)
    silent = running(alive=False, silent="silent", heard_ms=1)
    assert proposal(same, same, silent, identity=IDENTITY).blockers == ()
