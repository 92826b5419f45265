"""The checkpoint on disk of each query of a job that begins a generation, read once. Touches the disk and the
control directory, by reading only.
"""

from collections.abc import Mapping

from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import Mismatch, decode
from flareiac_spark.checkpoint_files.folder_state import FolderState, folder_state
from flareiac_spark.checkpoint_files.generations import damage
from flareiac_spark.checkpoint_files.reader import (
    CheckpointOnDisk,
    is_begun,
    preparation_note,
    read_checkpoint,
)
from flareiac_spark.definition.job_identity import EmptiedTable
from flareiac_spark.engine.application import Applications, read_desired
from flareiac_spark.generation.switch import GenerationSwitch
from flareiac_spark.generation.targets import folders
from flareiac_spark_runtime.checkpoint_log import Damaged
from flareiac_spark_runtime.control import JobSpec, Output
from flareiac_spark_runtime.storage import Place, place_at


@dataclass(frozen=True, slots=True, kw_only=True)
class LastQuery:
    """The query that another one goes on after: its folder, and its checkpoint there (None: no query has
    begun).
    """

    folder: Place
    checkpoint: CheckpointOnDisk | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryState:
    """One query of the new definition. ``last`` None: nothing came before it. ``emptied``: what was emptied
    for a generation in which no query has begun, by output, also by an apply that was given up.
    """

    name: str
    folder: Place
    state: FolderState
    outputs: tuple[Output, ...]
    old_outputs: tuple[Output, ...] = ()
    last: LastQuery | None = None
    emptied: Mapping[str, EmptiedTable]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointState:
    """``in_use``: an earlier apply has given the generation to the application. ``keeps_state``: a query that
    has begun in it keeps state. ``queries``: those that begin; none where it is in use, and none of a new job
    that takes a folder over as it stands.
    """

    in_use: bool
    keeps_state: bool = False
    queries: tuple[QueryState, ...] = ()


def read_state(switch: GenerationSwitch, applications: Applications) -> CheckpointState:
    """Raises ``Failure`` where a checkpoint is damaged."""
    try:
        if _is_in_use(switch, applications):
            return CheckpointState(in_use=True, keeps_state=_keeps_state(switch.new))
        return CheckpointState(in_use=False, queries=tuple(_queries(switch)))
    except Damaged as error:
        raise Failure(damage(switch.address, error)) from None


def emptied_for(spec: JobSpec) -> dict[str, EmptiedTable]:
    """The tables that were emptied for the generation of a definition, by output; they are noted beside the
    folders.
    """
    emptied_tables: dict[str, EmptiedTable] = {}
    for folder, _outputs in folders(spec).values():
        emptied_tables |= _emptied_in(folder)
    return emptied_tables


def _is_in_use(switch: GenerationSwitch, applications: Applications) -> bool:
    desired = read_desired(applications.control(switch.after.runs_in))
    entry = switch.job.entry_in(desired)
    outputs = entry.spec.get("outputs") if entry is not None else None
    given = (
        {output.get("checkpoint") for output in outputs if isinstance(output, dict)}
        if isinstance(outputs, list)
        else set()
    )
    return bool(given & {output.checkpoint for output in switch.new.outputs})


def _keeps_state(spec: JobSpec) -> bool:
    on_disk = (read_checkpoint(folder) for folder, _outputs in folders(spec).values())
    return any(
        checkpoint is not None and checkpoint.started is not None and checkpoint.operators
        for checkpoint in on_disk
    )


def _queries(switch: GenerationSwitch) -> list[QueryState]:
    before = folders(switch.old) if switch.old is not None else {}
    queries = []
    for name, (folder, outputs) in folders(switch.new).items():
        if switch.before is None and is_begun(folder):
            continue  # a new job takes it over as it stands
        old_folder, old_outputs = before.get(name, (None, ()))
        queries.append(
            QueryState(
                name=name,
                folder=folder,
                state=folder_state(folder, switch.by),
                outputs=outputs,
                old_outputs=old_outputs,
                last=_last(_begun_since(switch, folder) or old_folder),
                emptied=_emptied_since(switch, folder),
            )
        )
    return queries


def _begun_since(switch: GenerationSwitch, folder: Place) -> Place | None:
    """A newer generation than the recorded one in which a query has run for this checkpoint: of an apply that
    was forgotten.
    """
    for number in range(switch.number - 1, switch.number_before or 0, -1):
        older = folder.with_name(f"g{number:04d}")
        if is_begun(older) and (switch.before is None or _prepared_by(older) == switch.by):
            return older
    return None


def _prepared_by(folder: Place) -> object:
    return (preparation_note(folder) or {}).get("by")


def _last(newest: Place | None) -> LastQuery | None:
    """The folder that counts. One that was only prepared to go on after another stands for that one. Raises
    ``Damaged``.
    """
    folder = newest
    while folder is not None:
        checkpoint = read_checkpoint(folder)
        note = None if checkpoint is not None else preparation_note(folder)
        earlier = note.get("after") if note is not None else None
        if not isinstance(earlier, str):
            return LastQuery(folder=folder, checkpoint=checkpoint)
        folder = place_at(earlier)
        if note is not None and note.get("batch") is not None and not is_begun(folder):
            raise Damaged(
                folder,
                f"it is gone, and {newest} was prepared to go on after batch {note['batch']} of it",
            )
    return None


def _emptied_since(switch: GenerationSwitch, folder: Place) -> dict[str, EmptiedTable]:
    emptied_tables: dict[str, EmptiedTable] = {}
    for number in range((switch.number_before or 0) + 1, switch.number + 1):
        emptied_tables |= _emptied_in(folder.with_name(f"g{number:04d}"))
    return emptied_tables


def _emptied_in(folder: Place) -> dict[str, EmptiedTable]:
    try:
        noted = (preparation_note(folder) or {}).get("rebuilds")
        rebuilds = noted.items() if isinstance(noted, dict) else ()
        return {name: decode(EmptiedTable, emptied) for name, emptied in rebuilds}
    except (Damaged, Mismatch):
        return {}
