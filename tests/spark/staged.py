"""Carries out changes of jobs stage by stage, as an apply does: notes travel as JSON."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from flareiac.sdk.actions import PerformStage, Quiesce
from flareiac.sdk.changes import QUIESCE
from flareiac.sdk.requests import ApplyRequest, ChangeRequest
from flareiac.sdk.results import Outcome
from flareiac_spark.job.driver import JobDriver


def carry_out(driver: JobDriver, request: ChangeRequest, *stages: str) -> Outcome:
    """The outcome of the change itself, after its stages. Raises ``Failure``."""
    notes, _messages = performed(driver, request, stages)
    return driver.apply(noted(request, notes))


def performed(
    driver: JobDriver, request: ChangeRequest, stages: Sequence[str]
) -> tuple[dict[str, Any], dict[str, tuple[str, ...]]]:
    """The notes and messages of each stage."""
    notes, messages = dict[str, Any](), dict[str, tuple[str, ...]]()
    for stage in stages:
        if stage == QUIESCE:
            driver.quiesce(quiesced(request))
            continue
        done = driver.perform(staged(request, stage, notes))
        notes[stage], messages[stage] = json.loads(json.dumps(done.note)), done.messages
    return notes, messages


def noted(request: ChangeRequest, notes: dict[str, Any]) -> ChangeRequest:
    """A change after stages that left these notes."""
    return request.with_action(replace(request.action, notes=notes))


def staged(request: ChangeRequest, stage: str, notes: dict[str, Any]) -> ApplyRequest[PerformStage]:
    """One stage of a change, after stages that left these notes."""
    return request.with_action(PerformStage(name=stage, change=noted(request, notes).action))


def quiesced(request: ChangeRequest) -> ApplyRequest[Quiesce]:
    """The request to stop a job before a change."""
    recorded = request.action.recorded
    assert recorded is not None
    return request.with_action(Quiesce(recorded=recorded))
