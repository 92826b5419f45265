"""How is trouble with an application told? Codes FIK801 to FIK809."""

from collections.abc import Sequence
from pathlib import Path

from flareiac.kernel.diagnostics import Diagnostic, error
from flareiac_spark.control import ControlError, Trouble

_WAYS_OUT = {
    Trouble.DAMAGED: "Nothing was changed. Move the file away if it can not be repaired; the next apply writes it anew.",
    Trouble.FUTURE_VERSION: "Nothing was changed. Use the release that wrote it, or a newer one.",
    Trouble.FOREIGN: "Each project and workspace needs a runtime_location of its own; set another one in the engine.",
    Trouble.COPIED: (
        "The project was copied or moved. Run flareiac where it was. If that one is gone for good, remove this directory and plan again: "
        "its jobs then start from their checkpoints, as far as these fit."
    ),
    Trouble.CONFLICT: "Someone else changed what should run in the meantime. Plan again.",
    Trouble.BUSY: "Another command works on the same application. Try again when it has ended.",
    Trouble.UNREACHABLE: "Check that the directory exists, that there is space, and that this user may write there.",
}


def control_trouble(failure: ControlError) -> Diagnostic:
    """A failure of the control directory as a complaint."""
    detail = f"{failure.path}: {failure.why}. {_WAYS_OUT[failure.kind]}"
    return error("FIK804", "The application's control directory can not be used", detail)


def ended_while_starting(heart: str, output: Path) -> Diagnostic:
    detail = f"{heart}\nThe driver's whole output is in {output}."
    return error("FIK801", "The Spark application ended while it was starting", detail)


def not_ready(seconds: float, phase: str, output: Path) -> Diagnostic:
    detail = f"It {phase} after {seconds:.0f} s. It is left as it is and may still come up; its output is in {output}."
    return error("FIK802", "The Spark application is not ready in time", detail)


def gone_while_waiting(reason: str, output: Path) -> Diagnostic:
    detail = f"{reason}\nIts jobs resume from their checkpoints when it is started again (apply does that). Its output is in {output}."
    return error("FIK803", "The Spark application ended while its answer was awaited", detail)


def does_not_end(pid: int, seconds: float) -> Diagnostic:
    detail = f"The process {pid} still runs after {seconds:.0f} s. A batch may take longer than graceful_stop; wait, or kill it."
    return error("FIK805", "The Spark application does not end", detail)


def is_silent(why: str) -> Diagnostic:
    detail = (
        f"{why[:1].upper()}{why[1:]}. It may still write, so nothing was started beside it. Let it continue, or end that process if it is "
        "dead for good; then try again."
    )
    return error("FIK806", "The Spark application does not answer", detail)


def not_startable(why: str) -> Diagnostic:
    return error("FIK807", "The Spark application can not be started", why)


def not_ours(pid: int) -> Diagnostic:
    detail = f"The process {pid} belongs to another user. Ask them to end it, or run the command as that user."
    return error("FIK808", "The Spark application can not be stopped", detail)


def runs_elsewhere(pid: int, host: str) -> Diagnostic:
    detail = f"It is process {pid} on {host}, which cannot be ended from here. Run the command there, or end that process; then try again."
    return error("FIK808", "The Spark application can not be stopped", detail)


def no_control_directory(path: Path, known: Sequence[str]) -> Diagnostic:
    there = f" Here are: {', '.join(known)}." if known else " An apply makes one when it starts the first job of an engine."
    detail = f"{path} holds no desired.json, so that there is nothing to run. Nothing was started and no folder was made.{there}"
    return error("FIK809", "This folder is not a control directory", detail)
