"""``flareiac init``: fetches the jars that a project needs, locks them, and has the class-data archive
made.
"""

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import field, replace
from pathlib import Path

from flareiac.kernel.diagnostics import Diagnostic, Failure, Severity, warning
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark import codes
from flareiac_spark.runtime.archive import make_in_background
from flareiac_spark.runtime.coordinates import Coordinate, parse_coordinates, version_of
from flareiac_spark.runtime.jars import Jar, Progress, fetch_jars
from flareiac_spark.runtime.java import Java, find_java, installed_javas, no_java, unused_home
from flareiac_spark.runtime.launch import require_pyspark
from flareiac_spark.runtime.lock_file import LOCK_FILE, read_lock, write_lock
from flareiac_spark.runtime.locked_versions import other_versions
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
    replaced: Mapping[str, str] = field(default_factory=dict)
    """The coordinates that were locked before in another version, by the new one."""
    behind: Mapping[str, str] = field(default_factory=dict)
    """FlareIaC's own choice, by the locked coordinate that is in another version."""

    def line_of(self, jar: Jar) -> str:
        """A line for people on one of the jars."""
        coordinate = str(jar.coordinate)
        before, newer = self.replaced.get(coordinate), self.behind.get(coordinate)
        notes = [
            *([f"was {version_of(before)}"] if before else []),
            *([f"locked; flareiac init -upgrade takes {version_of(newer)}"] if newer else []),
            *(["fetched"] if jar.fetched else []),
        ]
        return f"{coordinate} ({', '.join(notes)})" if notes else coordinate


def init(
    project_root: Path,
    packages_with: Callable[[Collection[Coordinate]], tuple[str, ...]],
    progress: Progress,
    *,
    upgrade: bool = False,
    environment: Mapping[str, str] = os.environ,
    archive: bool = True,
) -> InitReport:
    """Makes the jars that a project needs usable: ``packages_with`` gives their Maven coordinates where some
    are locked. With ``upgrade`` none is taken for locked. Doing it again changes nothing. Raises ``Failure``.
    """
    locked = read_lock(project_root) or {}
    newest = packages_with(())
    packages = newest if upgrade else packages_with(locked)
    coordinates = parse_coordinates(packages)
    if coordinates:
        complaints = misfits(require_pyspark(), packages)
        if complaints:
            raise Failure(*complaints)
    jars = fetch_jars(coordinates, progress, environment, locked=locked)
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
        replaced={new: old for old, new in other_versions(map(str, locked), packages).items()},
        behind=other_versions(packages, newest),
    )


def _warnings(
    environment: Mapping[str, str], java: Java | None, majors: tuple[int, ...]
) -> tuple[Diagnostic, ...]:
    if java is None:
        complaint = no_java(tuple(installed_javas(environment)), majors)
        return (replace(complaint, severity=Severity.WARNING),)
    unused = unused_home(environment, java, majors)
    if unused is None:
        return ()
    detail = (
        f"The environment says {unused}. Jobs started from here run on Java {java.major} in {java.home} "
        "instead. Set JAVA_HOME to that folder, or unset it."
    )
    return (warning(codes.JAVA_HOME_UNUSED, detail),)
