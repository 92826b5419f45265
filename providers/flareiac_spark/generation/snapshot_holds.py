"""The snapshots of tables that a job still needs. Pure: the observation carries everything that was read.

A stream of a table goes on at the snapshot that its last committed batch ended with, and that one has to be
there. A batch that was begun and is not committed may be in its tables already: its mark, and the way from
the newest snapshot back to it, tell that it is not to be written again; until it commits, its files belong to
no snapshot. With all batches committed a writer holds nothing.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

from flareiac.kernel.data import Attributes, Reference
from flareiac.sdk.changes import Effect, Step
from flareiac.sdk.maintenance import Hold
from flareiac.sdk.references import References
from flareiac.sdk.requests import PlanRequest
from flareiac_spark.checkpoint_files.query_positions import QueryPositions
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.streamed_tables import streamed_tables
from flareiac_spark.generation.snapshot_positions import Ambiguous, Now, Since, Snapshots, Start, positions
from flareiac_spark.observation.job import JobFacts
from flareiac_spark_runtime.control import ALL

_BEGUN = ("starting", "running")


def holds(address: str, attributes: Attributes, references: References, facts: object) -> tuple[Hold, ...]:
    """The holds of a recorded job as observed. Where nothing could be observed, it holds an unknown part of
    each table that it streams.
    """
    del references
    release = released(address, attributes)
    return tuple(
        replace(hold, release=release) for hold in _all(address, JobDefinition.of(attributes), facts)
    )


def kept_by(attributes: Attributes) -> str | None:
    """The checkpoint of a job, which holds on for it: a job with the same block can go on from there at any
    time.
    """
    reference = attributes.get("checkpoint")
    return (
        reference.address if isinstance(reference, Reference) and attributes.get("mode") != "batch" else None
    )


def released(address: str, attributes: Attributes) -> str:
    """The instructions for someone who does not want a job to go on."""
    checkpoint = kept_by(attributes)
    beside = f" and that of {checkpoint}, which would keep those snapshots for it" if checkpoint else ""
    return f"start {address} again; if it is never to go on from there, remove its block{beside}"


def held_after(request: PlanRequest) -> tuple[Step, ...]:
    """The step for the snapshots that a removed job would need to go on: they stay as long as its checkpoint
    does.
    """
    recorded = request.recorded.attributes if request.recorded else {}
    checkpoint = kept_by(recorded) if recorded else None
    tables = needed_tables(recorded) if checkpoint is not None else ()
    if checkpoint is None or not tables:
        return ()
    names = " and ".join(tables)
    if checkpoint not in request.references:
        return (no_longer_held(names, request.address, f"{checkpoint} leaves the state too"),)
    text = f"keeps the snapshots of {names} that it would need to resume, until {checkpoint} is removed"
    why = (
        "so that the job can go on when its block is put back; remove the block of its checkpoint too to "
        "let them go"
    )
    return (Step(text=text, effect=Effect.RECORDED, why=why),)


def needed_tables(attributes: Attributes) -> tuple[str, ...]:
    """The tables whose snapshots a job looks for when it goes on: those it streams, and those it writes."""
    job = JobDefinition.of(attributes)
    return tuple(
        dict.fromkeys(
            [*(streamed_table.table for streamed_table in streamed_tables(job)), *_tables(job, ALL)]
        )
    )


def no_longer_held(tables: str, user: str, why: str) -> Step:
    """The step of a plan after which nothing holds the snapshots any more."""
    text = (
        f"from now on {tables} may expire what {user} needs to go on: put back later, it could not go "
        "on where it stands"
    )
    return Step(text=text, effect=Effect.IRREVERSIBLE, why=why)


def _all(address: str, job: JobDefinition, facts: object) -> tuple[Hold, ...]:
    if not isinstance(facts, JobFacts):
        return tuple(_unknown(address, job))
    if job.mode == "batch":
        return tuple(_of_run(address, job, facts))
    all_holds: list[Hold] = []
    for name in job.query_names:
        all_holds.extend(_read(address, job, name, facts))
        all_holds.extend(_written(address, job, name, facts.stands.get(name)))
    return tuple(all_holds)


def _unknown(address: str, job: JobDefinition) -> Iterator[Hold]:
    read = [] if job.mode == "batch" else [streamed_table.table for streamed_table in streamed_tables(job)]
    for table in dict.fromkeys([*read, *_tables(job, ALL)]):
        reason = "where it stands was not looked at, or cannot be read"
        yield Hold(subject=table, holder=address, reason=reason, unknown=True)


def _tables(job: JobDefinition, query: str) -> list[str]:
    """The tables that a query writes."""
    return [
        output.table.address
        for name, output in job.table_outputs.items()
        if query == ALL or query == job.query_of(name)
    ]


# Readers


def _read(address: str, job: JobDefinition, query: str, facts: JobFacts) -> Iterator[Hold]:
    stand = facts.stands.get(query) or QueryPositions()
    whose = "" if query == ALL or len(job.query_names) == 1 else f"output {query}: "
    moved = facts.heard_ms if facts.alive and facts.phase == "idle" else stand.moved_ms
    for streamed_table, position in positions(job, query, stand):
        hold = Hold(subject=streamed_table.table, holder=address, reason=whose, moved_ms=moved)
        match position:
            case Ambiguous():
                why = (
                    f"{whose}it reads several tables, and its query does not tell which position belongs "
                    "to which"
                )
                yield replace(hold, reason=why, unknown=True)
            case Snapshots(ids=ids, first=first):
                after = (
                    "where it begins" if stand.committed is None else f"where batch {stand.committed} ended"
                )
                rest = (
                    "; a run that reads all there is looks for the snapshot at which the first one began"
                    if first
                    else ""
                )
                yield replace(hold, reason=f"{whose}its stream goes on {after}{rest}", snapshots=ids)
            case Since(at_ms=at_ms):
                yield replace(
                    hold,
                    reason=f"{whose}it has not read anything yet, and begins at a moment",
                    since_ms=at_ms,
                )
            case Start():
                why = (
                    f"{whose}it has not read anything yet, and begins with the oldest snapshot: what "
                    "expires it would never read"
                )
                yield replace(hold, reason=why, unknown=True)
            case Now():
                pass
            case _:
                assert_never(position)


# Writers


def _written(address: str, job: JobDefinition, query: str, stand: QueryPositions | None) -> Iterator[Hold]:
    if stand is None or stand.in_flight is None:
        return
    for table in dict.fromkeys(_tables(job, query)):
        reason = f"batch {stand.in_flight} was begun and is not committed"
        yield Hold(
            subject=table,
            holder=address,
            reason=reason,
            since_ms=stand.begun_ms,
            moved_ms=stand.moved_ms,
            unknown=stand.begun_ms is None,
        )


def _of_run(address: str, job: JobDefinition, facts: JobFacts) -> Iterator[Hold]:
    """A run that has not ended: done again after a crash, it looks for the mark of the first attempt."""
    if facts.state != "running" or facts.phase in ("completed", "failed"):
        return
    since = facts.since_ms if facts.phase in _BEGUN and facts.failures == 0 else None
    for table in dict.fromkeys(_tables(job, ALL)):
        yield Hold(
            subject=table,
            holder=address,
            reason="its run has not ended",
            since_ms=since,
            unknown=since is None,
        )
