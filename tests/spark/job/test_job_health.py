"""How it is told that a job is unhealthy."""

from pathlib import Path

import pytest

from flareiac.sdk.project import Project
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.results import Present
from flareiac_spark.job.health import warnings


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
