"""Only a new JVM takes more jars: a plan knows what else runs where a job needs some."""

from pathlib import Path

import pytest

from flareiac.sdk.project import Project
from flareiac.sdk.requests import ReadRequest
from flareiac.sdk.results import Recorded
from flareiac.sdk.versions import ICEBERG_RELEASES, ICEBERG_RUNTIME
from flareiac_spark.engine.application import needs_of, outdated, settings
from flareiac_spark.engine.other_jobs import RestartedJobs
from flareiac_spark.job.driver import JobDriver
from flareiac_spark.observation.job import JobFacts, observed_facts
from flareiac_spark.runtime.lock_file import LOCK_FILE
from flareiac_spark.spark_provider import SparkSession
from tests.spark.applications import States, application_at_work
from tests.spark.declared import LAKE, STATELESS, loaded

POSTGRES = """
catalog "lake" {
  uri       = "postgresql://u@db/lake"
  warehouse = "/warehouse"
}
"""
STOPPED = STATELESS.replace("checkpoint = checkpoint.x", "checkpoint = checkpoint.x\n  stopped = true")


def found(
    root: Path, before: str, after: str, others: States, *, runs_with: str | None = None
) -> RestartedJobs | None:
    """The restarts for the job ``x`` of a project (see ``facts_of``)."""
    return facts_of(root, before, after, others, runs_with=runs_with).restarts


def facts_of(
    root: Path,
    before: str,
    after: str,
    others: States,
    *,
    runs_with: str | None = None,
    locked: str = "",
    is_new: bool = False,
) -> JobFacts:
    """The facts of the job ``x`` of a project, where its application was started for another text of the
    project and has these jobs. ``runs_with``: the digest of its settings, where they are not the wanted ones.
    ``locked``: the coordinate that was locked since. ``is_new``: the job is not recorded.
    """
    known = loaded(LAKE + before, root)
    applications = application_at_work(root, known, others, runs_with=runs_with)
    if locked:
        lock(root, locked)
    wanted = loaded(LAKE + after, root)
    request = ReadRequest(
        address="job.x",
        desired=wanted.attributes(),
        recorded=None if is_new else Recorded(attributes=known.attributes(), identity={"digest": "d"}),
        references=wanted.references(),
    )
    facts = observed_facts(JobDriver(applications).read(request))
    assert facts is not None
    return facts


def lock(root: Path, coordinate: str) -> None:
    text = f'jar "{coordinate}" {{\n  sha256 = "{"0" * 64}"\n}}\n'
    (root / LOCK_FILE).write_text(text, encoding="utf-8")


RUNS: States = {"job.x": "running", "job.y": "running", "job.z": "stopped"}
ALONE: States = {"job.x": "running", "job.z": "stopped"}


def test_those_that_run_beside_it_restart_where_it_needs_more_jars(tmp_path: Path) -> None:
    lacks = found(tmp_path, STATELESS, STATELESS + POSTGRES, RUNS)
    assert lacks == RestartedJobs(lacks=("org.postgresql:postgresql:42.7.14",), jobs=("job.y",))


def test_they_restart_where_an_apply_ended_before_it_started_the_application_again(tmp_path: Path) -> None:
    changed = STATELESS.replace("id > 0", "id > 1")
    interrupted = found(tmp_path, STATELESS, changed, RUNS, runs_with="other settings")
    assert interrupted == RestartedJobs(lacks=(), jobs=("job.y",))
    assert "which did not come to its end" in interrupted.warning("job.x", "engine.e", "Way out.").detail


@pytest.mark.parametrize(
    ("before", "after", "others"),
    [
        pytest.param(STATELESS, STATELESS, RUNS, id="nothing is lacking"),
        pytest.param(STATELESS, STATELESS + POSTGRES, ALONE, id="no other runs"),
        pytest.param(STATELESS, STOPPED + POSTGRES, RUNS, id="it is not started"),
    ],
)
def test_they_run_on_otherwise(tmp_path: Path, before: str, after: str, others: States) -> None:
    assert found(tmp_path, before, after, others) is None


OLDER = ICEBERG_RELEASES[1][0]


@pytest.mark.parametrize(
    ("after", "runs_with", "locked", "says"),
    [
        pytest.param(STATELESS, None, "", "", id="nothing differs"),
        pytest.param(STATELESS, None, OLDER, "1.11.0 is locked, and 1.12.0 runs", id="another is locked"),
        pytest.param(STOPPED, None, OLDER, "", id="it is not started"),
        pytest.param(STATELESS, "other", "", "without the settings that an apply", id="an apply was ended"),
        pytest.param(STATELESS + POSTGRES, None, "", "", id="more jars, in no other version"),
    ],
)
def test_an_application_that_runs_with_other_jars_is_outdated(
    tmp_path: Path, after: str, runs_with: str | None, locked: str, says: str
) -> None:
    facts = facts_of(tmp_path, STATELESS, after, ALONE, runs_with=runs_with, locked=locked)
    assert len(facts.outdated) == bool(says)
    assert says in " ".join(facts.outdated)
    assert facts.restarts is None, "it is one report, and of each job its own"


def test_a_new_job_beside_jobs_with_other_jars_says_that_they_restart(tmp_path: Path) -> None:
    """Its own plan has no restart that could say so, and theirs may be left out by ``-target``."""
    facts = facts_of(tmp_path, STATELESS, STATELESS, RUNS, locked=OLDER, is_new=True)
    assert facts.outdated == ()
    assert facts.restarts == RestartedJobs(lacks=(OLDER,), jobs=("job.y",))


def test_the_jars_of_other_jobs_are_outdated_for_all(tmp_path: Path) -> None:
    """The application restarts with a job that needs none of them, too."""
    known = loaded(LAKE + STATELESS, tmp_path)
    application_at_work(tmp_path, known, RUNS)
    project, engine = Project(root=tmp_path, lineage="test"), known.job().runs_in
    running = settings(project, engine, needs_of(known.references()))
    assert outdated(project, engine, running, {}) == {}
    lock(tmp_path, OLDER)
    assert outdated(project, engine, running, {}) == {ICEBERG_RUNTIME: OLDER}


def test_maintenance_of_a_table_in_another_kind_of_catalog_restarts_them_too(tmp_path: Path) -> None:
    found(tmp_path, STATELESS, STATELESS, RUNS)
    known = loaded(LAKE + STATELESS + POSTGRES, tmp_path)
    session = SparkSession(Project(root=tmp_path, lineage="test"))
    performer = known.references()["engine.embedded"]
    (warned,) = session.disturbed("table.orders", performer, known.references())
    assert warned.address == "table.orders"
    assert "org.postgresql:postgresql:42.7.14" in warned.detail
    assert "with it job.x, job.y: " in warned.detail
