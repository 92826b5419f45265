"""Finds the applications that know a query in a checkpoint, by what they were asked to run and what they
report. Reads control directories.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from flareiac.kernel.data import Data
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac_spark.application import Liveness, is_elsewhere_and_silent, liveness, silence
from flareiac_spark.application.liveness import is_here
from flareiac_spark.checkpoint.move import is_inside, is_same_place
from flareiac_spark.engine.application import read_desired, read_status
from flareiac_spark.engine.engine_definition import EngineDefinition, control_place
from flareiac_spark.observation.checkpoint import CheckpointUser
from flareiac_spark_runtime.control import ControlDirectory, ControlError, Desired, Status, job_spec_from_json
from flareiac_spark_runtime.masters import is_local
from flareiac_spark_runtime.storage import ObjectPath, Place, is_object_uri, place_at

_ENDED = ("stopped", "completed", "failed")


def control_places(declared: References, project: Project) -> tuple[str, ...]:
    """The control directories of the declared engines."""
    engines = (resolved for resolved in declared.values() if resolved.type == "engine")
    places = (control_place(EngineDefinition.of(engine.attributes), project) for engine in engines)
    return tuple(dict.fromkeys(places))


def users_of(checkpoint: Place, controls: Iterable[str]) -> tuple[CheckpointUser, ...]:
    """The jobs with a query in this checkpoint, of the applications with these control directories. Raises
    ``Failure``.
    """
    checkpoint_users: list[CheckpointUser] = []
    for place in controls:
        control = ControlDirectory(place)
        desired = read_desired(control)
        if desired is not None and (jobs := list(_jobs_in(checkpoint, desired))):
            status = read_status(control)
            checkpoint_users += [_user(name, place, desired, status) for name in jobs]
    return tuple(checkpoint_users)


def _jobs_in(checkpoint: Place, desired: Desired) -> Iterator[str]:
    for name, job in desired.jobs.items():
        try:
            spec = job_spec_from_json(dict(job.spec))
        except ControlError:
            # Of another release: whatever names the folder may use it
            folders = list(_places_in(job.spec))
        else:
            folders = [output.checkpoint for output in spec.outputs if output.checkpoint]
        if any(_is_in(place_at(folder), checkpoint) for folder in folders):
            yield name


def _is_in(folder: Place, checkpoint: Place) -> bool:
    return is_same_place(folder, checkpoint) or is_inside(folder, checkpoint)


def _places_in(value: Data) -> Iterator[str]:
    """The texts within data that name a folder."""
    match value:
        case str():
            if value.startswith("/") or is_object_uri(value):
                yield value
        case list():
            for part in value:
                yield from _places_in(part)
        case Mapping():
            for part in value.values():
                yield from _places_in(part)
        case _:
            pass


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
