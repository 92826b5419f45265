"""Starts an application as a detached process that outlives the command line."""

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.durable_files import make_directory, write_new
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.application import errors
from flareiac_spark.application.exit_reason import exit_reason
from flareiac_spark.application.liveness import Liveness, liveness, why_unknown
from flareiac_spark_runtime.control import ControlDirectory, ControlError, ProcessIdentity, Status, is_running
from flareiac_spark_runtime.control.processes import start_of
from flareiac_spark_runtime.masters import is_local

_NEXT_BEATS = 3
"""So often a living driver would have spoken."""
_SPAWN = 'exec "$@" </dev/null >"$FLAREIAC_DRIVER_OUTPUT" 2>&1 & echo $!'
"""The shell ends at once and hands its child to the system, so that a driver that ends never stays behind as
a zombie of a command.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """The settings of a launch that belong to this machine and not to the desired state. ``jars`` go on the
    driver's class path in this order.
    """

    python: str = sys.executable
    java_home: Path | None = None
    jars: tuple[Path, ...] = ()
    java_options: tuple[str, ...] = ()
    master: str = "local[*]"
    memory: str | None = None


def ensure_running(
    control: ControlDirectory,
    launch: Launch,
    *,
    timeout: float = 180.0,
    cancel: threading.Event | None = None,
) -> Status | None:
    """Starts the application unless it runs, and waits until it takes work; None if cancelled. Raises
    ``Failure``.
    """
    deadline = time.monotonic() + timeout
    try:
        control.prepare()
        status = control.read_status()
        match _awaited_liveness(control, status, cancel or threading.Event()):
            case Liveness.UNKNOWN if status is not None:
                raise Failure(errors.is_silent(why_unknown(status)))
            case Liveness.ALIVE:
                process = None
            case _:
                process = _spawn(control, launch)
        return _wait_until_ready(control, process, deadline, timeout, cancel or threading.Event())
    except ControlError as failure:
        raise Failure(errors.control_failure(failure)) from failure


def _awaited_liveness(control: ControlDirectory, status: Status | None, cancel: threading.Event) -> Liveness:
    """The liveness of the application, after a wait for its next heartbeats if it was silent: a clock was
    set, or a machine woke up.
    """
    deadline = time.monotonic() + _NEXT_BEATS * control.rhythm.beat
    while (
        (lives := liveness(status)) is Liveness.UNKNOWN
        and time.monotonic() < deadline
        and not cancel.wait(control.rhythm.poll)
    ):
        status = control.read_status()
    return lives


def launch_conf(launch: Launch) -> dict[str, str]:
    """The machine's share of Spark's settings."""
    conf = {"spark.master": launch.master}
    if launch.jars:
        conf["spark.driver.extraClassPath"] = os.pathsep.join(map(str, launch.jars))
    if launch.jars and not is_local(launch.master):
        conf |= {"spark.jars": ",".join(map(str, launch.jars))}  # executors fetch them from the driver
    if launch.java_options:
        conf["spark.driver.extraJavaOptions"] = " ".join(map(_quoted, launch.java_options))
    if launch.memory is not None:
        conf["spark.driver.memory"] = launch.memory
    return conf


def driver_words(launch: Launch, location: str) -> tuple[str, ...]:
    """The words that start a driver on this host; it runs ``spark-submit`` itself, in client mode."""
    return launch.python, "-m", "flareiac_spark_runtime.driver", location


def _spawn(control: ControlDirectory, launch: Launch) -> ProcessIdentity:
    output = control.driver_output
    command = driver_words(launch, str(control.place))
    try:
        make_directory(output.parent)
        if output.exists():
            output.replace(output.with_name(f"{output.name}.1"))
        write_new(output, b"", durable=False)  # private, whatever the umask says
        shell = subprocess.run(
            ["/bin/sh", "-c", _SPAWN, "sh", *command],
            env=environment(control, launch),
            cwd=control.scratch,
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError) as failure:
        raise Failure(errors.not_startable(f"{launch.python} could not be started: {failure}")) from failure
    pid = int(shell.stdout)
    return ProcessIdentity(pid=pid, started=start_of(pid) or "")


def dropped_variables() -> tuple[str, ...]:
    """Variables of another Spark, which a process that is started here must not see."""
    return (
        "PYSPARK_GATEWAY_PORT",
        "PYSPARK_GATEWAY_SECRET",
        "PYSPARK_SUBMIT_ARGS",
        "SPARK_HOME",
        "SPARK_CONF_DIR",
    )


def environment(control: ControlDirectory, launch: Launch) -> dict[str, str]:
    """The environment variables of a driver's process."""
    variables = {key: value for key, value in os.environ.items() if key not in dropped_variables()}
    variables |= {
        "FLAREIAC_DRIVER_OUTPUT": str(control.driver_output),
        "FLAREIAC_LAUNCH_CONF": json.dumps(launch_conf(launch)),
        "PYSPARK_DRIVER_PYTHON": launch.python,
        "PYTHONUNBUFFERED": "1",
    }
    if is_local(launch.master):
        variables |= {"PYSPARK_PYTHON": launch.python, "SPARK_LOCAL_IP": "127.0.0.1"}
    else:
        variables.setdefault("PYSPARK_PYTHON", "python3")  # of each worker, as spark-submit has it
    if launch.java_home is not None:
        variables["JAVA_HOME"] = str(launch.java_home)
    return variables


def _wait_until_ready(
    control: ControlDirectory,
    process: ProcessIdentity | None,
    deadline: float,
    timeout: float,
    cancel: threading.Event,
) -> Status | None:
    while not cancel.is_set():
        status = control.read_status()
        lives = liveness(status)
        if status is not None and lives is Liveness.ALIVE and status.application.phase == "running":
            return status
        # Two commands may start one application at a time: the loser's process ends and the winner's is
        # waited for.
        if lives is Liveness.GONE and (process is None or not is_running(process)):
            raise Failure(errors.ended_while_starting(_why(control, status, process), control.driver_output))
        if time.monotonic() > deadline:
            phase = "is starting" if status is not None and lives is not Liveness.GONE else "has not answered"
            raise Failure(errors.not_ready(timeout, phase, control.driver_output))
        cancel.wait(control.rhythm.poll)
    return None


def _why(control: ControlDirectory, status: Status | None, process: ProcessIdentity | None) -> str:
    said = read_output(control)
    cause = exit_reason(said)
    own = status is not None and process is not None and status.application.pid == process.pid
    reason = status.application.reason if status is not None and own else ""
    return cause if cause != "It said nothing." or not reason else reason


def read_output(control: ControlDirectory, *, here: bool = True) -> str:
    """The output that the driver printed on this host or on another one, the end of it if it is long."""
    if not here:
        with suppress(ControlError):
            return control.read_driver_output().decode(errors="replace")
        return ""
    with suppress(OSError), control.driver_output.open("rb") as file:
        file.seek(max(0, control.driver_output.stat().st_size - 200_000))
        return file.read().decode(errors="replace")
    return ""


def _quoted(option: str) -> str:
    if not any(letter in option for letter in " \"'"):
        return option
    escaped = option.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
