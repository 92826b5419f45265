"""Waits for the JVM of an application that is gone. Touches processes, by looking only."""

import time
from typing import Final

from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.sdk.requests import ChangeRequest
from flareiac_spark import codes
from flareiac_spark.application import Liveness, liveness
from flareiac_spark.application.liveness import jvm_of
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.engine.application import Applications, read_status
from flareiac_spark.generation.operation_client import cancelled
from flareiac_spark_runtime.control import is_running

_JVM_ENDS: Final = 60.0


def await_jvm(request: ChangeRequest, applications: Applications) -> None:
    """A JVM may outlive its driver for seconds, and commit. Raises ``Failure``."""
    if (recorded := request.action.recorded) is None:
        return
    engine = JobDefinition.of(recorded.attributes).runs_in
    status = read_status(applications.control(engine))
    jvm = jvm_of(status) if status is not None and liveness(status) is Liveness.GONE else None
    deadline = time.monotonic() + _JVM_ENDS
    while jvm is not None and is_running(jvm):
        if request.cancel.wait(0.2):
            raise Failure(cancelled(request.address))
        if time.monotonic() > deadline:
            raise Failure(_outlived(request.address, jvm.pid))


def _outlived(address: str, pid: int) -> Diagnostic:
    """A JVM without a driver that does not end."""
    detail = (
        f"The driver of {address} is gone, and its JVM (pid {pid}) may still commit a batch. End it "
        f"(kill {pid}) and apply again."
    )
    return error(codes.JVM_OUTLIVES_DRIVER, detail, address=address)
