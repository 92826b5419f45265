"""A changed job that does not become stable: the definition before runs again, unless it could not; what was
done is told either way.
"""

import json
from collections.abc import Iterator

import pytest

from tests.integration.project import LAKE, Project, rides

pytestmark = pytest.mark.jvm

GOOD = "SELECT id, city FROM rides"
FAILS = "SELECT id, if(id >= 0, raise_error('the new one fails'), city) AS city FROM rides"
SLEEPS = "SELECT id, concat(city, java_method('java.lang.Thread', 'sleep', 60000L)) AS city FROM rides"
GUARDED = (
    'restart    = { backoff = "1s" }',
    'restart    = { max_failures = 0 }\n  stability  = { within = "60s", on_failure = "rollback" }',
)
PAIR = """
table "left" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id" { type = "long" }
}
table "right" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id" { type = "long" }
}
checkpoint "pair" {}
job "pair" {
  checkpoint = checkpoint.pair
  trigger    = { processing_time = "200ms" }
  restart    = { max_failures = 0 }
  stability  = { within = "60s", on_failure = "rollback" }
  code       = "jobs/"
  input "rides" { stream = stream.rides }
  step "even" { sql = "SELECT id FROM rides WHERE id % 2 = 0" }
  step "odd" {
    python = "odd:odd"
    params = { fails_after = "" }
  }
  output "left" {
    table = table.left
    from  = "even"
  }
  output "right" {
    table = table.right
    from  = "odd"
  }
}
"""
ODD = """
import time
from pathlib import Path

from pyspark.sql import functions as F


def odd(spark, inputs, params):
    rows = inputs["rides"].where("id % 2 = 1").select("id")
    other = params["fails_after"]
    if not other:
        return rows

    def fail(id):
        while not Path(other).exists():
            time.sleep(0.1)
        raise ValueError("no odds")

    return rows.select(F.udf(fail, "long")("id").alias("id"))
"""


@pytest.fixture(scope="module")
def guarded(project: Project) -> Iterator[Project]:
    """A job that is to be rolled back, and another one that nothing of it may touch."""
    project.write(
        lake=LAKE.replace('graceful_stop    = "60s"', 'graceful_stop    = "2s"'),
        rides=rides("rides"),
        other=rides("other"),
    )
    project.edit("rides", GUARDED)
    project.land(20)
    project.apply()
    project.expect_rides("rides")
    untouched = project.run_id("job.other")
    yield project
    project.land(5)
    project.expect_rides("other")
    assert project.run_id("job.other") == untouched


def set_to_run(project: Project, job: str) -> str:
    return json.dumps(json.loads((project.control / "desired.json").read_text())["jobs"][job]["spec"])


def with_work(project: Project) -> None:
    """Rows that only the next start finds."""
    project.run("stop", "job.rides")
    project.land(5)


def test_a_definition_that_fails_gives_way_to_the_one_before(guarded: Project) -> None:
    with_work(guarded)
    with guarded.edited("rides", (GOOD, FAILS)):
        failed = guarded.apply(code=7)
        assert "the new one fails" in failed.err
        assert "The previous definition runs again [FIK077]" in failed.err
        guarded.expect_rides("rides")
        assert "raise_error" not in set_to_run(guarded, "job.rides")
        assert "raise_error" in guarded.plan(2)
    assert "No changes." in guarded.plan(0)
    guarded.run("drift")


def test_one_that_is_at_work_on_its_first_batch_is_kept_and_is_nothing_to_go_back_to(
    guarded: Project,
) -> None:
    with_work(guarded)
    with guarded.edited("rides", (GOOD, SLEEPS), ('within = "60s"', 'within = "4s"')):
        kept = guarded.apply()
        assert "Warning: it runs, and its first batch is not committed after 4 s" in kept.out
        with guarded.edited("rides", (SLEEPS, FAILS), ('within = "4s"', 'within = "60s"')):
            failed = guarded.apply(code=1)
            assert "it had not committed its first batch" in " ".join(
                failed.err.replace("\u2502", " ").split()
            )
    guarded.apply()
    guarded.expect_rides("rides")
    assert "No changes." in guarded.plan(0)


def test_a_change_that_holds_is_kept(guarded: Project) -> None:
    with_work(guarded)
    guarded.edit("rides", (GOOD, f"{GOOD} WHERE id >= 0"))
    guarded.apply()
    guarded.expect_rides("rides")
    assert "No changes." in guarded.plan(0)


def test_what_is_new_has_nothing_to_go_back_to(guarded: Project) -> None:
    guarded.write(fresh=rides("fresh"))
    guarded.edit("fresh", GUARDED, (GOOD, FAILS))
    failed = guarded.apply(code=7)
    assert "The previous definition was not restored [FIK078]" in failed.err
    assert "it is new" in failed.err
    assert guarded.status()["job.fresh"]["phase"] == "failed"
    guarded.remove("fresh")
    guarded.apply()


def test_after_a_batch_under_the_new_one_the_old_one_is_left(guarded: Project) -> None:
    (guarded.root / "jobs").mkdir()
    (guarded.root / "jobs" / "odd.py").write_text(ODD)
    guarded.write(pair=PAIR)
    guarded.apply()
    guarded.until(
        lambda: len(guarded.ids("left")) + len(guarded.ids("right")) == len(guarded.landed), "both halves"
    )
    guarded.run("stop", "job.pair")
    guarded.land(6)
    commits = guarded.root / ".flareiac" / "checkpoints" / "default" / "pair" / "left" / "g0001" / "commits"
    following = max(int(item.name) for item in commits.iterdir() if item.name.isdigit()) + 1
    broken = ('fails_after = ""', f'fails_after = "{commits / str(following)}"')
    guarded.edit("pair", broken, ("WHERE id % 2 = 0", "WHERE id % 2 = 0 OR id < 0"))
    failed = guarded.apply(code=1)
    assert "no odds" in failed.err
    assert "FIK078" in failed.err
    assert "a batch was committed under the new one" in failed.err
    assert str(commits) in set_to_run(guarded, "job.pair")
    guarded.edit("pair", (broken[1], broken[0]))
    guarded.apply()
    guarded.until(
        lambda: sorted(guarded.ids("left") + guarded.ids("right")) == list(range(len(guarded.landed))),
        "each ride once",
    )
    guarded.remove("pair")
    guarded.apply()


def test_a_new_generation_and_a_changed_table_are_left(guarded: Project) -> None:
    with_work(guarded)
    guarded.edit(
        "rides",
        (f"{GOOD} WHERE id >= 0", FAILS),
        ('column "city" { type = "string" }', 'column "town" { type = "string" }'),
    )
    guarded.edit("rides", ("city) AS city", "city) AS town"))
    failed = guarded.apply(code=7)
    assert "the columns of lake.demo.rides changed in the same apply" in failed.err
    guarded.edit(
        "rides", (FAILS.replace("AS city", "AS town"), "SELECT id, city AS town FROM rides WHERE id >= 0")
    )
    guarded.apply()
    guarded.expect_rides("rides")

    with_work(guarded)
    guarded.edit(
        "rides",
        ('checkpoint "rides" {}', 'checkpoint "rides" {\n  generation = 2\n  start_from = "earliest"\n}'),
    )
    guarded.edit("rides", ("SELECT id, city AS town FROM rides", FAILS.replace("AS city", "AS town")))
    failed = guarded.apply(code=7)
    assert "generation 2 of its checkpoint has begun" in failed.err
    guarded.remove("rides")
    guarded.apply()
