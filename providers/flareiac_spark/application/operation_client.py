"""Sends operations to an application and waits for the result, also when the application dies before it
answers.
"""

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from flareiac.kernel.diagnostics import Diagnostic, Failure
from flareiac_spark.application import errors
from flareiac_spark.application.exit_reason import exit_reason
from flareiac_spark.application.launch import read_output
from flareiac_spark.application.liveness import Liveness, driver_of, is_here, jvm_of, liveness
from flareiac_spark_runtime.control import (
    ControlDirectory,
    ControlError,
    End,
    Operation,
    Result,
    Status,
    is_running,
)
from flareiac_spark_runtime.control.operations import ENDING

T = TypeVar("T")


def wait_for(
    control: ControlDirectory,
    predicate: Callable[[Status], T | None],
    *,
    timeout: float,
    cancel: threading.Event | None = None,
) -> T | None:
    """The predicate's first answer that is not None (or False); None after ``timeout`` seconds or when
    cancelled.

    Raises ``Failure`` if the application ends before it answers.
    """
    deadline, cancel = time.monotonic() + timeout, cancel or threading.Event()
    try:
        while not cancel.is_set():
            status = control.read_status()
            answer = predicate(status) if status is not None else None
            if answer is not None and answer is not False:
                return answer
            if liveness(status) is Liveness.GONE:
                raise Failure(_gone(control, status))
            if time.monotonic() > deadline:
                return None
            cancel.wait(control.rhythm.poll)
    except ControlError as failure:
        raise Failure(errors.control_failure(failure)) from failure
    return None


def run_operation(
    control: ControlDirectory, operation: Operation, *, timeout: float, cancel: threading.Event | None = None
) -> Result | None:
    """Asks for one-shot work and waits for its result; None after ``timeout`` seconds or when cancelled.
    Raises ``Failure``.
    """
    try:
        control.submit_operation(operation)
        result = wait_for(
            control, lambda _status: control.read_result(operation.id), timeout=timeout, cancel=cancel
        )
        if result is not None:
            control.forget_operation(operation.id)
        return result
    except ControlError as failure:
        raise Failure(errors.control_failure(failure)) from failure


def stop_application(
    control: ControlDirectory, *, timeout: float = 120.0, cancel: threading.Event | None = None
) -> bool:
    """Asks the application to stop all jobs at a commit and to end, and waits until driver and JVM are gone.

    False if cancelled before that. What should run is left as it is: the next application resumes it. Raises
    ``Failure``.
    """
    try:
        status = control.read_status()
    except ControlError as failure:
        raise Failure(errors.control_failure(failure)) from failure
    if status is None:
        return True
    if not is_here(status) and liveness(status) is not Liveness.GONE:
        raise Failure(errors.runs_elsewhere(status.application.pid, status.application.host))
    driver, jvm, cancel = driver_of(status), jvm_of(status), cancel or threading.Event()
    if liveness(status) is not Liveness.GONE and is_running(driver):
        _terminate(driver.pid)
    deadline, processes = time.monotonic() + timeout, [each for each in (driver, jvm) if each is not None]
    while any(map(is_running, processes)):
        if cancel.is_set():
            return False
        if time.monotonic() > deadline:
            raise Failure(errors.does_not_end(driver.pid, timeout))
        cancel.wait(control.rhythm.poll)
    return True


def end_application(
    control: ControlDirectory, *, timeout: float, cancel: threading.Event | None = None
) -> bool:
    """Asks an application whose processes no command can see to end, through its control directory, and waits
    until it has said its last word. False if cancelled before that. Raises ``Failure``.
    """
    try:
        status = control.read_status()
        if status is None or liveness(status) is Liveness.GONE:
            return True
        asked = Operation(id=f"{ENDING}{status.application.id}", work=End(application=status.application.id))
        control.submit_operation(asked)
        ended = await_end(control, status, timeout=timeout, cancel=cancel)
        if ended:
            control.forget_operation(asked.id)
        return ended
    except ControlError as failure:
        raise Failure(errors.control_failure(failure)) from failure


def await_end(
    control: ControlDirectory, status: Status, *, timeout: float, cancel: threading.Event | None = None
) -> bool:
    """Waits until this application is gone; False if cancelled before that. Raises ``Failure`` and
    ``ControlError``.
    """
    deadline, cancel = time.monotonic() + timeout, cancel or threading.Event()
    while not cancel.is_set():
        now = control.read_status()
        if now is None or now.application.id != status.application.id or liveness(now) is Liveness.GONE:
            return True
        if time.monotonic() > deadline:
            raise Failure(errors.does_not_answer_end(status.application.host, timeout))
        cancel.wait(control.rhythm.poll)
    return False


def _terminate(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGTERM)
    except ProcessLookupError:
        pass  # it ended by itself just now
    except PermissionError:
        raise Failure(errors.not_ours(pid)) from None


def _gone(control: ControlDirectory, status: Status | None) -> Diagnostic:
    """The error for an application that ended before it answered. The output of one that others run is not
    here: a file of that name is an older one's.
    """
    desired = control.read_desired()
    if desired is not None and desired.application.supervised:
        ended = status is not None and status.application.phase == "ended"
        reason = _reason(control, status) if ended else "Its process is gone."
        return errors.gone_under_supervision(reason, control.place)
    return errors.gone_while_waiting(_reason(control, status), control.driver_output)


def _reason(control: ControlDirectory, status: Status | None) -> str:
    if status is not None and status.application.phase == "ended":
        return f"It ended: {status.application.reason}."
    here = status is None or is_here(status)
    return f"Its process is gone. {exit_reason(read_output(control, here=here))}"
