"""Waits for an application that others run: a service unit, a Deployment. The command line starts and ends
none of its processes.
"""

import threading
import time
from collections.abc import Callable

from flareiac.kernel.diagnostics import Failure
from flareiac_spark.application import errors
from flareiac_spark.application.liveness import is_alive
from flareiac_spark_runtime.control import ControlDirectory, ControlError, Status
from flareiac_spark_runtime.control.refused_start import RefusedStart

_SECONDS = 300.0
"""Kubernetes waits up to 5 minutes before it starts a container again."""


def await_external(
    control: ControlDirectory,
    digest: str,
    *,
    cancel: threading.Event,
    progress: Callable[[str], None],
    timeout: float = _SECONDS,
) -> Status | None:
    """The status of the application once it runs with the settings of this digest; None if cancelled. Raises
    ``Failure``.
    """
    deadline, said = time.monotonic() + timeout, ""
    refused: RefusedStart | None = None
    try:
        control.prepare()
        while not cancel.is_set():
            status = control.read_status()
            lives = is_alive(status)
            if status is not None and lives and _runs_with(status, digest):
                return status
            why = "takes the new settings and starts again" if lives else "runs"
            refused = None if lives else control.read_refused_start()
            if refused is not None:
                why += f"; a start failed {refused.line}"
            if why != said:
                progress(f"waiting until the external driver {why}")
                said = why
            if time.monotonic() > deadline:
                raise Failure(errors.not_served(control.place, timeout, status, refused, lives=lives))
            cancel.wait(control.rhythm.poll)
    except ControlError as failure:
        raise Failure(errors.control_failure(failure)) from failure
    return None


def _runs_with(status: Status, digest: str) -> bool:
    return status.application.phase == "running" and status.application.digest == digest
