"""The way in which each query of a job begins a generation, or the reason that it cannot. Pure: decides by
the declared job and by what was read of the checkpoint.
"""

from collections.abc import Iterator
from dataclasses import replace

from flareiac.kernel.diagnostics import Diagnostic, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.changes import Blocker, blocker
from flareiac_spark import codes
from flareiac_spark.checkpoint_files.folder_state import FolderState
from flareiac_spark.definition.job_identity import EmptiedTable
from flareiac_spark.generation import carry_over
from flareiac_spark.generation.carry_over import Copied, Positions, Refusal
from flareiac_spark.generation.carry_over_blockers import begins_at_no_time, cannot_carry_over, without_times
from flareiac_spark.generation.checkpoint_state import CheckpointState, QueryState
from flareiac_spark.generation.query_streams import query_streams
from flareiac_spark.generation.switch import GenerationSwitch
from flareiac_spark.generation.targets import streamed_tables
from flareiac_spark.instance_lines import line
from flareiac_spark.start_from import CARRY_OVER
from flareiac_spark_runtime.control import JobSpec, StreamInput, TableOutput, tables_among
from flareiac_spark_runtime.storage import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """The beginning of one query. ``carried``: the positions or logs that it takes over of the one before;
    None where it begins at ``start_from``. ``settles``: the batch of the old definition that is in flight,
    and must be in all of its outputs or in none. ``empties``: the tables that are emptied for it.
    """

    query: QueryState
    carried: Positions | Copied | None = None
    settles: int | None = None
    empties: tuple[TableOutput, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """``refusals``: why the generation cannot begin as asked; one for each query at most."""

    beginnings: tuple[Beginning, ...]
    refusals: tuple[Diagnostic, ...]


def decide(switch: GenerationSwitch, state: CheckpointState) -> Decision:
    """Decides the beginning of each query. Nothing begins where the generation is in use."""
    if state.in_use:
        mixed = state.keeps_state and switch.old is not None and _meaning(switch.old) != _meaning(switch.new)
        return Decision(beginnings=(), refusals=(_other_state(switch),) if mixed else ())
    decisions = [_decided(switch, query) for query in state.queries]
    return Decision(
        beginnings=tuple(decision for decision in decisions if isinstance(decision, Beginning)),
        refusals=tuple(decision for decision in decisions if isinstance(decision, Diagnostic)),
    )


def _decided(switch: GenerationSwitch, query: QueryState) -> Beginning | Diagnostic:
    refusal = next(_refusals(switch, query), None)
    if refusal is not None:
        return refusal
    carried = _carried(switch, query) if switch.start_from == CARRY_OVER else None
    if isinstance(carried, Refusal):
        return refused(switch.address, cannot_carry_over(switch.after, query.name, carried))
    return Beginning(
        query=query,
        carried=carried,
        settles=_in_flight(switch, query),
        empties=tuple(output for output in tables_among(query.outputs) if switch.empties(output)),
    )


def _refusals(switch: GenerationSwitch, query: QueryState) -> Iterator[Diagnostic]:
    if query.state not in (FolderState.ABSENT, FolderState.PREPARED):
        yield _in_the_way(switch.address, query.folder, query.state)
    if not switch.reads_from_the_start:
        for output in tables_among(query.outputs):
            if output.name in query.emptied and not switch.empties(output):
                yield _emptied_before(switch.address, query.emptied[output.name], switch.start_from)
    if switch.start_from != CARRY_OVER and not switch.reads_from_the_start:
        kinds = {
            job_input.source.kind for job_input in switch.new.inputs if isinstance(job_input, StreamInput)
        }
        if others := without_times(kinds):
            yield refused(switch.address, begins_at_no_time(switch.after, switch.start_from, others))


def _in_flight(switch: GenerationSwitch, query: QueryState) -> int | None:
    if (
        switch.reads_from_the_start
        or switch.old is None
        or query.last is None
        or query.last.checkpoint is None
    ):
        return None
    return query.last.checkpoint.in_flight


def _carried(switch: GenerationSwitch, query: QueryState) -> Positions | Copied | Refusal:
    before, after = switch.before, switch.after
    checkpoint = query.last.checkpoint if query.last is not None else None
    if checkpoint is not None and before is None:
        return Refusal(why="the job is new, and the query that ran there is not known")
    new = query_streams(after, query.name, _uuids(switch.new))
    old = (
        query_streams(before, query.name, _uuids(switch.old))
        if before is not None and query.old_outputs
        else new
    )
    if checkpoint is not None and checkpoint.started is not None:
        old = replace(old, stateful=bool(checkpoint.operators))  # the disk knows better than the text
    kinds = tuple(source.kind for source in checkpoint.sources) if checkpoint is not None else ()
    return carry_over.decide(old, new, kinds)


def _uuids(spec: JobSpec | None) -> dict[str, str | None]:
    return (
        {}
        if spec is None
        else {name: streamed_table.uuid for name, streamed_table in streamed_tables(spec).items()}
    )


def _meaning(spec: JobSpec) -> object:
    reads = [
        (job_input.name, job_input.watermark)
        for job_input in spec.inputs
        if isinstance(job_input, StreamInput)
    ]
    return (
        spec.steps,
        spec.code,
        reads,
        [(output.name, output.source, output.mode) for output in spec.outputs],
    )


def _other_state(switch: GenerationSwitch) -> Diagnostic:
    """An apply that failed may have begun the generation with another definition; its state is there."""
    why = (
        f"Generation {switch.number} was begun by an apply that was not recorded, and its state is there. "
        "This definition would continue from that state, and results would mix."
    )
    again = line(switch.after.checkpoint, "generation", switch.number + 1, switch.number)
    ways = (
        "write the definition again that began it",
        f"begin another one, in {switch.checkpoint}:\n  {again}",
    )
    return refused(switch.address, blocker(codes.GENERATION_OF_OTHER_DEFINITION, why, ways))


def refused(address: str, refusal: Blocker) -> Diagnostic:
    """The error for a start that a plan would have blocked."""
    ways = "".join(f"\n- {way}" for way in refusal.ways_out)
    return refusal.as_error(f"{refusal.why} Nothing was stopped or changed.{ways}", address=address)


def _emptied_before(address: str, lost: EmptiedTable, start: str) -> Diagnostic:
    """An earlier apply was given up after it had emptied a table."""
    to = f" -to={lost.snapshot_id}" if lost.snapshot_id is not None else ""
    detail = (
        f"An apply that did not finish emptied {lost.table} for generation {lost.generation}, and "
        f"start_from = {start} "
        "reads none of those rows again. Nothing was stopped or changed.\n- finish that apply: write its "
        "definition again"
        '\n- read all again: start_from = "earliest"\n- put the rows back (flareiac table rollback '
        f"{lost.table}{to}), delete the note "
        f"beside the folders of generation {lost.generation} (.g{lost.generation or 0:04d}.starts.json), "
        "and apply again"
    )
    return error(codes.EMPTIED_ROWS_LOST, detail, address=address)


def _in_the_way(address: str, folder: Place, state: FolderState) -> Diagnostic:
    """An unknown folder is never used."""
    what = (
        f"A query has run in {folder}"
        if state is FolderState.USED
        else f"{folder} has no note that says what it is"
    )
    detail = (
        f"{what}, and the state does not know it. Nothing was stopped or changed. Move it away, or "
        "raise the generation once more."
    )
    return error(codes.GENERATION_EXISTS, detail, address=address)
