"""Only a new JVM takes more jars: a plan knows what else runs where a job needs some."""

from pathlib import Path

import pytest

from flareiac.sdk.project import Project
from flareiac.sdk.requests import ReadRequest
from flareiac.sdk.results import Recorded
from flareiac_spark.engine.other_jobs import RestartedJobs
from flareiac_spark.job.driver import JobDriver
from flareiac_spark.observation.job import observed_facts
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
    """The restarts for the job ``x`` of a project, where its application was started for another text of the
    project and has these jobs. ``runs_with``: the digest of its settings, where they are not the wanted ones.
    """
    known = loaded(LAKE + before, root)
    applications = application_at_work(root, known, others, runs_with=runs_with)
    wanted = loaded(LAKE + after, root)
    request = ReadRequest(
        address="job.x",
        desired=wanted.attributes(),
        recorded=Recorded(attributes=known.attributes(), identity={"digest": "d"}),
        references=wanted.references(),
    )
    facts = observed_facts(JobDriver(applications).read(request))
    assert facts is not None
    return facts.restarts


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


def test_maintenance_of_a_table_in_another_kind_of_catalog_restarts_them_too(tmp_path: Path) -> None:
    found(tmp_path, STATELESS, STATELESS, RUNS)
    known = loaded(LAKE + STATELESS + POSTGRES, tmp_path)
    session = SparkSession(Project(root=tmp_path, lineage="test"))
    performer = known.references()["engine.embedded"]
    (warned,) = session.disturbed("table.orders", performer, known.references())
    assert warned.address == "table.orders"
    assert "org.postgresql:postgresql:42.7.14" in warned.detail
    assert "with it job.x, job.y: " in warned.detail
