"""Spark keeps one position for each time that a query reads a stream, also where it reads one stream alone."""

from dataclasses import replace
from pathlib import Path

import pytest

from flareiac.sdk.changes import Action
from flareiac_spark import codes
from flareiac_spark.change.changes import NewGeneration
from flareiac_spark.change.diff import changes
from flareiac_spark.change.proofs import pair_digest
from flareiac_spark.definition.stream_positions import read_in_order
from flareiac_spark.observation.job import JobFacts
from flareiac_spark_runtime.control import StoredProof
from tests.spark.declared import LAKE, STATEFUL, STATELESS, Loaded, loaded, proposal, running

SQL = "SELECT id, region FROM orders WHERE id > 0"
READS = {
    SQL: 1,
    "SELECT id, region FROM orders AS o WHERE id > 0": 1,
    "WITH big AS (SELECT id FROM orders) SELECT id, region FROM orders WHERE id > 0": 2,
    "WITH big AS (SELECT id, region FROM orders) SELECT id, region FROM big WHERE id > 0": 1,
    "SELECT id, region FROM orders WHERE id > 5 UNION ALL SELECT id, region FROM orders WHERE id <= 5": 2,
    "SELECT id, region FROM orders WHERE id IN (SELECT id FROM ORDERS)": 2,
}
ONE_QUERY = """
job "x" {
  checkpoint    = checkpoint.x
  foreach_batch = true
  input "orders" { stream = stream.orders }
  step "clean" { sql = "SELECT id, region FROM orders" }
  step "few" { sql = "SELECT id, region FROM clean" }
  step "names" { sql = "SELECT region, region AS name FROM clean" }
  output "orders" {
    table = table.orders
    from  = "few"
  }
  output "regions" {
    table = table.regions
    from  = "names"
  }
}
"""


def of(sql: str, root: Path, job: str = STATELESS) -> Loaded:
    found = loaded((LAKE + job).replace(SQL, sql), root)
    assert not [item for item in found.diagnostics if item.severity == "error"]
    return found


def refused(old: Loaded, new: Loaded, facts: JobFacts) -> list[str]:
    return [item.text for item in changes(old.job(), new.job(), facts) if isinstance(item, NewGeneration)]


def test_a_text_that_reads_its_stream_more_or_less_often_is_refused(tmp_path: Path) -> None:
    projects = {sql: of(sql, tmp_path) for sql in READS}
    for before, times in READS.items():
        old = projects[before]
        read = read_in_order(old.job(), "orders")
        assert read is not None
        assert len(read) == times
        for after, again in READS.items():
            new = projects[after]
            expected = ["how often output orders reads files in landing"] if times != again else []
            assert refused(old, new, running()) == expected, (before, after)
            assert refused(old, new, running(committed=None)) == [], "no batch was begun"
            blocked = proposal(new, old, running()).blockers
            assert [item.code for item in blocked] == [codes.CHANGE_NOT_ON_CHECKPOINT.id] * len(expected)


def test_what_spark_proves_is_not_refused(tmp_path: Path) -> None:
    old, new = (of(sql, tmp_path) for sql in list(READS)[:3:2])
    proof = StoredProof(
        pair=pair_digest(old.job(), new.job()), at=0.0, verdict="equal", spark="4.1.4", parts=(), reason=""
    )
    assert refused(old, new, running())
    assert not refused(old, new, running(proofs=(proof,)))


def test_steps_that_run_on_each_batch_read_no_position(tmp_path: Path) -> None:
    one, several = (
        loaded(LAKE + ONE_QUERY, tmp_path),
        {
            '"SELECT id, region FROM clean"': '"SELECT id, region FROM clean UNION ALL SELECT id, region FROM clean"',
            "region FROM orders": "region FROM orders UNION ALL SELECT id, region FROM orders",
        },
    )
    assert read_in_order(one.job(), "regions") == ["orders"]
    after, within = (loaded((LAKE + ONE_QUERY).replace(*edit), tmp_path) for edit in several.items())
    facts = running()
    facts = replace(facts, checkpoints={"all": facts.checkpoints["orders"]})
    assert refused(one, after, facts) == []
    assert len(refused(one, within, facts)) == 1, "both outputs have one query"


@pytest.mark.parametrize(
    ("positions", "code"),
    [
        (("files",), None),
        ((), None),
        (("unknown",), None),
        (("files", "files"), codes.CHECKPOINT_OF_OTHER_SOURCES.id),
        (("kafka",), codes.CHECKPOINT_OF_OTHER_SOURCES.id),
    ],
)
def test_a_checkpoint_of_other_positions_is_not_started_on(
    positions: tuple[str, ...], code: str | None, tmp_path: Path
) -> None:
    same, facts = of(SQL, tmp_path), running()
    output = replace(facts.checkpoints["orders"], positions=positions)
    facts = replace(facts, checkpoints={"orders": output})
    assert proposal(same, same, facts).action is Action.NO_OP, "what runs is left alone"
    expected = [code] if code is not None else []
    restarted = loaded((LAKE + STATELESS).replace('"30s"', '"45s"'), tmp_path)
    dead = replace(facts, alive=False)
    for found in (
        proposal(restarted, same, facts),
        proposal(same, same, dead),
        proposal(same, None, replace(facts, digest=None, state=None)),
    ):
        assert [item.code for item in found.blockers] == expected


@pytest.mark.parametrize(
    "sql",
    ["FROM orders |> WHERE id > 0 |> SELECT id, region", "SELECT id, region FROM IDENTIFIER('orders')"],
)
def test_a_text_that_is_not_understood_is_left_to_spark(sql: str, tmp_path: Path) -> None:
    old, new = of(SQL, tmp_path), loaded((LAKE + STATELESS).replace(SQL, sql), tmp_path)
    assert read_in_order(new.job(), "orders") is None
    assert refused(old, new, running()) == []


def test_state_is_no_exception(tmp_path: Path) -> None:
    text = LAKE + STATEFUL
    old = loaded(text, tmp_path)
    new = loaded(text.replace("SELECT window", "WITH big AS (SELECT id FROM orders) SELECT window"), tmp_path)
    assert "how often output hourly reads files in landing" in refused(
        old, new, running(operators=("stateStoreSave",))
    )
