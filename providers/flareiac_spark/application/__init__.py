"""The command line's side of an application: is it alive, start it, wait for it, ask it, stop it.

Starts and ends processes and reads the control directory; never runs Spark in its own process and never
decides what should run. ErrorKind is raised as a ``Failure`` whose diagnostics tell the cause. Killing the
command line stops nothing that was started here.
"""

from flareiac_spark.application.errors import control_failure
from flareiac_spark.application.external import await_external
from flareiac_spark.application.launch import Launch, ensure_running
from flareiac_spark.application.liveness import (
    Liveness,
    is_alive,
    liveness,
    other_release,
    silence,
    was_stopped,
    why_unknown,
)
from flareiac_spark.application.operation_client import (
    await_end,
    end_application,
    run_operation,
    stop_application,
    wait_for,
)
from flareiac_spark.application.submit import ensure_submitted
from flareiac_spark.application.takeover import end_if_gone, is_elsewhere_and_silent

__all__ = [
    "Launch",
    "Liveness",
    "await_end",
    "await_external",
    "control_failure",
    "end_application",
    "end_if_gone",
    "ensure_running",
    "ensure_submitted",
    "is_alive",
    "is_elsewhere_and_silent",
    "liveness",
    "other_release",
    "run_operation",
    "silence",
    "stop_application",
    "wait_for",
    "was_stopped",
    "why_unknown",
]
