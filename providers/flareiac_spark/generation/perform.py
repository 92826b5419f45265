"""Carries out how a generation begins, stage by stage: finishes the batch in flight of the old definition,
empties what is written again, prepares the folders.

The old query has stopped by then, and the new one is not yet among what should run: only that makes a
prepared folder the one in use. Each stage finds what it has done before, and completes it.
"""

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.kill_points import reach
from flareiac.kernel.records import encode
from flareiac_spark import codes
from flareiac_spark.checkpoint_files.generations import damage
from flareiac_spark.checkpoint_files.reader import note_of
from flareiac_spark.definition.job_identity import EmptiedTable
from flareiac_spark.generation.carry_over import Copied, Positions
from flareiac_spark.generation.checkpoint_state import QueryState
from flareiac_spark.generation.decide import Beginning
from flareiac_spark.generation.operation_client import A_BATCH, A_WHILE, OperationClient
from flareiac_spark.generation.prepare import (
    LastBatch,
    StartPositions,
    positions_at,
    prepare_folder,
    times_at,
)
from flareiac_spark.generation.query_streams import query_streams
from flareiac_spark.generation.switch import GenerationSwitch
from flareiac_spark.generation.targets import noted_starts, streamed_tables, target
from flareiac_spark.start_from import CARRY_OVER, EARLIEST, LATEST, OLDEST_SNAPSHOT
from flareiac_spark_runtime.checkpoint_log import Damaged
from flareiac_spark_runtime.control import (
    ControlError,
    Finish,
    JobSpec,
    Marks,
    Output,
    TableOutput,
    Truncate,
    Truncated,
    job_spec_to_json,
    tables_among,
)
from flareiac_spark_runtime.control.atomic_files import write_json
from flareiac_spark_runtime.control.timestamps import start_timestamp
from flareiac_spark_runtime.storage import Place

_WORDS: Final = {
    EARLIEST: "the beginning",
    OLDEST_SNAPSHOT: "the oldest snapshot that is left",
    LATEST: "what comes from now on",
}


# Where the old generation ends


def finish(switch: GenerationSwitch, beginnings: Iterable[Beginning], client: OperationClient) -> Data:
    """The batch at which each query ended, by the query's name, for ``ended``. A batch that only some outputs
    have is finished by the definition that began it. Raises ``Failure``.
    """
    return {
        beginning.query.name: last.batch
        for beginning in beginnings
        if (last := _last_batch(switch, beginning, client, finishes=True)) is not None
    }


def ended(
    switch: GenerationSwitch, beginnings: Iterable[Beginning], note: Data, client: OperationClient
) -> dict[str, LastBatch | None]:
    """The last batch of each query, None where no query has begun: as ``finish`` noted it, else by the marks
    in the tables. Raises ``Failure``.
    """
    if isinstance(note, Mapping):
        return {
            beginning.query.name: _at_batch(beginning.query, note.get(beginning.query.name))
            for beginning in beginnings
        }
    return {
        beginning.query.name: _last_batch(switch, beginning, client, finishes=False)
        for beginning in beginnings
    }


def _last_batch(
    switch: GenerationSwitch, beginning: Beginning, client: OperationClient, *, finishes: bool
) -> LastBatch | None:
    """The last batch whose rows are everywhere. None: nothing came before."""
    query, batch = beginning.query, beginning.settles
    checkpoint = query.last.checkpoint if query.last is not None else None
    known = _at_batch(query, checkpoint.started if checkpoint is not None else None)
    if known is None or batch is None:
        return known
    assert switch.old is not None, "a batch in flight was begun by an old definition"
    wrote = marked(client, known.query_id, batch, query.old_outputs, switch.old)
    if not wrote:
        return replace(known, batch=batch - 1 if batch > 0 else None)
    if len(wrote) < len(query.old_outputs):
        if not finishes:
            raise Failure(not_planned(switch.address, f"batch {batch} is in {', '.join(wrote)} only"))
        finish_batch(
            client, switch.old, query.old_outputs, batch, f"{', '.join(wrote)} has it, and others have not"
        )
    return known


def _at_batch(query: QueryState, batch: int | None) -> LastBatch | None:
    """A batch of the query before. None: nothing came before."""
    if query.last is None:
        return None
    checkpoint = query.last.checkpoint
    return LastBatch(
        folder=query.last.folder, query_id=checkpoint.query_id if checkpoint is not None else "", batch=batch
    )


def marked(
    client: OperationClient, query_id: str, batch: int, outputs: tuple[Output, ...], spec: JobSpec
) -> tuple[str, ...]:
    """The tables that have a batch, by their marks, as outputs; what topics have of it carries none. Raises
    ``Failure``.
    """
    targets = tuple(target(output, spec) for output in tables_among(outputs))
    if not targets:
        return ()
    return client.ask(Marks(query_id=query_id, batch=batch, targets=targets), A_WHILE).marked


def finish_batch(
    client: OperationClient, old: JobSpec, outputs: tuple[Output, ...], batch: int, why: str
) -> None:
    """The definition that began a batch does the rest of it. Raises ``Failure``."""
    client.tell(f"finishing batch {batch}: {why}")
    reach("finish.within")
    work = Finish(
        spec=job_spec_to_json(replace(old, outputs=outputs)),
        checkpoint=str(outputs[0].checkpoint),
        batch=batch,
    )
    client.ask(work, A_BATCH)


# Emptying


def empty(
    switch: GenerationSwitch, query: QueryState, output: TableOutput, client: OperationClient
) -> EmptiedTable:
    """Takes the rows out of the place of one output, once for a generation, and notes it beside the folder.
    Returns what is recorded of it. Raises ``Failure``.
    """
    origin = (
        query.last.checkpoint.query_id if query.last is not None and query.last.checkpoint is not None else ""
    )
    work = Truncate(
        target=target(output, switch.new),
        mark=f"{origin or f'{switch.by}/{output.name}'}/g{switch.number:04d}",
        asked=time.time(),
    )
    client.tell(f"emptying {'.'.join(output.identifier)}")
    truncated = client.ask(work, A_WHILE).truncated or Truncated(snapshot_id=None)
    reach("empty.within")
    table = switch.after.table_outputs[output.name].table
    emptied = EmptiedTable(
        table=table.address,
        branch=output.branch,
        snapshot_id=truncated.snapshot_id,
        generation=switch.number,
        generation_before=switch.number_before,
        at=int(time.time()),
    )
    _note(switch, query, {**query.emptied, output.name: emptied})
    return emptied


def _note(switch: GenerationSwitch, query: QueryState, emptied: Mapping[str, EmptiedTable]) -> None:
    """At once: an apply that is given up here leaves an empty table, and nothing else would tell."""
    seeded = {"by": switch.by, "rebuilds": _of_query(query, emptied)}
    try:
        write_json(note_of(query.folder), {"times": {}, "seeded": seeded})
    except (OSError, ControlError) as failure:
        raise Failure(_not_prepared(switch.address, query.folder, failure)) from failure


def _of_query(query: QueryState, emptied: Mapping[str, EmptiedTable]) -> dict[str, Attributes]:
    """The emptied tables of the outputs of a query, as they are noted."""
    return {output.name: encode(emptied[output.name]) for output in query.outputs if output.name in emptied}


def emptied_text(emptied_table: EmptiedTable) -> str:
    """The table that was emptied, with the command that undoes it."""
    where = emptied_table.table + (f" (branch {emptied_table.branch})" if emptied_table.branch else "")
    if emptied_table.snapshot_id is None:
        return f"{where} was empty already"
    undo = f"; to undo: flareiac table rollback {emptied_table.table}" if emptied_table.branch is None else ""
    return f"emptied {where}, which was at snapshot {emptied_table.snapshot_id}{undo}"


# Preparing


def prepare(switch: GenerationSwitch, beginning: Beginning, last: LastBatch | None) -> str:
    """Prepares the folder of one query, and says where it begins. Raises ``Failure``."""
    query = beginning.query
    missing = [output for output in beginning.empties if _is_full(switch, query, output)]
    if missing:
        raise Failure(not_planned(switch.address, f"{'.'.join(missing[0].identifier)} is not emptied yet"))
    try:
        start, message = _start(switch, beginning, last)
        prepare_folder(
            query.folder, replace(start, noted={**start.noted, "rebuilds": _of_query(query, query.emptied)})
        )
    except Damaged as failure:
        raise Failure(damage(switch.address, failure)) from None
    except (OSError, ControlError) as failure:
        raise Failure(_not_prepared(switch.address, query.folder, failure)) from failure
    return message


def _is_full(switch: GenerationSwitch, query: QueryState, output: TableOutput) -> bool:
    return output.name not in query.emptied or query.emptied[output.name].generation != switch.number


def _start(
    switch: GenerationSwitch, beginning: Beginning, last: LastBatch | None
) -> tuple[StartPositions, str]:
    start, where = switch.start_from, f"generation {switch.number}"
    known: dict[str, Data] = {"start_from": start, "generation": switch.number}
    tables = streamed_tables(switch.new)
    if start != CARRY_OVER:
        times = noted_starts(switch.new, start, start_timestamp(start, now=time.time()))
        words = _WORDS.get(start, start)
        return StartPositions(by=switch.by, times=times, noted=known), f"{where} starts from {words}"
    if last is None:
        times = {name: start_timestamp(source.start_from, now=time.time()) for name, source in tables.items()}
        text = f"{where} starts where its streams say: nothing had been read"
        return StartPositions(by=switch.by, times=times, noted=known), text
    known = {**known, "after": str(last.folder), "query_id": last.query_id, "batch": last.batch}
    match beginning.carried:
        case Copied() as carried:
            return _copied(switch, carried, last, known)
        case Positions() as carried:
            return _positions(switch, beginning.query, carried, last, known)
        case None:
            raise AssertionError("what is carried over was decided")


def _copied(
    switch: GenerationSwitch, carried: Copied, last: LastBatch, noted: Mapping[str, Data]
) -> tuple[StartPositions, str]:
    words = "starts where its streams say" if last.batch is None else f"goes on after batch {last.batch}"
    start = StartPositions(
        by=switch.by,
        after=last.folder,
        copied=last,
        alone=carried.alone,
        conf=switch.new.conf,
        times=_times(switch, {}, last),
        noted=noted,
    )
    return start, f"generation {switch.number} {words}"


def _positions(
    switch: GenerationSwitch,
    query: QueryState,
    carried: Positions,
    last: LastBatch,
    noted: Mapping[str, Data],
) -> tuple[StartPositions, str]:
    after = query_streams(switch.after, query.name).streams
    before = query_streams(switch.before or switch.after, query.name).streams
    assert after is not None, "an order that is not known was refused"
    assert before is not None, "an order that is not known was refused"
    reached = positions_at(last)
    positions = {
        to: offset
        for at, to in carried.pairs
        if at < len(reached)
        and (read := reached[at]) is not None
        and (offset := after[to].offsets.carried(read, after[to].place)) is not None
    }
    same = {after[to].name: before[at].name for at, to in carried.pairs}
    begun = {after[to].name for to in positions}
    times = {**_times(switch, same, last), **dict.fromkeys(begun)}
    words = (
        f"goes on after batch {last.batch}"
        if positions
        else "starts where its streams say: nothing had been read"
    )
    new = (
        f"; {', '.join(carried.new_streams)} starts where its stream says"
        if carried.new_streams and positions
        else ""
    )
    start = StartPositions(
        by=switch.by,
        after=last.folder,
        times=times,
        positions=positions,
        alone=carried.alone,
        noted=noted,
    )
    return start, f"generation {switch.number} {words}{new}"


def _times(switch: GenerationSwitch, same: Mapping[str, str], last: LastBatch) -> dict[str, int | None]:
    """A table that nothing was read of yet begins at the moment it was to begin at; a new one where its
    stream says.
    """
    known = times_at(last)
    now = time.time()
    times = {
        name: start_timestamp(source.start_from, now=now)
        for name, source in streamed_tables(switch.new).items()
    }
    for name in noted_starts(switch.new, CARRY_OVER, None):
        if (before := same.get(name, name)) in known:
            times[name] = known[before]
    return times


def not_planned(address: str, why: str) -> Diagnostic:
    """The world has moved since the plan was made, and more is to be done than it says."""
    detail = f"{address}: {why}, and the plan has no operation for it. Make a new plan and apply that."
    return error(codes.STAGE_NOT_PLANNED, detail, address=address)


def _not_prepared(address: str, folder: Place, failure: Exception) -> Diagnostic:
    """The disk refused."""
    why = (failure.strerror or str(failure)) if isinstance(failure, OSError) else str(failure)
    detail = (
        f"{folder}: {why}. The job is stopped, and no row was written twice. Make room or allow this "
        "user to write there, then apply again."
    )
    return error(codes.FOLDER_NOT_PREPARED, detail, address=address)
