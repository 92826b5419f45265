"""Runs operations of one apply on an engine's application: brings it up, waits, and reports errors."""

import uuid
from dataclasses import replace
from typing import Final, assert_never

from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.sdk.requests import ApplyRequest
from flareiac_spark import codes
from flareiac_spark.application import run_operation
from flareiac_spark.engine.application import Applications
from flareiac_spark.engine.engine_definition import EngineDefinition
from flareiac_spark_runtime.control import Finish, Marks, Operation, Result, Truncate
from flareiac_spark_runtime.control.operations import Question

A_WHILE: Final = 600.0
A_BATCH: Final = 24 * 3600.0
"""Seconds that a question, and that the rest of a batch, may take."""


class OperationClient:
    """Questions of one apply to one engine's application, which is brought up for the first."""

    def __init__(
        self, request: ApplyRequest[object], engine: EngineDefinition, applications: Applications
    ) -> None:
        self._request, self._engine, self._applications = request, engine, applications
        self._up = False

    def tell(self, text: str) -> None:
        """Says what is in progress."""
        self._request.progress(text)

    def ask(self, work: Question, patience: float) -> Result:
        """The answer. Raises ``Failure``."""
        engine, request = self._engine, self._request
        if not self._up:
            self._applications.want(engine, request.references, lambda current: current)
            if self._applications.bring_up(engine, request.cancel, request.progress) is None:
                raise Failure(cancelled(request.address))
            self._up = True
        operation = Operation(id=f"{work.kind}-{uuid.uuid4().hex}", work=work)
        result = run_operation(
            self._applications.control(engine), operation, timeout=patience, cancel=request.cancel
        )
        if result is None:
            raise Failure(
                cancelled(request.address)
                if request.cancel.is_set()
                else no_answer(request.address, work.kind, patience)
            )
        if result.status == "failed":
            raise Failure(not_done(request.address, work, str(result.error)))
        return result


def not_done(address: str, work: Question, why: str) -> Diagnostic:
    """An operation's own failure."""
    match work:
        case Marks():
            code, what = codes.BATCH_UNCERTAIN, f"Whether batch {work.batch} was written is not known"
        case Finish():
            code, what = codes.BATCH_NOT_FINISHED, f"Batch {work.batch} was written to some outputs only"
        case Truncate():
            code, what = codes.TABLE_NOT_EMPTIED, ".".join(work.target.identifier)
        case _:
            assert_never(work)
    detail = (
        f"{what}: {why}\nThe job is stopped; its old generation is unchanged. Apply again when the "
        "cause is removed."
    )
    return error(code, detail, address=address)


def no_answer(address: str, kind: str, seconds: float) -> Diagnostic:
    """The application is silent."""
    detail = (
        f"{address} asked it for {kind}, and it has not answered within {seconds:.0f} s. The job is "
        "stopped. Apply again."
    )
    return error(codes.APPLICATION_SILENT, detail, address=address)


def cancelled(address: str) -> Diagnostic:
    """The command was interrupted."""
    detail = (
        f"The apply was cancelled before the new generation of {address} was ready. The job is "
        "stopped; the next apply goes on."
    )
    return replace(error(codes.START_CANCELLED, detail, address=address), cancelled=True)
