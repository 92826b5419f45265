"""The beginning of a new generation of a job's checkpoint, and the fate of the rows and folders that the old
one left. Pure.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, assert_never

from flareiac.sdk.changes import Blocker, Effect, Hit, Relation, Step, Usage, blocker
from flareiac.sdk.lakehouse import TableWriters, writers_of
from flareiac.sdk.references import References
from flareiac.sdk.requests import PlanRequest
from flareiac_spark import codes
from flareiac_spark.definition.checkpoint_definition import start_of
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.job_identity import recorded_identity
from flareiac_spark.definition.output_definition import KafkaOutput, TableOutput
from flareiac_spark.definition.queries import declares_state
from flareiac_spark.definition.stream_positions import read_in_order
from flareiac_spark.generation import broker_positions, readable
from flareiac_spark.generation.broker_positions import MissedRecords, Replaced
from flareiac_spark.generation.job_case import JobCase
from flareiac_spark.generation.readable import Missed, missed_text
from flareiac_spark.instance_lines import line
from flareiac_spark.observation.job import JobFacts, observed_facts
from flareiac_spark.sources.offsets import CarryOver
from flareiac_spark.start_from import CARRY_OVER, EARLIEST, LATEST, OLDEST_SNAPSHOT

_REWRITES: Final = ("complete", "overwrite")
"""Output modes whose next batch replaces everything that is there."""
_OPERATORS: Final = {
    "stateStoreSave": "the aggregation",
    "sessionWindowStateStoreSaveExec": "the aggregation of session windows",
    "dedupe": "the deduplication",
    "dedupeWithinWatermark": "the deduplication",
    "symmetricHashJoin": "the join of streams",
}
"""Stateful operators by their names in a checkpoint."""


def reads_again(start: str) -> bool:
    """Returns True if a generation reads what an earlier one has read."""
    return start not in (CARRY_OVER, LATEST)


def is_emptied(output: TableOutput, start_from: str) -> bool:
    """Returns True if the rows that an output has written are taken out before a generation starts from
    there.
    """
    return reads_again(start_from) and output.mode not in _REWRITES and output.rebuild == "truncate"


def begins(recorded: JobDefinition | None, planned: JobDefinition) -> bool:
    """Returns True if a definition takes a job to another generation of its checkpoint, or makes it in one
    that is not the first.
    """
    if planned.generation is None:
        return False
    before = on_same_checkpoint(recorded, planned)
    return planned.generation > 1 if before is None else planned.generation != before.generation


def has_begun(planned: JobDefinition, facts: JobFacts) -> bool:
    """Returns True if an apply that failed has begun the generation already: tables are emptied and folders
    are prepared once.
    """
    return planned.generation is not None and planned.generation == facts.given_generation


def on_same_checkpoint(recorded: JobDefinition | None, planned: JobDefinition) -> JobDefinition | None:
    """The definition that was recorded on the same checkpoint; on another one a job is new."""
    if recorded is None or recorded.generation is None:
        return None
    return recorded if recorded.checkpoint_location == planned.checkpoint_location else None


def carries_over(job: JobDefinition, recorded: JobDefinition | None = None) -> bool:
    """Returns True if offsets can be taken over: positions always, the log of one source where no state is
    kept.
    """
    rules = [stream.source.offsets.carry_over for stream in job.streams.values()]
    stateless = not declares_state(job) and (recorded is None or not declares_state(recorded))
    if rules == [CarryOver.LOG]:
        return stateless and (recorded is None or _reads(job) == _reads(recorded))
    several = [] if len(rules) == 1 else [_reads(each) for each in (job, recorded) if each is not None]
    repeats = any(len(set(names or ())) < len(names or ()) for each in several for names in each.values())
    return set(rules) == {CarryOver.POSITION} and not repeats


def _reads(job: JobDefinition) -> dict[str, list[str] | None]:
    """The streams that each query reads, once for each time."""
    return {job.query_of(name): read_in_order(job, name) for name in job.outputs}


def start_again(case: JobCase) -> tuple[str, bool, str]:
    """The way in which a new generation reads all that is left: ``start_from``, True if outputs can be
    emptied without losing rows, the way in words.
    """
    start, emptied, words = readable.start_again(case.desired, case.request.references)
    held = [*broker_positions.not_again(case), *broker_positions.missed(case.desired, case.facts)]
    if emptied and held:
        return start, False, f"{words} that can be read"
    return start, emptied, words


def lines(job: JobDefinition, start: str, number: int, *, rebuild: bool) -> str:
    """The lines to paste for a new generation after the one of that number."""
    place = job.checkpoint
    text = f"  {line(place, 'generation', number + 1, number)}\n  {line(place, 'start_from', start)}"
    outputs = [
        name
        for name, output in job.table_outputs.items()
        if rebuild and name in job.declared_outputs and output.mode not in _REWRITES
    ]
    return text + "".join(f'\nand in output "{name}":\n  rebuild = "truncate"' for name in outputs)


def _operator_words(name: str) -> str:
    """A stateful operator, in the words of the query that has it."""
    return _OPERATORS.get(name, f"the state of {name}")


def steps(case: JobCase) -> Iterator[Step]:
    """Beside the restart: where it begins, what is left behind, and what becomes of the rows that are
    there.
    """
    if has_begun(case.desired, case.facts):
        text = f"continues in generation {case.desired.generation}, which has begun"
        why = "an apply that failed did what its beginning takes: no table is emptied a second time"
        yield Step(text=text, effect=Effect.NEW_GENERATION, why=why)
        return
    start = start_of(case.desired, case.request.references)
    lost = readable.missed(case.desired, case.request.references)
    deleted = broker_positions.missed(case.desired, case.facts)
    other = broker_positions.not_again(case)
    if not (start == EARLIEST and _is_first(case)):  # the start itself says so
        yield _begins(start, case.desired, case.facts, lost, deleted)
    if case.facts.operators:
        names = " and ".join(dict.fromkeys(_operator_words(name) for name in case.facts.operators))
        again = start in (EARLIEST, OLDEST_SNAPSHOT)
        rebuilt = (
            "it is rebuilt from what is read again"
            if again
            else "windows and groups that are open are cut short"
        )
        yield Step(
            text=f"starts with {names} empty; the old state stays on disk",
            effect=Effect.NEW_GENERATION,
            why=rebuilt,
        )
    if reads_again(start):
        yield from _rows(case.desired, case.request.references, lost, deleted, other)


def _is_first(case: JobCase) -> bool:
    """Returns True where the same plan makes the checkpoint, so that no earlier generation is left behind."""
    place = (
        case.request.references.get(case.desired.checkpoint.address)
        if case.desired.checkpoint is not None
        else None
    )
    return case.request.recorded is None and place is not None and not place.identity


def blockers(case: JobCase) -> list[Blocker]:
    """The reasons that tables cannot be emptied for a rebuild."""
    if has_begun(case.desired, case.facts):
        return []
    start = start_of(case.desired, case.request.references)
    reasons: list[Blocker] = []
    for name, output in case.desired.table_outputs.items():
        if is_emptied(output, start):
            usages = [usage for usage in case.request.usages if usage.subject == output.table.address]
            emptying = readable.emptying(case, name)
            emptying = emptying or broker_positions.emptying(case.desired, case.facts, name)
            if emptying is None:
                reasons.extend(_in_the_way(name, output, usages, case.request))
            elif not output.tombstones_of:  # said of the output whose deletes it keeps
                reasons.append(emptying)
    return reasons


def emptied_outputs(case: JobCase) -> list[str]:
    """The names of the outputs whose tables lose rows that they have, as the generation begins."""
    start, references = start_of(case.desired, case.request.references), case.request.references
    if has_begun(case.desired, case.facts):
        return []
    return [
        name
        for name, output in case.desired.table_outputs.items()
        if is_emptied(output, start) and not has_no_rows(output, references)
    ]


def _begins(
    start: str,
    desired: JobDefinition,
    facts: JobFacts,
    lost: Sequence[Missed],
    deleted: Sequence[MissedRecords],
) -> Step:
    number, streams = desired.generation, ", ".join(desired.streams)
    why = f'start_from = "{start}"'
    match start:
        case "carry_over":
            left = broker_positions.left_text(desired, facts)
            text = f"generation {number} goes on {_after(facts)}{left and f'; yet to be read: {left}'}"
            return Step(text=text, effect=Effect.NEW_GENERATION, why=why)
        case "earliest":
            left = f"; {missed_text(deleted)}, and are not read" if deleted else ""
            return Step(
                text=f"generation {number} reads {streams} again from the beginning{left}",
                effect=Effect.NEW_GENERATION,
                why=why,
            )
        case "oldest_snapshot":
            left = f"; {missed_text((*lost, *deleted))}, and are not read" if (*lost, *deleted) else ""
            text = (
                f"generation {number} reads {streams} again, tables from the oldest snapshot that is "
                f"left on{left}"
            )
            return Step(text=text, effect=Effect.LOSES_DATA if lost else Effect.NEW_GENERATION, why=why)
        case "latest":
            passed = broker_positions.left_text(desired, facts)
            text = (
                f"generation {number} reads what comes from its start on; what {streams} holds and was "
                f"not read yet is passed over{passed and f' ({passed})'}"
            )
            return Step(text=text, effect=Effect.LOSES_DATA, why=why)
        case _:
            return Step(
                text=f"generation {number} reads {streams} from {start} on",
                effect=Effect.NEW_GENERATION,
                why=why,
            )


def _after(facts: JobFacts) -> str:
    if not facts.started:
        return "from the start of its streams: nothing was read yet"
    texts = [
        f"batch {checkpoint.committed}"
        if checkpoint.started == checkpoint.committed
        else f"batch {checkpoint.started} if that is in its tables, or the one before"
        for checkpoint in facts.checkpoints.values()
        if checkpoint.started is not None
    ]
    return f"after {' and '.join(dict.fromkeys(texts))}"


def rows_in(output: TableOutput, references: References) -> int | None:
    """The number of rows that the table of an output has now, None where that is not known."""
    table = references.get(output.table.address)
    history = table.history if table is not None else None
    if history is None or output.branch:
        return None
    if history.newest is not None:
        return history.newest.total
    return None if history.is_cut else 0


def is_new(output: TableOutput, references: References) -> bool:
    """Returns True where the same plan creates the table of an output."""
    table = references.get(output.table.address)
    return table is not None and not table.identity


def has_no_rows(output: TableOutput, references: References) -> bool:
    """Returns True where emptying the table of an output loses nothing that is there at plan time."""
    return is_new(output, references) or rows_in(output, references) == 0


def _rows(
    desired: JobDefinition,
    references: References,
    lost: Sequence[Missed],
    deleted: Sequence[MissedRecords],
    other: Sequence[Replaced],
) -> Iterator[Step]:
    for output in desired.outputs.values():
        match output:
            case TableOutput():
                if not is_new(output, references):
                    rows = rows_in(output, references)
                    for step in _rows_of_table(output, rows, lost, deleted, other):
                        yield replace(step, hits=(Hit(subject=output.table.address, part=output.branch),))
            case KafkaOutput():
                yield Step(
                    text=f"writes the records of what it reads to {output.place} again, behind those that "
                    "are there",
                    effect=Effect.RESULTS_CHANGE,
                    why="a topic cannot be emptied: its consumers read those records once more",
                    hits=(Hit(subject=output.resource.address),) if output.resource is not None else (),
                )
            case _:
                assert_never(output)


def _rows_of_table(
    output: TableOutput,
    there: int | None,
    lost: Sequence[Missed],
    deleted: Sequence[MissedRecords],
    other: Sequence[Replaced],
) -> Iterator[Step]:
    gone: list[Missed | MissedRecords | Replaced] = [*lost, *deleted, *other]
    table = output.table
    place = f"{table}, branch {output.branch}" if output.branch else f"{table}"
    if output.mode in _REWRITES:
        without = f", without what cannot be read ({missed_text(gone)})" if gone else ""
        effect = Effect.LOSES_DATA if gone else Effect.NEW_SNAPSHOT
        yield Step(
            text=f"replaces the rows of {place} with its first batch{without}",
            effect=effect,
            why=f"mode = {output.mode}",
        )
    elif output.rebuild == "truncate" and there == 0:
        why = "what the running job writes until it stops is removed and read again"
        yield Step(text=f"empties {place}, which has no rows now", effect=Effect.NEW_SNAPSHOT, why=why)
    elif output.rebuild == "truncate":
        rows = f": {there:,} row{'s' * (there != 1)}" if there is not None else ""
        why = (
            f"the snapshot before is recorded, and flareiac table rollback {table} goes back to it; "
            "readers find it incomplete until the job has caught up"
        )
        yield Step(text=f"empties {place} before it starts{rows}", effect=Effect.LOSES_DATA, why=why)
    elif output.mode == "append" and lost:
        text = (
            f"rows that are in {place} stay there; what live snapshots added is written, also where "
            "it is there already"
        )
        yield Step(text=text, effect=Effect.RESULTS_CHANGE, why='rebuild = "keep"')
    elif output.mode == "append" and other:
        yield Step(
            text=f"rows that are in {place} stay there, and what is read from now on is written beside them",
            effect=Effect.RESULTS_CHANGE,
            why=missed_text(other),
        )
    elif output.mode == "append":
        emptied = '; write rebuild = "truncate" in the output to empty the table first'
        why = f'rebuild = "keep"{"" if deleted else emptied}'
        yield Step(
            text=f"rows that are in {place} stay there, and are written once more",
            effect=Effect.RESULTS_CHANGE,
            why=why,
        )


def _in_the_way(
    name: str, output: TableOutput, usages: Sequence[Usage], request: PlanRequest
) -> Iterator[Blocker]:
    table = output.table
    keep = f'keep the rows, in output "{output.tombstones_of or name}":\n  rebuild = "keep"'
    for usage in usages:
        if usage.relation is Relation.WRITES:
            yield blocker(
                codes.EMPTIED_TABLE_HAS_WRITER,
                why=f"{usage.holder} writes {table}, too. Emptying it for {request.address} would lose "
                f"rows that {usage.holder} does not "
                "write again.",
                ways_out=(keep, f"write to a table of its own from {usage.holder}"),
            )
        elif usage.relation is Relation.STREAMS_FROM and "deletes" not in usage.tolerates:
            yield blocker(
                codes.EMPTIED_TABLE_HAS_READER,
                why=f"{usage.holder} streams from {table} ({usage.reason}). A streaming reader fails at a "
                "snapshot that deletes "
                "rows, unless "
                "it skips such snapshots.",
                ways_out=(
                    (
                        f"in the stream that {usage.holder} reads as {usage.reason}, so that it keeps what "
                        "it has read:\n"
                        "  skip_deletes = true"
                    ),
                    keep,
                ),
            )
    yield from _foreign(name, output, usages, request)


def _foreign(
    name: str, output: TableOutput, usages: Sequence[Usage], request: PlanRequest
) -> Iterator[Blocker]:
    strange = foreign_writers(output.table.address, usages, request)
    if strange:
        yield blocker(
            codes.EMPTIED_TABLE_HAS_FOREIGN_WRITER,
            why=f"{strange[0]}. Rows that this job does not write would be lost.",
            ways_out=(
                f'keep the rows, in output "{output.tombstones_of or name}":\n  rebuild = "keep"',
                "stop what writes there, and apply once to record it",
            ),
        )


def foreign_writers(table: str, usages: Sequence[Usage], request: PlanRequest) -> list[str]:
    """The other writers of a table since it was recorded, in words; empty where another job is declared to
    write it.
    """
    if any(usage.relation is Relation.WRITES and usage.subject == table for usage in usages):
        return []
    resolved = request.references.get(table)
    writers = writers_of(resolved.identity) if resolved else TableWriters()
    own = own_queries(request)
    texts = [
        f"the query {query} has written {table}, batch {commits.epoch}"
        for query, commits in writers.queries.items()
        if query not in own and writers.is_news(commits.at)
    ]
    texts += [
        f"{_commits(other.count, other.operation)} on {table} came from "
        f"{other.engine or 'elsewhere'}, the last one snapshot {other.snapshot_id}"
        for other in writers.others
        if writers.is_news(other.at) and other.operation != "replace"
    ]
    return texts


def own_queries(request: PlanRequest) -> set[str]:
    """The ids of the queries that this job runs or has run."""
    identity = recorded_identity(request.recorded)
    current = {query.id for query in identity.queries.values() if query.id is not None}
    facts = observed_facts(request.observed) or JobFacts()
    on_disk = {checkpoint.query_id for checkpoint in facts.checkpoints.values()}
    return current | on_disk | set(identity.former_queries)


def _commits(count: int, operation: str) -> str:
    return f"{count} commit{'s' * (count != 1)} ({operation})"
