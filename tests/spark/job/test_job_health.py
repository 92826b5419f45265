"""The reports that a job is unhealthy."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flareiac.sdk.project import Project
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.results import Present
from flareiac_spark.application import was_stopped
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.job.health import complaints, warnings, watermark_ahead
from flareiac_spark_runtime.control import JobStatus, QueryStatus, Status
from flareiac_spark_runtime.control.status import ApplicationStatus
from flareiac_spark_runtime.utc import utc_text
from tests.spark.declared import LAKE, STATEFUL, loaded


@pytest.mark.parametrize(
    "text",
    ["failed: PATH_NOT_FOUND: /landing does not exist.", "failed: PATH_NOT_FOUND: /landing does not exist"],
)
def test_an_error_that_is_a_sentence_has_one_full_stop(text: str) -> None:
    observed = Present(attributes={}, unhealthy=(text,))
    request = PlanRequest(
        address="job.x",
        desired=None,
        recorded=None,
        observed=observed,
        references={},
        project=Project(root=Path("/")),
    )
    assert [item.detail for item in warnings(request)] == [
        "Failed: PATH_NOT_FOUND: /landing does not exist. See flareiac logs job.x."
    ]


@pytest.mark.parametrize(
    ("allowed", "said"),
    [
        ("0", ("bad records: 4 records could not be read since it started (raw: 4), allowed are 0",)),
        ("3", ("bad records: 4 records could not be read since it started (raw: 4), allowed are 3",)),
        ("4", ()),
        ("null", ()),
    ],
)
def test_a_job_with_more_bad_records_than_allowed_is_unhealthy(
    allowed: str, said: tuple[str, ...], tmp_path: Path
) -> None:
    """Two queries that read one input find the same records, and the slower one not all of them yet."""
    hcl = STATEFUL.replace("checkpoint =", f"health = {{ max_bad_records = {allowed} }}\n  checkpoint =")
    job = JobDefinition.of(loaded(LAKE + hcl, tmp_path).attributes())
    queries = tuple(
        QueryStatus(output=name, id="q", run_id="r", bad_records={"raw": count, "other": 0})
        for name, count in (("a", 4), ("b", 3))
    )
    status = JobStatus(phase="running", digest="d", nonce=0, since=0.0, queries=queries)
    assert complaints(job, status, silent="") == said


NOW = 1_767_225_600.0
DAY_MS = 86_400_000


@pytest.mark.parametrize(
    ("days", "late", "said"),
    [
        (20_000_000, 0, True),
        (367, 0, True),
        (365, 0, False),
        (2, 3, True),
        (2, 0, False),
        (0.5, 3, False),
        (-10, 3, False),
    ],
)
@pytest.mark.parametrize("running", [False, True])
def test_a_watermark_far_ahead_is_said(days: float, late: int, said: bool, running: bool) -> None:
    at = int(NOW * 1000 + days * DAY_MS)
    query = QueryStatus(output="a", id="q", run_id="r", watermark=utc_text(at), late_rows=late)
    if not running and late:
        query = replace(query, watermark=None)
    found = watermark_ahead(None if running else at, (query,), now=NOW)
    assert (len(found), all(utc_text(at, timespec="seconds") in text for text in found)) == (said, True)


def test_a_job_with_more_late_rows_than_allowed_is_unhealthy(tmp_path: Path) -> None:
    hcl = STATEFUL.replace("checkpoint =", "health = { max_late_rows = 2 }\n  checkpoint =")
    job = JobDefinition.of(loaded(LAKE + hcl, tmp_path).attributes())
    for late, unwell in ((2, 0), (3, 1)):
        query = QueryStatus(output="a", id="q", run_id="r", late_rows=late)
        status = JobStatus(phase="running", digest="d", nonce=0, since=0.0, queries=(query,))
        assert len(complaints(job, status, silent="")) == unwell


@pytest.mark.parametrize(
    ("phase", "reason", "stopped"),
    [("ended", "asked to stop", True), ("ended", "idle_shutdown", False), ("running", "", False)],
)
def test_an_application_that_was_asked_to_end_was_stopped(phase: Any, reason: str, stopped: bool) -> None:
    about = ApplicationStatus(id="a", name="n", host="h", pid=1, pid_started="1", phase=phase, reason=reason)
    status = Status(application=about, heartbeat=0.0, observed_revision=0)
    assert was_stopped(status) is stopped
    assert not was_stopped(None)
