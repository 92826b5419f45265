"""Errors about the Spark application."""

from collections.abc import Sequence
from typing import Final

from flareiac.kernel.diagnostics import Diagnostic, error
from flareiac_spark import codes
from flareiac_spark_runtime.control import ControlError, ErrorKind, Status
from flareiac_spark_runtime.control.refused_start import RefusedStart
from flareiac_spark_runtime.storage import Place, is_object_uri

_WAYS_OUT = {
    ErrorKind.DAMAGED: (
        "Nothing was changed. Move the file away if it cannot be repaired; the next apply writes a new one."
    ),
    ErrorKind.FUTURE_VERSION: "Nothing was changed. Use the release that wrote it, or a newer one.",
    ErrorKind.FOREIGN: (
        "Each project and workspace needs a runtime_location of its own; set another one in the engine."
    ),
    ErrorKind.COPIED: (
        "The project was copied or moved. Run flareiac where it was. If that one is gone for good, remove "
        "this directory and plan again: its jobs then start from their checkpoints, as far as these fit."
    ),
    ErrorKind.CONFLICT: "Someone else changed what should run in the meantime. Plan again.",
    ErrorKind.BUSY: "Another command works on the same application. Try again when it has ended.",
    ErrorKind.UNREACHABLE: (
        "Check that the directory exists, that there is space, and that this user may write there."
    ),
    ErrorKind.UNCONDITIONAL: (
        "Nothing was started. Use a server with conditional writes (S3 itself has them), or a local "
        "runtime_location."
    ),
}
_REACH: Final = (
    "Check the bucket, the credentials and the address of the server that this process has (AWS_PROFILE, "
    "AWS_REGION, AWS_ENDPOINT_URL_S3 and the like). What runs goes on."
)


def control_failure(failure: ControlError) -> Diagnostic:
    """A failure of the control directory as a complaint."""
    way_out = _WAYS_OUT[failure.kind]
    if failure.kind is ErrorKind.UNREACHABLE and is_object_uri(failure.path):
        way_out = _REACH
    if failure.kind is ErrorKind.UNCONDITIONAL:
        return error(codes.WRITES_UNCONDITIONAL, f"{failure.path}: {failure.why}. {way_out}")
    return error(codes.CONTROL_DIRECTORY_UNUSABLE, f"{failure.path}: {failure.why}. {way_out}")


def ended_while_starting(cause: str, output: Place) -> Diagnostic:
    detail = f"{cause}\nThe driver's whole output is in {output}."
    return error(codes.APPLICATION_ENDED_WHILE_STARTING, detail)


def not_ready(seconds: float, phase: str, output: Place) -> Diagnostic:
    detail = (
        f"It {phase} after {seconds:.0f} s. It is left as it is and may still come up; its output is "
        f"in {output}."
    )
    return error(codes.APPLICATION_NOT_READY, detail)


def gone_while_waiting(reason: str, output: Place) -> Diagnostic:
    detail = (
        f"{reason}\nIts jobs resume from their checkpoints when it is started again (apply does "
        f"that). Its output is in {output}."
    )
    return error(codes.APPLICATION_ENDED_UNANSWERED, detail)


def gone_under_supervision(reason: str, place: Place) -> Diagnostic:
    detail = (
        f"{reason}\nThe engine is external: its supervisor has to start flareiac driver {place} again, and "
        "has its output. Its jobs resume from their checkpoints then. Apply again when it runs."
    )
    return error(codes.APPLICATION_ENDED_UNANSWERED, detail)


def does_not_end(pid: int, seconds: float) -> Diagnostic:
    detail = (
        f"The process {pid} still runs after {seconds:.0f} s. A batch may take longer than "
        "graceful_stop; wait, or kill it."
    )
    return error(codes.APPLICATION_DOES_NOT_END, detail)


def does_not_answer_end(host: str, seconds: float) -> Diagnostic:
    detail = (
        f"The application on {host} was asked to end, and still runs after {seconds:.0f} s. A batch may take "
        "longer than graceful_stop; wait, or end it where the cluster manages it (yarn application -kill, "
        "kubectl delete pod)."
    )
    return error(codes.APPLICATION_DOES_NOT_END, detail)


def is_silent(why: str) -> Diagnostic:
    detail = (
        f"{why[:1].upper()}{why[1:]}. It may still write, so nothing was started beside it. Let it continue, "
        "or end its process if it hangs; then try again."
    )
    return error(codes.APPLICATION_SILENT, detail)


def not_served(
    place: Place, seconds: float, status: Status | None, refused: RefusedStart | None, *, lives: bool
) -> Diagnostic:
    """An external driver did not come in time."""
    about = status.application if status is not None else None
    if lives and about is not None:
        seen = (
            f"Process {about.pid} on {about.host} still runs with the old settings, or is starting. It ends "
            "by itself when its jobs have stopped; its supervisor has to start it again"
        )
    else:
        parts = []
        if about is not None and about.phase == "ended":
            parts.append(f"The last one ended: {(about.reason or 'it did not say why').rstrip('.')}.")
        if refused is not None:
            parts.append(f"A start failed {refused.line.rstrip('.')}.")
        seen = " ".join([*parts, "Start it with"])
    seen += f": flareiac driver {place}"
    detail = (
        f"The engine is external, and no driver ran with its settings after {seconds:.0f} s. {seen}. What "
        "should run is written there; apply again when it runs."
    )
    return error(codes.EXTERNAL_DRIVER_MISSING, detail)


def not_startable(why: str) -> Diagnostic:
    return error(codes.APPLICATION_NOT_STARTED, why)


def not_submitted(cause: str, code: int, output: Place) -> Diagnostic:
    detail = (
        f"{cause}\nspark-submit ended with code {code} before the driver answered. Its whole output is in "
        f"{output}."
    )
    return error(codes.APPLICATION_NOT_STARTED, detail)


def not_locked(packages: Sequence[str]) -> Diagnostic:
    detail = (
        f"The project that was applied has no lock of {', '.join(packages)}, so that this host cannot fetch "
        'it safely. Run "flareiac init" in the project, and apply again.'
    )
    return error(codes.JAR_NOT_LOCKED, detail)


def not_ours(pid: int) -> Diagnostic:
    detail = (
        f"The process {pid} belongs to another user. Ask them to end it, or run the command as that user."
    )
    return error(codes.APPLICATION_NOT_STOPPED, detail)


def runs_elsewhere(pid: int, host: str) -> Diagnostic:
    detail = (
        f"It is process {pid} on {host}, which cannot be ended from here. Run the command there, or "
        "end that process; then try again."
    )
    return error(codes.APPLICATION_NOT_STOPPED, detail)


def no_control_directory(place: Place, known: Sequence[str]) -> Diagnostic:
    there = (
        f" Here are: {', '.join(known)}."
        if known
        else " An apply makes one when it starts the first job of an engine."
    )
    detail = (
        f"{place} holds no desired.json, so there is nothing to run. Nothing was started and no folder "
        f"was created.{there}"
    )
    return error(codes.NOT_A_CONTROL_DIRECTORY, detail)
