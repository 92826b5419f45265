"""A job that has begun no batch is written to a checkpoint in which another query has run: what is recorded of
the job is not what made the offsets and the state there.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from flareiac.sdk.requests import PlanRequest, ReadRequest
from flareiac.sdk.results import Missing, Present, Recorded
from flareiac_spark.engine.application import Applications
from flareiac_spark.job.driver import JobDriver
from flareiac_spark.job.plan import JobPlanner
from flareiac_spark.places import place_of
from flareiac_spark_runtime.control import DesiredJob
from tests.spark.checkpoint_sample import sample
from tests.spark.declared import BATCH, LAKE, STATEFUL, STATELESS, Loaded, loaded

OTHER = 'checkpoint "y" {}\n'
STOPPED = ("  checkpoint = checkpoint.x", "  checkpoint = checkpoint.y\n  stopped = true")
MOVED = ("  checkpoint = checkpoint.x", "  checkpoint = checkpoint.y")
RECORDED = {
    "stopped": STATEFUL.replace(*STOPPED),
    "started and without a batch": STATEFUL.replace(*MOVED),
    "without state": STATELESS.replace(*STOPPED),
    "a batch job": BATCH,
}


def planned(old: Loaded, new: Loaded, *, wanted: bool = True) -> list[str]:
    """The codes that block a change of the job, as the disk is now. ``wanted``: it is among what should run."""
    applications = Applications(new.project)
    engine = old.job().runs_in
    if wanted:
        entry = DesiredJob(digest="d", spec={}, state="stopped")
        applications.control(engine).update_desired(
            lambda current: current.with_job("job.x", entry), lineage="test", workspace="default"
        )
    was = Recorded(attributes=old.attributes(), identity={"digest": "d"})
    references = {**old.references(), **new.references()}
    observed = JobDriver(applications).read(
        ReadRequest(
            address="job.x",
            desired=new.attributes(),
            recorded=was,
            references=references,
        )
    )
    assert isinstance(observed, Present if wanted else Missing)
    request = PlanRequest(
        address="job.x",
        desired=new.attributes(),
        recorded=was,
        observed=observed,
        references=references,
        project=new.project,
    )
    codes = [item.code for item in JobPlanner().plan(request).blockers]
    again = JobPlanner().plan(replace(request, replace=True))
    assert ("FIK094" in [item.code for item in again.blockers]) == ("FIK094" in codes)
    return codes


@pytest.mark.parametrize("wanted", [True, False])
@pytest.mark.parametrize("recorded", RECORDED)
def test_a_used_checkpoint_is_no_new_one(recorded: str, wanted: bool, tmp_path: Path) -> None:
    old = loaded(LAKE + OTHER + RECORDED[recorded], tmp_path)
    new = loaded(LAKE + OTHER + STATEFUL, tmp_path)
    place = place_of(new.job().checkpoint_location or "", new.project)
    (tmp_path / "landing").mkdir()
    assert "FIK094" not in planned(old, new, wanted=wanted)
    sample(Path(str(place)) / "hourly" / "g0001", operator="stateStoreSave")
    assert planned(old, new, wanted=wanted) == ["FIK094"]
    assert "FIK094" not in planned(old, old, wanted=wanted)
    assert "FIK094" not in planned(new, new, wanted=wanted)
