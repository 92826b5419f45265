"""Runs a driver in the foreground, as a service unit does, with the Java and the jars that the project has
locked.

A driver that a command starts is given both; this one finds them itself, from what should run and the lock
file. Becomes the driver: never returns before it ends.
"""

import os
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.durable_files import make_directory
from flareiac.kernel.host import this_host
from flareiac_spark.application import errors
from flareiac_spark.application.launch import Launch, environment
from flareiac_spark.runtime.lock_file import LOCK_FILE
from flareiac_spark_runtime.control import ApplicationSettings, ControlDirectory, ControlError
from flareiac_spark_runtime.control.refused_start import RefusedStart
from flareiac_spark_runtime.start import run_driver

_LOOK_SECONDS: Final = 5.0
_LOGIN: Final = re.compile(r"://[^/\s@]+@")
"""A user and a password in the address of a server."""


def serve(location: str, root: Path, *, wait: bool = False) -> int:
    """Runs the driver of a control directory in this process; returns its exit code. Raises ``Failure``.

    ``wait``: until a first apply has written what should run. ``root``: where the command runs. The jars of
    an external driver are those that the project locked when it was applied; of any other, those of the lock
    file here, or of the project that wrote what should run.
    """
    control = ControlDirectory(location)
    try:
        desired = control.read_desired()
        while desired is None and wait:
            time.sleep(_LOOK_SECONDS)
            desired = control.read_desired()
    except ControlError as failure:
        raise Failure(errors.control_failure(failure)) from failure
    if desired is None:
        raise Failure(errors.no_control_directory(control.place, _control_directories(root)))

    def refused(reason: str) -> None:
        # Who waits for this driver sees no output of this host
        with suppress(ControlError):
            shown = _LOGIN.sub("://***@", reason)
            control.write_refused_start(RefusedStart(host=this_host().name, at=time.time(), reason=shown))

    try:
        launch = launch_of(desired.application, root)
    except Failure as failure:
        refused(failure.diagnostics[0].line)
        raise
    make_directory(control.scratch)
    os.environ.update(environment(control, launch))
    return run_driver(location, refused)


def launch_of(settings: ApplicationSettings, root: Path, *, long_lived: bool = True) -> Launch:
    """With what this machine starts an application. ``long_lived``: it runs queries, and does not only answer
    questions. Raises ``Failure``.
    """
    from flareiac_spark.runtime.launch import prepare

    project = root if (root / LOCK_FILE).is_file() or not settings.root else Path(settings.root)
    if settings.jars:
        # What the project that is applied locks, whatever lies in the folder where this one is started.
        missing = [package for package in settings.packages if package not in settings.jars]
        if missing:
            raise Failure(errors.not_locked(missing))
        runtime = prepare(project, settings.packages, long_lived=long_lived, locked=settings.jars)
    else:
        runtime = prepare(project, settings.packages, long_lived=long_lived)
    return Launch(
        java_home=runtime.java.home,
        jars=runtime.jars,
        java_options=runtime.java_options,
        master=settings.master,
        memory=settings.memory,
    )


def _control_directories(root: Path) -> list[str]:
    return sorted(
        str(path.parent.relative_to(root)) for path in root.glob(".flareiac/runtime/*/*/desired.json")
    )
