"""Ends and starts the application of an engine by hand. Touches its control directory and its processes.

What should run stays as it is: an ended application is drift, and the next apply starts it again, each job
where its checkpoint stands.
"""

import threading
from collections.abc import Callable, Sequence

from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.sdk.actions import RunCommand
from flareiac.sdk.references import Resolved
from flareiac_spark import codes
from flareiac_spark.application import Liveness, liveness
from flareiac_spark.engine.application import Applications, read_desired, read_status
from flareiac_spark.engine.engine_definition import EXTERNAL, EngineDefinition


def steer_engine(
    verb: RunCommand,
    engine: Resolved,
    applications: Applications,
    cancel: threading.Event,
    progress: Callable[[str], None],
) -> Sequence[str]:
    """The result of the command, in lines. Raises ``Failure``."""
    definition, texts = EngineDefinition.of(engine.attributes), list[str]()
    if definition.type == EXTERNAL and verb is not RunCommand.START:
        raise Failure(_of_others(engine.address))
    if verb in (RunCommand.STOP, RunCommand.RESTART):
        texts += _ended(engine.address, definition, applications, cancel, progress)
    if verb in (RunCommand.START, RunCommand.RESTART):
        texts += _started(engine.address, definition, applications, cancel, progress)
    return texts


def _of_others(address: str) -> Diagnostic:
    detail = (
        f"{address} is external: whoever runs its driver would start it again. Stop or restart it there, as "
        "with systemctl or kubectl. flareiac stop JOB stops a job."
    )
    return error(codes.DRIVER_IS_EXTERNAL, detail)


def _ended(
    address: str,
    engine: EngineDefinition,
    applications: Applications,
    cancel: threading.Event,
    progress: Callable[[str], None],
) -> list[str]:
    control = applications.control(engine)
    applications.end_if_gone(engine, cancel, progress)
    if liveness(read_status(control)) is Liveness.GONE:
        return [f"{address}: its application does not run."]
    progress(f"{address}: each query ends after its next commit, at the latest after graceful_stop...")
    if not applications.end(engine, cancel):
        raise Failure(
            error(
                codes.ENGINE_CONTROL_CANCELLED,
                f"The command was cancelled before the application of {address} had ended.",
            )
        )
    desired = read_desired(control)
    jobs = (
        sorted(desired.address_of(name) for name, job in desired.jobs.items() if job.state == "running")
        if desired is not None
        else []
    )
    resume = (
        f" {', '.join(jobs)}: started again by the next apply, or by flareiac start {address}."
        if jobs
        else ""
    )
    return [f"{address}: its application has ended.{resume}"]


def _started(
    address: str,
    engine: EngineDefinition,
    applications: Applications,
    cancel: threading.Event,
    progress: Callable[[str], None],
) -> list[str]:
    control = applications.control(engine)
    if read_desired(control) is None:
        detail = (
            f"{control.place} has no job of {address} that should run. Apply first: that starts "
            "the application with its jobs."
        )
        raise Failure(error(codes.NOTHING_TO_RUN, detail))
    status = applications.bring_up(engine, cancel, lambda text: progress(f"{address}: {text}"))
    if status is None:
        why = f"The command was cancelled before the application of {address} ran."
        raise Failure(error(codes.ENGINE_CONTROL_CANCELLED, why))
    return [f"{address}: its application runs (pid {status.application.pid})."]
