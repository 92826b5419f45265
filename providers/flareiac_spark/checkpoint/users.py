"""Finds the applications that know a query in a checkpoint, by what they were asked to run and what they
report. Reads control directories.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac_spark.application import Liveness, is_elsewhere_and_silent, liveness, silence
from flareiac_spark.application.liveness import is_here
from flareiac_spark.control import ControlDirectory, ControlError, Desired, Status, job_spec_from_json
from flareiac_spark.engine.application import read_desired, read_status
from flareiac_spark.engine.engine_definition import EngineDefinition, control_place
from flareiac_spark.masters import is_local
from flareiac_spark.observation.checkpoint import CheckpointUser
from flareiac_spark.storage import ObjectPath, Place

_ENDED = ("stopped", "completed", "failed")


def control_places(declared: References, project: Project) -> tuple[str, ...]:
    """The control directories of the declared engines."""
    engines = (item for item in declared.values() if item.type == "engine")
    places = (control_place(EngineDefinition.of(item.attributes), project) for item in engines)
    return tuple(dict.fromkeys(places))


def users_of(checkpoint: Place, controls: Iterable[str]) -> tuple[CheckpointUser, ...]:
    """The jobs with a query in this checkpoint, of the applications with these control directories. Raises
    ``Failure``.
    """
    found: list[CheckpointUser] = []
    for place in controls:
        control = ControlDirectory(place)
        desired = read_desired(control)
        if desired is not None and (jobs := list(_jobs_in(checkpoint, desired))):
            status = read_status(control)
            found += [_user(name, place, desired, status) for name in jobs]
    return tuple(found)


def _jobs_in(checkpoint: Place, desired: Desired) -> Iterator[str]:
    for name, job in desired.jobs.items():
        try:
            spec = job_spec_from_json(dict(job.spec))
        except ControlError:
            # Of another release: whatever names the folder may use it
            if f"{checkpoint}/" in str(job.spec):
                yield name
            continue
        if any(_is_in(output.checkpoint, checkpoint) for output in spec.outputs if output.checkpoint):
            yield name


def _is_in(folder: str, checkpoint: Place) -> bool:
    return f"{folder}/".startswith(f"{checkpoint}/")


def _user(name: str, control: str, desired: Desired, status: Status | None) -> CheckpointUser:
    said = status.jobs.get(name) if status is not None else None
    gone = liveness(status) is Liveness.GONE
    wanted = desired.jobs[name].state == "running"
    return CheckpointUser(
        job=name,
        control=control,
        may_run=not gone and (wanted or (said is not None and said.phase not in _ENDED)),
        starts=wanted,
        silent="" if is_elsewhere_and_silent(status) else silence(status),
        host=status.application.host if status is not None and not gone and not is_here(status) else "",
        cluster="" if is_local(desired.application.master) else desired.application.master,
    )


def is_on_the_disk_of(place: Place, other: Place) -> bool:
    """Returns True where two local places are on one file system: who sees one of them sees the other."""
    if isinstance(place, ObjectPath) or isinstance(other, ObjectPath):
        return False
    return _there(Path(str(place))).stat().st_dev == _there(Path(str(other))).stat().st_dev


def _there(path: Path) -> Path:
    """The folder itself, or the nearest one above it that exists."""
    return next(folder for folder in (path, *path.parents) if folder.exists())
