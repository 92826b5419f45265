"""The decision if the last stable definition of a job can be restored when a changed one does not become
stable. Reads checkpoints; changes nothing.

The old definition may only go on where the new one has left nothing behind that it could contradict: no
batch, no other folder, no other table. Everything that can be known before the change is decided before it,
so that the reason can be determined.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import Final, assert_never

from flareiac.kernel.data import Reference
from flareiac.kernel.diagnostics import Diagnostic, Failure, warning
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.lakehouse_views import TableView
from flareiac.sdk.project import Project
from flareiac.sdk.requests import ChangeRequest
from flareiac.sdk.results import Recorded
from flareiac_spark import codes
from flareiac_spark.checkpoint_files.reader import read_checkpoint
from flareiac_spark.column_types import table_columns
from flareiac_spark.definition.build import digest_of, spec_of
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.job_identity import recorded_identity
from flareiac_spark_runtime.checkpoint_log import Damaged
from flareiac_spark_runtime.control import (
    ControlError,
    DesiredJob,
    FilesInput,
    JobSpec,
    StreamInput,
    TableInput,
    job_spec_from_json,
    job_spec_to_json,
)
from flareiac_spark_runtime.sources.resolved import SpecColumn
from flareiac_spark_runtime.storage import place_at

_UNREADABLE: Final = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenBatch:
    """A batch in flight that an output has: what another definition makes of it would not reach that."""

    folder: str
    batch: int
    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fallback:
    """The definition to put back. ``committed``: the newest batch of each query before the new definition
    starts, by folder; ``written``: the parts that its outputs have of the batches in flight.
    """

    entry: DesiredJob
    committed: Mapping[str, int | None] = field(default_factory=dict)
    written: tuple[WrittenBatch, ...] = ()


def is_asked_for(planned: JobDefinition) -> bool:
    """Returns True if a definition that does not become stable gives way to the one before."""
    return planned.stability.on_failure == "rollback"


def never(was: JobDefinition | None, planned: JobDefinition) -> str:
    """The reason that no failure of the new definition can bring the old one back; empty where one may.
    Pure.
    """
    if was is None:
        return "it is new, so that there is no definition before"
    if planned.is_finite or was.is_finite:
        return "the run before it has ended, so that there is nothing to go on with"
    if was.generation != planned.generation:
        return (
            f"generation {planned.generation} of its checkpoint has begun, and the old definition "
            "stands in the one before"
        )
    if was.checkpoint_location != planned.checkpoint_location:
        return "its checkpoint moved with it"
    if was.moves_to(planned):
        return "it moved to another application"
    if was.catalogs != planned.catalogs:
        return "the settings of its catalogs changed with it"
    return ""


def fallback(
    request: ChangeRequest, entry: DesiredJob | None, digest: str, project: Project
) -> DesiredJob | str:
    """The entry that would be put back in place of the definition of this digest, or the reason that none can
    be. ``entry`` is the desired one at the moment.
    """
    recorded = request.action.recorded
    was = JobDefinition.of(recorded.attributes) if recorded is not None else None
    why = never(was, JobDefinition.of(request.action.planned))
    if recorded is None or why:
        return why
    if entry is not None and entry.digest != recorded_identity(recorded).digest:
        return (
            "a definition that was not recorded has run since, and the recorded one would go on after "
            "its batches"
        )
    stable = _stable(request, recorded, entry, project)
    if stable is None:
        return "the definition that was stable last is no longer known as it ran"
    if stable.digest == digest:
        return "what runs is the same as before: only its surroundings changed"
    return next(_unfit(stable, request), None) or stable


def committed(spec: JobSpec) -> dict[str, int | None]:
    """The newest committed batch of each query, by the folder of its checkpoint."""
    batches: dict[str, int | None] = {}
    for folder in {output.checkpoint for output in spec.outputs if output.checkpoint is not None}:
        try:
            on_disk = read_checkpoint(place_at(folder))
        except Damaged:
            batches[folder] = _UNREADABLE
        else:
            batches[folder] = on_disk.committed if on_disk is not None else None
    return batches


def restored(address: str) -> Diagnostic:
    """Said when the old definition runs again."""
    return warning(
        codes.PREVIOUS_DEFINITION_RESTORED,
        f'{address} continues where its checkpoint stands (stability = {{ on_failure = "rollback" }}). The '
        "change is not recorded, so the next plan shows it again.",
        address=address,
    )


def not_restored(address: str, why: str) -> Diagnostic:
    """Said when the new definition is left as it is."""
    return warning(
        codes.PREVIOUS_DEFINITION_NOT_RESTORED,
        f'{address}: {why}. Nothing was rolled back (on_failure = "rollback"). The new definition stays '
        "set to run.",
        address=address,
    )


def _stable(
    request: ChangeRequest, recorded: Recorded, entry: DesiredJob | None, project: Project
) -> DesiredJob | None:
    """The recorded definition as it ran: from what should run, else made again if exactly that comes out."""
    state = "stopped" if JobDefinition.of(recorded.attributes).stopped else "running"
    if entry is not None and entry.digest == recorded_identity(recorded).digest:
        return replace(entry, state="stopped" if state == "stopped" else "running")
    try:
        spec = spec_of(request.address, recorded.attributes, request.references, project)
    except (Failure, KeyError):
        return None  # something that it refers to is no longer declared
    digest = digest_of(spec, recorded.attributes)
    if digest != recorded_identity(recorded).digest:
        return None
    return DesiredJob(
        digest=digest, spec=job_spec_to_json(spec), state="stopped" if state == "stopped" else "running"
    )


def _unfit(stable: DesiredJob, request: ChangeRequest) -> Iterator[str]:
    """The reasons that the tables as they are now are not those that the old definition ran on."""
    try:
        spec = job_spec_from_json(dict(stable.spec))
    except ControlError as failure:
        yield f"the definition before is not understood ({failure.why})"
        return
    tables = dict(_tables(request))
    for identifier, uuid, columns, writes in _uses(spec):
        name = ".".join(identifier)
        if identifier not in tables:
            yield f"the table {name} is no longer declared with it"
            continue
        now_uuid, now = tables[identifier]
        if uuid is not None and uuid != now_uuid:
            yield f"the table {name} was replaced"
        elif any(now.get(column.name) != (column.type, column.required) for column in columns):
            yield f"the columns of {name} changed in the same apply"
        elif writes and any(
            required and name not in {column.name for column in columns}
            for name, (_type, required) in now.items()
        ):
            yield f"{name} has a required column now that the definition before does not fill"


def _uses(spec: JobSpec) -> Iterator[tuple[tuple[str, ...], str | None, tuple[SpecColumn, ...], bool]]:
    for output in spec.table_outputs:
        yield output.identifier, output.uuid, output.columns, True
    for job_input in spec.inputs:
        match job_input:
            case StreamInput(source=source):
                if (table := source.table) is not None:
                    yield table.identifier, table.uuid, source.columns, False
            case TableInput():
                yield job_input.identifier, job_input.uuid, job_input.columns, False
            case FilesInput():
                pass
            case _:
                assert_never(job_input)


def _tables(
    request: ChangeRequest,
) -> Iterator[tuple[tuple[str, ...], tuple[str | None, dict[str, tuple[str, bool]]]]]:
    """Every table that the job refers to, as it is now: uuid and columns by identifier."""
    for address, reference in request.references.items():
        if reference.type != "table":
            continue
        columns = {
            column.name: (column.type, column.required)
            for column in table_columns(Reference(address), request.references)
        }
        table = TableView.of(reference, request.references)
        if table.identifier is not None:
            yield table.identifier, (table.uuid, columns)
