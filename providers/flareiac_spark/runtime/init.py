"""``flareiac init``: fetches the jars that a project needs, locks them, and has the class-data archive
made.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from flareiac.kernel.diagnostics import Diagnostic, Failure, Severity, warning
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark import codes
from flareiac_spark.runtime.archive import make_in_background
from flareiac_spark.runtime.coordinates import parse_coordinates
from flareiac_spark.runtime.jars import Jar, Progress, fetch_jars
from flareiac_spark.runtime.java import Java, find_java, found_javas, no_java, unused_home
from flareiac_spark.runtime.launch import require_pyspark
from flareiac_spark.runtime.lock_file import LOCK_FILE, read_lock, write_lock
from flareiac_spark.runtime.versions import DEFAULT, fit_of, installed_pyspark, misfits


@dataclass(frozen=True, slots=True, kw_only=True)
class InitReport:
    """The result of ``init``. ``archive_started``: the class-data archive is being made in the background.
    ``warnings``: the differences between the runtime of jobs and the set-up of this machine.
    """

    jars: tuple[Jar, ...]
    lock_file: Path
    lock_changed: bool
    archive_started: bool
    warnings: tuple[Diagnostic, ...] = ()


def init(
    project_root: Path,
    packages: Sequence[str],
    progress: Progress,
    *,
    environment: Mapping[str, str] = os.environ,
    archive: bool = True,
) -> InitReport:
    """Makes the jars of ``packages`` (Maven coordinates) usable for this project. Doing it again changes
    nothing. Raises ``Failure``.
    """
    coordinates = parse_coordinates(tuple(packages))
    if coordinates:
        complaints = misfits(require_pyspark(), packages)
        if complaints:
            raise Failure(*complaints)
    jars = fetch_jars(coordinates, progress, environment, locked=read_lock(project_root) or {})
    changed = write_lock(project_root, {jar.coordinate: jar.sha256 for jar in jars})
    majors = (fit_of(installed_pyspark() or "") or DEFAULT).java
    java = find_java(environment, majors=majors)
    # The order is that of every start: the archive is of no use in another one.
    started = (
        archive and java is not None and make_in_background(java, [jar.path for jar in jars], environment)
    )
    return InitReport(
        jars=jars,
        lock_file=project_root / LOCK_FILE,
        lock_changed=changed,
        archive_started=started,
        warnings=_warnings(environment, java, majors),
    )


def _warnings(
    environment: Mapping[str, str], java: Java | None, majors: tuple[int, ...]
) -> tuple[Diagnostic, ...]:
    if java is None:
        complaint = no_java(tuple(found_javas(environment)), majors)
        return (replace(complaint, severity=Severity.WARNING),)
    unused = unused_home(environment, java, majors)
    if unused is None:
        return ()
    detail = (
        f"The environment says {unused}. Jobs started from here run on Java {java.major} in {java.home} "
        "instead. Set JAVA_HOME to that folder, or unset it."
    )
    return (warning(codes.JAVA_HOME_UNUSED, detail),)
