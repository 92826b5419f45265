"""The state of a query is deleted by hand: what was there is known by the query that was recorded."""

import shutil
from pathlib import Path

import pytest

from flareiac.sdk.requests import ReadRequest
from flareiac.sdk.results import Observation, Recorded, Unreadable
from flareiac_spark.engine.application import Applications
from flareiac_spark.job.driver import JobDriver
from flareiac_spark.places import place_of
from tests.spark.checkpoint_sample import sample
from tests.spark.declared import LAKE, STATEFUL, STATELESS, Loaded, loaded


def read(job: Loaded) -> Observation:
    recorded = Recorded(attributes=job.attributes(), identity={"digest": "d"})
    request = ReadRequest(
        address="job.x", desired=job.attributes(), recorded=recorded, references=job.references()
    )
    return JobDriver(Applications(job.project)).read(request)


def place(job: Loaded) -> Path:
    return Path(str(place_of(job.job().checkpoint_location or "", job.project))) / "hourly" / "g0001"


@pytest.mark.parametrize("gone", ["state", "state/0"])
def test_state_that_was_deleted_is_noticed(gone: str, tmp_path: Path) -> None:
    job = loaded(LAKE + STATEFUL, tmp_path)
    folder = sample(place(job), operator="stateStoreSave")
    assert not isinstance(read(job), Unreadable)
    shutil.rmtree(folder / gone)
    seen = read(job)
    assert isinstance(seen, Unreadable)
    assert (seen.diagnostic.code, str(folder / gone) in seen.diagnostic.detail) == ("FIK027", True)


def test_a_query_that_has_committed_nothing_may_have_none(tmp_path: Path) -> None:
    job = loaded(LAKE + STATEFUL, tmp_path)
    sample(place(job), started=0, committed=-1)
    assert not isinstance(read(job), Unreadable)


@pytest.mark.parametrize("step", ["", "WITH unused AS (SELECT count(*) AS n FROM orders) "])
def test_a_query_without_state_has_none(step: str, tmp_path: Path) -> None:
    text = LAKE + STATELESS
    assert 'sql = "SELECT' in text, text
    job = loaded(text.replace('sql = "SELECT', f'sql = "{step}SELECT'), tmp_path)
    sample(place(job))
    assert not isinstance(read(job), Unreadable)
