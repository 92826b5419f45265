"""Has ``spark-submit`` start a driver on a host of the cluster, and waits until it answers.

Whether the driver lives, its status and its lease alone tell: ``spark-submit`` is watched for the cause of a
failed start, and is ended when the driver answers.
"""

import hashlib
import importlib.util
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.durable_files import make_directory, replace_file, write_new
from flareiac_spark.application import errors
from flareiac_spark.application.exit_reason import exit_reason
from flareiac_spark.application.launch import Launch, dropped_variables, read_output
from flareiac_spark.application.liveness import Liveness, is_alive, liveness, why_unknown
from flareiac_spark.application.submission import SubmittedFiles, as_hadoop, submission
from flareiac_spark.runtime.driver_archive import DriverArchive, driver_archive
from flareiac_spark.runtime.jars import sha256_of
from flareiac_spark_runtime.control import ApplicationSettings, ControlDirectory, ControlError, Status
from flareiac_spark_runtime.control.spark_properties import write_properties
from flareiac_spark_runtime.masters import is_kubernetes
from flareiac_spark_runtime.storage import Place, replace_whole

_SECONDS: Final = 600.0
"""A cluster may have to start a machine and to fetch an image first."""
_CLASS_PATH: Final = "SPARK_DIST_CLASSPATH"
_PYTHONS: Final = ("PYSPARK_DRIVER_PYTHON",)
"""YARN's client hands it on, and this host's Python is not there."""


def ensure_submitted(
    control: ControlDirectory,
    settings: ApplicationSettings,
    launch: Launch,
    *,
    cancel: threading.Event,
    progress: Callable[[str], None],
    timeout: float = _SECONDS,
) -> Status | None:
    """Submits the application unless it runs, and waits until it takes work; None if cancelled. Raises
    ``Failure``.
    """
    try:
        control.prepare()
        before = control.read_status()
        match liveness(before):
            case Liveness.UNKNOWN if before is not None:
                raise Failure(errors.is_silent(why_unknown(before)))
            case Liveness.ALIVE:
                return _await(control, None, None, timeout, cancel)
            case _:
                progress(f"submitting the Spark application to {settings.master}")
                with _submitted(control, settings, launch) as process:
                    return _await(control, process, before, timeout, cancel)
    except ControlError as failure:
        raise Failure(errors.control_failure(failure)) from failure
    except OSError as failure:
        raise Failure(errors.not_startable(f"It could not be submitted: {failure}")) from failure


@contextmanager
def _submitted(
    control: ControlDirectory, settings: ApplicationSettings, launch: Launch
) -> "Iterator[subprocess.Popen[bytes]]":
    make_directory(control.scratch)
    make_directory(control.driver_output.parent)
    files = put_files(control, settings.master, driver_archive(), launch.jars)
    properties = control.scratch / f".submit-{os.getpid()}.properties"
    asked = submission(settings, files, str(control.place), properties, os.environ)
    home = spark_home()
    try:
        write_properties(properties, asked.properties)
        control.driver_output.unlink(missing_ok=True)
        write_new(control.driver_output, b"", durable=False)  # private, whatever the umask says
        with control.driver_output.open("wb") as output:
            process = subprocess.Popen(
                [str(home / "bin" / "spark-submit"), *asked.words],
                env=_environment(launch, home),
                cwd=control.scratch,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            yield process
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(30)
    finally:
        properties.unlink(missing_ok=True)


def put_files(
    control: ControlDirectory, master: str, archive: DriverArchive, jars: tuple[Path, ...]
) -> SubmittedFiles:
    """Kubernetes reads what is in storage, so that everything is put into the control directory, by digest.
    YARN's client takes files of this host to the cluster. Raises ``OSError``.
    """
    if not is_kubernetes(master):
        return _kept_here(control, archive, jars)
    code, folder = control.place / "code", control.place / "jars"
    digest = hashlib.sha256(archive.entry).hexdigest()
    return SubmittedFiles(
        entry=_put(code / f"{digest}.py", lambda: archive.entry),
        archive=_put(code / f"{archive.digest}.zip", lambda: archive.content),
        jars=tuple(_put(folder / sha256_of(jar) / jar.name, jar.read_bytes) for jar in jars),
    )


def _kept_here(control: ControlDirectory, archive: DriverArchive, jars: tuple[Path, ...]) -> SubmittedFiles:
    local = control.scratch / "submit"
    entry, modules = local / "flareiac_driver.py", local / f"{archive.digest}.zip"
    make_directory(local)
    replace_file(entry, archive.entry)
    replace_file(modules, archive.content)
    return SubmittedFiles(entry=str(entry), archive=str(modules), jars=tuple(map(str, jars)))


def _put(place: Place, content: Callable[[], bytes]) -> str:
    """Its URI as Hadoop spells it. What is there under a digest is not written again."""
    if not place.is_file():
        replace_whole(place, content())
    return as_hadoop(str(place))


def spark_home() -> Path:
    """The installed Spark. Raises ``OSError``."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("pyspark is not installed")
    return Path(spec.origin).parent


def _environment(launch: Launch, home: Path) -> dict[str, str]:
    """``SPARK_DIST_CLASSPATH``: with these jars, spark-submit itself reads what is in S3."""
    dropped = {*dropped_variables(), *_PYTHONS}
    variables = {key: value for key, value in os.environ.items() if key not in dropped}
    jars = os.pathsep.join(filter(None, [*map(str, launch.jars), variables.get(_CLASS_PATH)]))
    java = {"JAVA_HOME": str(launch.java_home)} if launch.java_home is not None else {}
    return {**variables, "SPARK_HOME": str(home), _CLASS_PATH: jars, **java}


def _await(
    control: ControlDirectory,
    process: "subprocess.Popen[bytes] | None",
    before: Status | None,
    timeout: float,
    cancel: threading.Event,
) -> Status | None:
    known, deadline = before.application.id if before is not None else "", time.monotonic() + timeout
    while not cancel.is_set():
        status = control.read_status()
        own = status if status is not None and status.application.id != known else None
        if own is not None and is_alive(own) and own.application.phase == "running":
            return own
        if own is not None and liveness(own) is Liveness.GONE:
            cause = own.application.reason or exit_reason(read_output(control))
            raise Failure(errors.ended_while_starting(cause, control.driver_output))
        if own is None and process is not None and process.poll():
            cause = exit_reason(read_output(control))
            raise Failure(errors.not_submitted(cause, process.returncode, control.driver_output))
        if time.monotonic() > deadline:
            phase = "is starting" if own is not None else "has not answered"
            raise Failure(errors.not_ready(timeout, phase, control.driver_output))
        cancel.wait(control.rhythm.poll)
    return None
