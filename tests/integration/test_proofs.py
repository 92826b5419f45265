"""A changed text starts on the checkpoint of the old one only where Spark's plans prove that it may."""

import re

import pytest

from flareiac.sdk.changes import Effect
from tests.integration.project import Project, streaming

pytestmark = pytest.mark.jvm

COUNTS = streaming(
    "counts",
    {"city": "string", "rides": "long"},
    "SELECT city, count(*) AS rides FROM rides WHERE city IN ('Rome', 'Oslo') AND id >= 0 GROUP BY city",
    output='mode = "complete"',
)
COPIED = streaming(
    "copied",
    {"id": "long"},
    "SELECT id FROM rides WHERE id >= 0 AND id < 1000",
)
# A division into steps is taken to mean the same. Here a cast leaves the condition that keeps
# errors away from it.
PAID = streaming(
    "paid",
    {"city": "string", "paid": "long"},
    "SELECT city, sum(CASE WHEN fare RLIKE '^[0-9]+$' THEN CAST(fare AS INT) END) AS paid FROM rides "
    "GROUP BY city",
    output='mode = "complete"',
)
CAST_FIRST = 'step "read" { sql = "SELECT city, fare, CAST(fare AS INT) AS n FROM rides" }\n  step "result"'
DIVIDED = (
    ("CAST(fare AS INT) END", "n END"),
    ("FROM rides", "FROM read"),
    ('step "result"', CAST_FIRST),
)
# A setting says whether double quotes hold a text or name a column.
NAMED = streaming(
    "named",
    {"id": "long", "city": "string"},
    r"SELECT id, \"city\" AS city FROM rides",
    job='conf = { "spark.sql.ansi.doubleQuotedIdentifiers" = "true" }',
)
AS_TEXT = ((r"\"city\"", "'city'"),)


@pytest.fixture(scope="module")
def running(project: Project) -> Project:
    """A job with state that has counted what landed."""
    project.land(30)
    project.write(counts=COUNTS)
    project.apply()
    _expect_counts(project)
    return project


def test_a_text_that_is_proven_equal_restarts_with_what_restarts_anyway(running: Project) -> None:
    before = running.run_id("job.counts")
    running.edit("counts", ("AND id >= 0", "and (id >= 0)"), ('"200ms"', '"300ms"'))
    running.apply()
    assert running.run_id("job.counts") != before
    running.land(10)
    _expect_counts(running)


def test_a_text_alone_is_proven_and_recorded_and_what_runs_goes_on(running: Project) -> None:
    before = running.run_id("job.counts")
    running.edit("counts", ("FROM rides WHERE", "FROM rides AS r WHERE"))
    assert f'step "result": text [{Effect.TAKEN}]' in running.plan(2)
    assert "proves that it is the same query" in running.apply().out
    assert running.run_id("job.counts") == before
    assert "No changes." in running.plan(0)
    assert "FROM rides AS r WHERE" in running.run("state", "show", "job.counts").out


def test_a_text_alone_leaves_no_job_down(running: Project) -> None:
    """Jobs of an application that ended are not started while Spark is asked about their change."""
    running.kill_driver()
    running.edit("counts", ("FROM rides AS r WHERE", "FROM rides AS q WHERE"))
    running.killed("analysis.done", "apply", "-auto-approve")
    running.apply()
    running.land(5)
    _expect_counts(running)
    running.kill_driver()
    turned = "FROM rides AS p WHERE (id >= 0) AND city IN ('Rome', 'Oslo')"
    with running.edited("counts", ("FROM rides AS q WHERE city IN ('Rome', 'Oslo') and (id >= 0)", turned)):
        assert_refuted(running.apply(code=4).out)
        running.land(5)
        _expect_counts(running)


def test_a_text_that_is_not_proven_changes_nothing_until_it_is_accepted(running: Project) -> None:
    before = running.run_id("job.counts")
    running.edit(
        "counts",
        ("city IN ('Rome', 'Oslo') and (id >= 0)", "id >= 0 AND city IN ('Rome', 'Oslo')"),
    )
    assert "Blocked until proven" in running.plan(4)
    done = running.apply(code=4)
    assert_refuted(done.out)
    # What was learned is recorded: neither a plan nor another apply asks Spark again.
    assert_refuted(running.plan(4))
    assert "Checking" not in running.apply(code=4).out
    assert running.run_id("job.counts") == before
    token = re.search(r'accept_result_change = "(\w+)"', done.text)
    assert token is not None, done.text
    running.edit("counts", ("trigger    = {", f'accept_result_change = "{token[1]}"\n  trigger    = {{'))
    assert "results change" in running.plan(2)
    running.apply()
    assert running.run_id("job.counts") != before
    running.land(10)
    _expect_counts(running)
    running.edit("counts", (f'accept_result_change = "{token[1]}"\n  ', ""))
    running.apply()
    assert "No changes." in running.plan(0)


def test_without_state_a_text_that_is_not_proven_restarts_with_the_next_plan(running: Project) -> None:
    running.write(copied=COPIED)
    running.apply()
    before = running.run_id("job.copied")
    running.edit("copied", ("id >= 0 AND id < 1000", "id < 1000 AND id >= 0"))
    assert "stops after its current batch and starts on the same checkpoint" in running.plan(2)
    running.apply()
    assert running.run_id("job.copied") != before
    assert "No changes." in running.plan(0)


@pytest.mark.parametrize(
    ("name", "text", "edits", "code"), [("paid", PAID, DIVIDED, 4), ("named", NAMED, AS_TEXT, 6)]
)
def test_a_text_that_was_taken_for_the_same_and_is_refuted_changes_nothing(
    running: Project, name: str, text: str, edits: tuple[tuple[str, str], ...], code: int
) -> None:
    running.write(**{name: text})
    running.apply()
    before = running.run_id(f"job.{name}")
    running.edit(name, *edits)
    assert Effect.TAKEN in running.plan(2)
    refused = running.apply(code=code)
    assert "FIK470" in refused.text
    assert "Nothing was changed." in refused.text
    assert running.run_id(f"job.{name}") == before
    # The next plan knows it without Spark: over state it asks for a person's word, else it restarts.
    if code == 4:
        assert_refuted(running.plan(4))
        running.write(**{name: text})
        assert "No changes." in running.plan(0)
        return
    assert "stops after its current batch and starts on the same checkpoint" in running.plan(2)
    running.apply()
    assert running.run_id(f"job.{name}") != before
    assert "No changes." in running.plan(0)


def test_a_blocked_text_that_spark_proves_equal_goes_on(running: Project) -> None:
    before = running.run_id("job.counts")
    running.edit("counts", ("id >= 0", "id >= 0L"))
    assert "Blocked until proven" in running.plan(4)
    # Here on this machine: neither the state nor the application knows of it.
    shown = running.run("plan", "-prove", "-detailed-exitcode", code=2)
    assert "starting Spark" in shown.text
    assert "proven by Spark" in shown.out
    assert "Not checked yet" not in shown.out
    # The same question has the same answer, which this user has.
    again = running.run("plan", "-prove", "-detailed-exitcode", code=2)
    assert "starting Spark" not in again.text
    assert again.out == shown.out
    assert "Blocked until proven" in running.plan(4)
    running.apply()
    assert running.run_id("job.counts") == before
    assert "No changes." in running.plan(0)


def test_what_is_refuted_of_a_block_that_returns_is_kept(running: Project) -> None:
    """The job is not recorded then: the record of the one that left the checkpoint has what Spark said."""
    path = running.root / "counts.flare.hcl"
    text = path.read_text()
    path.write_text(text[: text.index('job "counts"')])
    running.apply()
    path.write_text(text)
    running.edit(
        "counts",
        ("id >= 0L AND city IN ('Rome', 'Oslo')", "city IN ('Rome', 'Oslo') AND id >= 0L"),
    )
    assert "Blocked until proven" in running.plan(4)
    assert_refuted(running.apply(code=4).out)
    assert_refuted(running.plan(4))
    assert "Checking" not in running.apply(code=4).out
    path.write_text(text)
    running.apply()
    running.land(5)
    _expect_counts(running)
    assert "No changes." in running.plan(0)


def test_what_spark_does_not_understand_is_reported_before_any_apply(running: Project) -> None:
    with running.edited("counts", ("count(*)", "cuont(city)")):
        for command, code in (("plan", 4), ("validate", 1)):
            said = running.run(command, "-prove", code=code).err
            assert "FIK073" in said
            assert "on counts.flare.hcl line" in said
    assert "Checked here: the SQL of 4 jobs." in running.run("validate", "-prove").out


def assert_refuted(plan: str) -> None:
    """A plan that asks for a person's word, and Spark was asked before."""
    assert "FIK063" in plan
    assert "Blocked until proven" not in plan


def _expect_counts(project: Project) -> None:
    wanted = {city: len([row for row in project.landed if row["city"] == city]) for city in ("Rome", "Oslo")}
    project.until(
        lambda: {row["city"]: row["rides"] for row in project.rows("counts")} == wanted,
        f"the counts {wanted}",
    )
