"""Has an application carry out one maintenance task, once, however often the command line dies meanwhile.

The operation's id follows from the maintenance task alone: asked again, it finds the answer that no one took,
or the application that is about to give it. An answer is taken once: the same maintenance task of the same
table may be due again, and then it is another one.
"""

import time
from collections.abc import Callable
from typing import Final

from flareiac.kernel.data import digest
from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.lakehouse_views import TableView
from flareiac.sdk.maintenance import PerformRequest
from flareiac.sdk.table_tasks import Performed, performer_of
from flareiac_spark import codes
from flareiac_spark.application import Liveness, control_failure, liveness, wait_for
from flareiac_spark.engine.application import Applications, read_status
from flareiac_spark.engine.engine_definition import EngineDefinition
from flareiac_spark.maintenance import errors
from flareiac_spark_runtime.control import ControlDirectory, ControlError, Maintain, Operation, Result, Status
from flareiac_spark_runtime.control.operations import MAINTENANCE, UNANSWERED
from flareiac_spark_runtime.control.status import ASKED_TO_STOP

_PATIENCE: Final = 24 * 3600.0
_KEPT: Final = 7 * 24 * 3600.0
"""Seconds for which an answer waits to be taken: a command that was killed may come back for it."""
_ATTEMPTS: Final = 3


def perform(request: PerformRequest, applications: Applications) -> Performed:
    """Waits until it is done. Raises ``Failure``."""
    if performer_of(request.work.kind) is None:
        raise Failure(errors.no_performer(request))
    control = applications.control(EngineDefinition.of(request.performer.attributes))
    operation = _operation(request, applications.project.lineage)
    try:
        control.forget_results(MAINTENANCE, time.time() - _KEPT)
        known = control.read_result(operation.id)
        untaken = known is not None and known.status == "done"
        result = known if known is not None and untaken else _asked(request, applications, control, operation)
        control.forget_operation(operation.id)
    except ControlError as failure:
        raise Failure(control_failure(failure)) from failure
    done = result.maintained
    if done is None:
        raise Failure(errors.not_done(request, str(result.error)))
    return Performed(result=dict(done.result), found=untaken or done.found)


def outcome(request: PerformRequest, applications: Applications) -> Performed | None:
    """The answer that no one took, waited for where an application is at it; None where there is none, or it
    cannot be read.

    Raises ``Failure`` where it is cancelled.
    """
    control = applications.control(EngineDefinition.of(request.performer.attributes))
    operation = _operation(request, applications.project.lineage)
    try:
        result = control.read_result(operation.id)
        if (
            result is None
            and control.read_operation(operation.id) is not None
            and liveness(read_status(control)) is Liveness.ALIVE
        ):
            request.progress(errors.doing(request))
            result = _awaited(request, control, operation)
        done = result.maintained if result is not None else None
        if done is None:
            return None
        control.forget_operation(operation.id)
    except ControlError:
        # a caller that asks the application something gets its error; the table says what
        # it committed
        return None
    return Performed(result=dict(done.result), found=True)


def _awaited(request: PerformRequest, control: ControlDirectory, operation: Operation) -> Result | None:
    try:
        result = wait_for(
            control,
            _answer_of(request, control, operation),
            timeout=_PATIENCE,
            cancel=request.cancel,
        )
    except Failure:
        return None  # the application ended: what it has committed, the table tells
    if result is None and request.cancel.is_set():
        raise Failure(errors.cancelled(request, begun=True))
    return result


def _answer_of(
    request: PerformRequest, control: ControlDirectory, operation: Operation
) -> Callable[[Status], Result | None]:
    """Looks for the result; meanwhile says why the application has no executors."""
    said = [""]

    def look(status: Status) -> Result | None:
        waiting = status.application.waiting
        if waiting != said[0]:
            said[0] = waiting
            request.progress(f"waiting: {waiting}" if waiting else errors.doing(request))
        return control.read_result(operation.id)

    return look


def _asked(
    request: PerformRequest, applications: Applications, control: ControlDirectory, operation: Operation
) -> Result:
    for _ in range(_ATTEMPTS):
        result = _answer(request, applications, control, operation)
        if result.status == "done" or result.error != UNANSWERED:
            return result
    return result


def _answer(
    request: PerformRequest, applications: Applications, control: ControlDirectory, operation: Operation
) -> Result:
    engine = EngineDefinition.of(request.performer.attributes)
    known = control.read_result(operation.id)
    if known is not None and known.status == "done":
        return known
    if known is not None or liveness(read_status(control)) is Liveness.GONE:
        # What an application left when it died, or could not do, says nothing of the next attempt.
        control.forget_operation(operation.id)
    applications.want(engine, request.references, lambda current: current)
    if applications.bring_up(engine, request.cancel, request.progress) is None:
        raise Failure(errors.cancelled(request, begun=False))
    request.progress(errors.doing(request))
    control.submit_operation(operation)
    try:
        result = wait_for(
            control,
            _answer_of(request, control, operation),
            timeout=_PATIENCE,
            cancel=request.cancel,
        )
    except Failure as failure:
        if _was_stopped(control):
            return Result(id=operation.id, status="failed", error=UNANSWERED)
        if failure.diagnostics[0].code == codes.APPLICATION_ENDED_UNANSWERED.id:
            raise Failure(errors.application_ended(request, failure.diagnostics[0])) from failure
        raise
    if result is None:
        silent = (
            errors.cancelled(request, begun=True)
            if request.cancel.is_set()
            else errors.no_answer(request, _PATIENCE)
        )
        raise Failure(silent)
    return result


def _was_stopped(control: ControlDirectory) -> bool:
    """Returns True if someone ended the application in order, as another part of the same apply does when its
    settings change.
    """
    status = read_status(control)
    return (
        status is not None
        and status.application.phase == "ended"
        and status.application.reason == ASKED_TO_STOP
    )


def _operation(request: PerformRequest, lineage: str) -> Operation:
    identifier, uuid = _table(request)
    work = Maintain(key=request.key, identifier=identifier, uuid=uuid, task=request.work, lineage=lineage)
    return Operation(id=f"{MAINTENANCE}{digest([request.key, uuid, request.work.kind])[:40]}", work=work)


def _table(request: PerformRequest) -> tuple[tuple[str, ...], str]:
    """The name that Spark knows it by, and which table it is."""
    table = TableView.of(request.subject, request.references)
    if table.identifier is None or table.uuid is None:
        raise Failure(errors.not_applied(request))
    return table.identifier, table.uuid
