"""The recorded definition is the one that runs: whatever is edited and applied in between, an edit is judged
against the query that was started.
"""

import random
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from flareiac.app.discovery import installed
from flareiac.kernel.data import Attributes, canonical
from flareiac.planning.contract_checks import violations
from flareiac.sdk.changes import Action, Effect, Impact, Proposal, Reaction, Relation
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.results import Present, Recorded
from flareiac_spark.change.changes import JobChange, Live, MetadataOnly, TakenAsSame
from flareiac_spark.change.diff import changes
from flareiac_spark.definition.build import digest_of, spec_of
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.observation.job import JobFacts
from tests.spark.declared import LAKE, Loaded, loaded, running

AGGREGATES = ("stateStoreSave",)
RESTARTS = (Effect.RESTART, Effect.STARTS)
JOB = """
job "x" {
  checkpoint = checkpoint.x
  trigger    = { processing_time = "30s" }
  input "orders" { stream = stream.orders }
  step "kept" { sql = "SELECT ts, id AS amount, region FROM orders WHERE id > 0" }
  step "hourly" { sql = "SELECT window(ts, '1 hour').start AS hour, sum(amount) AS n FROM kept GROUP BY window(ts, '1 hour')" }
  output "hourly" {
    table = table.hourly
    mode  = "complete"
  }
}
"""
SAME = (
    ("SELECT ts, id AS amount, region FROM orders", "select  ts,   id as amount, region from orders"),
    ("kept", "few"),
    ("sum(amount) AS n FROM kept", "sum(k.amount) AS n FROM kept AS k"),
    ("FROM kept", "FROM (SELECT * FROM kept)"),
)
ASIDE = (
    ("  checkpoint = checkpoint.x", '  checkpoint = checkpoint.x\n  comment = "c"'),
    ("  checkpoint = checkpoint.x", "  checkpoint = checkpoint.x\n  restart = { max_failures = 9 }"),
    (
        "  checkpoint = checkpoint.x",
        '  checkpoint = checkpoint.x\n  conf = { "spark.sql.shuffle.partitions" = "9" }',
    ),
    ('    mode  = "complete"', '    mode  = "complete"\n    rebuild = "truncate"'),
    ('column "unread" { type = "string" }', 'column "unread" { type = "int" }'),
)
RESTART = (
    ('"30s"', '"45s"'),
    ("SELECT window(ts, '1 hour').start", "SELECT date_trunc('DAY', window(ts, '1 hour').start)"),
)
WORD = (("sum(amount)", "max(amount)"), ("id > 0", "id > 1"), ('delay = "10m"', 'delay = "20m"'))
REFUSED = (("sum(amount) AS n", "sum(amount) AS n, count(*) AS c"), ("sum(amount) AS n", "avg(amount) AS n"))
EDITS = (*SAME, *ASIDE, *RESTART, *WORD, *REFUSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """``recorded``: what the state says; ``runs``: the definition that the query was started with.
    ``reworded``: another text was recorded since, which Spark has proven to be the same query.
    """

    recorded: Attributes
    runs: Attributes
    reworded: bool = False


def asked(wanted: Loaded, world: World, facts: JobFacts, disturbed: bool = False) -> PlanRequest:
    recorded = Recorded(attributes=world.recorded, identity={"digest": "d"})
    item = Impact(relation=Relation.WRITES, reaction=Reaction.STOPS_FIRST, reason="a column is renamed")
    return PlanRequest(
        address="job.x",
        desired=wanted.attributes(),
        recorded=recorded,
        observed=Present(attributes=world.recorded, identity=recorded.identity, facts=facts),
        references=wanted.references(),
        project=wanted.project,
        disturbances=(item,) if disturbed else (),
    )


def planned(request: PlanRequest) -> Proposal:
    kind = installed().registry.types["job"]
    assert kind.planning.planner is not None
    found = kind.planning.planner().plan(request)
    assert violations(request, found, kind, "spark") == []
    return found


def applied(found: Proposal, world: World) -> World:
    """The world after an apply: the driver sets a definition to run only where a step says so, or where it
    stays the same.
    """
    assert found.planned is not None
    if any(step.effect in RESTARTS for step in found.steps):
        return World(recorded=found.planned, runs=found.planned)
    taken = any(step.effect is Effect.TAKEN for step in found.steps)
    return World(recorded=found.planned, runs=world.runs, reworded=world.reworded or taken)


def told(found: tuple[JobChange, ...]) -> set[str]:
    """The changes that are reported of the query."""
    return {
        f"{type(change).__name__} {change.path} {change.text}"
        for change in found
        if not isinstance(change, MetadataOnly | Live | TakenAsSame)
    }


@pytest.mark.parametrize("seed", range(25))
def test_the_verdict_on_an_edit_is_that_of_comparing_it_with_what_runs(seed: int, tmp_path: Path) -> None:
    chance, facts = random.Random(seed), running(operators=AGGREGATES)
    start = loaded(LAKE + JOB, tmp_path)
    world = World(recorded=start.attributes(), runs=start.attributes())
    done: list[tuple[str, str]] = []
    for _ in range(8):
        done = [edit for edit in done if chance.random() > 0.2]
        done += [edit for edit in chance.sample(EDITS, chance.randint(0, 2)) if edit not in done]
        text = LAKE + JOB
        for edit in done:
            text = text.replace(*edit)
        wanted = loaded(text, tmp_path)
        assert not wanted.diagnostics
        recorded, runs, new = map(JobDefinition.of, (world.recorded, world.runs, wanted.attributes()))
        assert told(changes(recorded, new, facts)) == told(changes(runs, new, facts))
        found = planned(asked(wanted, world, facts, disturbed=chance.random() < 0.2))
        if found.blockers:
            continue
        world = applied(found, world)
        assert world.reworded or digest(wanted, world.recorded) == digest(wanted, world.runs), (
            "the recorded definition is the one that runs"
        )
        again = planned(asked(wanted, world, facts))
        assert again.action is Action.NO_OP, "an apply leaves nothing to do"


def digest(wanted: Loaded, attributes: Attributes) -> str:
    """The digest of all that a query is started with."""
    return digest_of(
        spec_of("job.x", attributes, wanted.references(), wanted.project, analysis=True), attributes
    )


@pytest.mark.parametrize("same", SAME)
@pytest.mark.parametrize("later", RESTART)
def test_a_restart_takes_the_text_that_was_judged(
    same: tuple[str, str], later: tuple[str, str], tmp_path: Path
) -> None:
    facts, start = running(operators=AGGREGATES), loaded(LAKE + JOB, tmp_path)
    world = World(recorded=start.attributes(), runs=start.attributes())
    other = loaded((LAKE + JOB).replace(*same), tmp_path)
    world = applied(planned(asked(other, world, facts)), world)
    text = other if world.reworded else start
    assert canonical(world.recorded["steps"]) == canonical(text.attributes()["steps"])
    last = loaded((LAKE + JOB).replace(*same).replace(*later), tmp_path)
    found = planned(asked(last, world, facts))
    assert (found.blockers, found.planned) == ((), last.attributes())


def test_a_setting_that_is_taken_while_the_query_runs_carries_no_other_layout_along(tmp_path: Path) -> None:
    facts, start = running(operators=AGGREGATES), loaded(LAKE + JOB, tmp_path)
    world = World(recorded=start.attributes(), runs=start.attributes())
    live = loaded((LAKE + JOB).replace(*SAME[0]).replace(*ASIDE[1]).replace(*ASIDE[2]), tmp_path)
    found = planned(asked(live, world, facts))
    assert [step.effect for step in found.steps] == [Effect.LIVE, Effect.NO_EFFECT]
    assert found.planned is not None
    assert found.planned["restart"]["max_failures"] == 9
    assert digest(live, found.planned) == digest(start, start.attributes())


def test_another_block_of_the_same_source_is_recorded_beside_the_text_that_runs(tmp_path: Path) -> None:
    """The old block may be gone from the configuration: nothing that is recorded refers to it."""
    facts, start = running(operators=AGGREGATES), loaded(LAKE + JOB, tmp_path)
    world = World(recorded=start.attributes(), runs=start.attributes())
    text = (
        (LAKE + JOB)
        .replace('stream "orders"', 'stream "again"')
        .replace("stream.orders", "stream.again")
        .replace(*SAME[0])
    )
    moved = loaded(text, tmp_path)
    found = planned(asked(moved, world, facts))
    assert found.action is Action.RECORD
    assert found.planned is not None
    assert f"{found.planned['inputs']['orders']['stream']}" == "stream.again"
    assert canonical(found.planned["steps"]) == canonical(start.attributes()["steps"])
    assert planned(asked(moved, replace(world, recorded=found.planned), facts)).action is Action.NO_OP
