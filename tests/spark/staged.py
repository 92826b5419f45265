"""Carries out changes of jobs stage by stage, as an apply does: notes travel as JSON."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from flareiac.sdk.changes import QUIESCE
from flareiac.sdk.requests import ApplyRequest
from flareiac.sdk.results import Outcome
from flareiac_spark.job.driver import JobDriver


def carry_out(driver: JobDriver, request: ApplyRequest, *stages: str) -> Outcome:
    """The outcome of the change itself, after its stages. Raises ``Failure``."""
    notes, _messages = performed(driver, request, stages)
    return driver.apply(replace(request, notes=notes))


def performed(
    driver: JobDriver, request: ApplyRequest, stages: Sequence[str]
) -> tuple[dict[str, Any], dict[str, tuple[str, ...]]]:
    """What each stage noted and said."""
    notes, messages = dict[str, Any](), dict[str, tuple[str, ...]]()
    for stage in stages:
        if stage == QUIESCE:
            driver.quiesce(request)
            continue
        done = driver.perform(replace(request, stage=stage, notes=notes))
        notes[stage], messages[stage] = json.loads(json.dumps(done.note)), done.messages
    return notes, messages
