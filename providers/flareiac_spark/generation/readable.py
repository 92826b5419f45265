"""The check that a job's streams of tables can still read what its start needs. Pure: the references carry
what was observed of each table.

A stream of a table has no other source than what live snapshots added, and goes on after a snapshot that must
be one of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.changes import Blocker, blocker
from flareiac.sdk.lakehouse import TableHistory, Unstreamable
from flareiac.sdk.references import References
from flareiac.sdk.requests import PlanRequest
from flareiac_spark import codes
from flareiac_spark.checkpoint_files.query_positions import QueryPositions
from flareiac_spark.definition.checkpoint_definition import start_of
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.streamed_tables import StreamedTable, streamed_tables
from flareiac_spark.generation.job_case import JobCase
from flareiac_spark.generation.snapshot_positions import (
    Ambiguous,
    Now,
    Position,
    Since,
    Snapshots,
    Start,
    first_position,
    positions,
)
from flareiac_spark.instance_lines import line
from flareiac_spark.start_from import CARRY_OVER, EARLIEST, LATEST, OLDEST_SNAPSHOT
from flareiac_spark_runtime.control.timestamps import start_timestamp
from flareiac_spark_runtime.utc import utc_text

_HEALTHY: Final = ("running", "idle")


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """The rows that an input never reads when it reads its table from the start. ``rows`` None: the rows that
    the table still has are not known.
    """

    input: str
    table: str
    rows: Unstreamable | None

    @property
    def text(self) -> str:
        """In words, as the part of a sentence."""
        if self.rows is None:
            return f"what {self.table} still has was not looked at"
        return f"{self.rows.text} of {self.table} are in no live snapshot's additions"


def missed(job: JobDefinition, references: References) -> list[Missed]:
    """The rows that a start from the oldest snapshots would not read, by input; empty where every row can be
    read.
    """
    losses = []
    for streamed_table in streamed_tables(job):
        history = _history(streamed_table.table, references)
        if history is None or history.unstreamable is not None:
            losses.append(
                Missed(
                    input=streamed_table.input,
                    table=streamed_table.table,
                    rows=history.unstreamable if history is not None else None,
                )
            )
    return losses


class HasText(Protocol):
    """Rows or records that an input never reads."""

    @property
    def text(self) -> str:
        """In words, as the part of a sentence."""


def missed_text(losses: Sequence[HasText]) -> str:
    """All of them as one part of a sentence."""
    return "; ".join(dict.fromkeys(loss.text for loss in losses))


def start_again(job: JobDefinition, references: References) -> tuple[str, bool, str]:
    """The way in which a new generation reads all that is left: ``start_from``, True if outputs can be
    emptied without losing rows, the way in words.
    """
    losses = missed(job, references)
    if not losses:
        return EARLIEST, True, "start over: read everything again"
    if any(loss.rows is None for loss in losses):
        return EARLIEST, False, "start over: read everything again that can be read"
    return (
        OLDEST_SNAPSHOT,
        False,
        f"start with the oldest snapshot that is left ({missed_text(losses)}, and are not read again)",
    )


def of_start(case: JobCase) -> list[Blocker]:
    """The reasons that queries cannot go on, or start, on the checkpoint as it is."""
    if case.desired.mode == "batch" or not case.desired.starts_by_itself:
        return []
    times: Mapping[str, int | None] = next(
        (stand.times for stand in case.facts.stands.values() if stand.times), {}
    )
    accepted = start_of(case.desired, case.request.references) == OLDEST_SNAPSHOT
    blockers: dict[str, Blocker] = {}
    for name in case.desired.query_names:
        stand = case.facts.stands.get(name) or QueryPositions(times=times)
        for streamed_table, position in positions(case.desired, name, stand):
            if (
                isinstance(position, Snapshots | Ambiguous)
                and case.facts.alive
                and case.facts.phase in _HEALTHY
            ):
                continue  # it has just read there
            for each in _of_position(case, streamed_table, position, stand, accepted=accepted):
                blockers.setdefault(each.line, each)
    return list(blockers.values())


def of_generation(case: JobCase) -> list[Blocker]:
    """The reasons that a new generation cannot begin as ``start_from`` says."""
    start = start_of(case.desired, case.request.references)
    if start in (LATEST, OLDEST_SNAPSHOT):
        return []
    blockers: dict[str, Blocker] = {}
    for beginning, position, stand in _beginnings(case, start):
        if isinstance(position, Snapshots | Ambiguous) and case.facts.alive and case.facts.phase in _HEALTHY:
            continue
        for each in _of_position(case, beginning, position, stand, accepted=False, raised=True):
            blockers.setdefault(each.line, each)
    return list(blockers.values())


def _beginnings(case: JobCase, start: str) -> Iterator[tuple[StreamedTable, Position, QueryPositions]]:
    inputs = streamed_tables(case.desired)
    if start != CARRY_OVER:
        at_ms = start_timestamp(start, now=0.0)
        for streamed_table in inputs:
            yield streamed_table, Start() if at_ms is None else Since(at_ms=at_ms), QueryPositions()
        return
    before = JobDefinition.of(case.request.recorded.attributes) if case.request.recorded else case.desired
    kept: set[str] = set()
    for name in before.query_names:
        stand = case.facts.stands.get(name) or QueryPositions()
        for streamed_table, position in positions(before, name, stand):
            kept.add(streamed_table.table)
            if any(each.table == streamed_table.table for each in inputs):
                yield streamed_table, position, stand
    for streamed_table in inputs:
        if streamed_table.table not in kept:
            yield streamed_table, first_position(streamed_table), QueryPositions()


def emptying(case: JobCase, output: str) -> Blocker | None:
    """The reason that a table cannot be emptied for a rebuild: its rows cannot be read again. None where they
    can.
    """
    losses = missed(case.desired, case.request.references)
    if not losses:
        return None
    table = case.desired.table_outputs[output].table
    return blocker(
        codes.EMPTYING_LOSES_ROWS,
        why=(
            f"{_sentence(missed_text(losses))}: what {table} has of them would be gone, and the job would "
            "not write it again."
        ),
        ways_out=(
            f'keep the rows, in output "{output}":\n  rebuild = "keep"',
            _rest_by_batch(losses[0].table),
        ),
    )


def start_words(job: JobDefinition, references: References) -> str:
    """The beginning of a first start, as the part of a sentence; empty where every stream is read from its
    beginning.
    """
    texts: list[str] = []
    lost = {loss.input: loss for loss in missed(job, references)}
    for streamed_table in streamed_tables(job):
        match first_position(streamed_table):
            case Now():
                texts.append(f"with what is appended to {streamed_table.table} from then on")
            case Since(at_ms=at_ms):
                texts.append(f"with what was committed to {streamed_table.table} since {_time(at_ms)}")
            case Start() if streamed_table.input in lost:
                text = f"({lost[streamed_table.input].text}, and are not read)"
                texts.append(f"with the oldest snapshot of {streamed_table.table} that is left {text}")
            case _:
                pass
    return " and ".join(dict.fromkeys(texts))


def _of_position(
    case: JobCase,
    streamed_table: StreamedTable,
    position: Position,
    stand: QueryPositions,
    *,
    accepted: bool,
    raised: bool = False,
) -> Iterator[Blocker]:
    history = _history(streamed_table.table, case.request.references)
    if history is None:
        yield _not_known(case.request, streamed_table)
        return
    match position:
        case Start() if not accepted and (raised or streamed_table.start_from != OLDEST_SNAPSHOT):
            if (rows := history.unstreamable) is not None:
                yield _rows_gone(case.desired, streamed_table, rows, "", raised=raised)
        case Since(at_ms=at_ms) if not accepted:
            if (rows := history.unstreamable_since(at_ms)) is not None:
                yield _rows_gone(
                    case.desired,
                    streamed_table,
                    rows,
                    f"It is to begin at {_time(at_ms)}, before the oldest live snapshot. ",
                    raised=raised,
                )
        case Snapshots(ids=ids):
            gone = [each for each in ids if not history.has(each)]
            if gone:
                yield _offset_gone(case, streamed_table, stand, gone[0], history, streamed_table.table)
        case Ambiguous(ids=ids):
            inputs = streamed_tables(case.desired)
            tables = [_history(each.table, case.request.references) for each in inputs]
            gone = [each for each in ids if not any(known is None or known.has(each) for known in tables)]
            if gone:
                read = " or ".join(dict.fromkeys(each.input for each in inputs))
                places = " or ".join(dict.fromkeys(each.table for each in inputs))
                yield _offset_gone(
                    case,
                    replace(streamed_table, input=read, table=places),
                    stand,
                    gone[0],
                    history,
                    streamed_table.table,
                )
        case _:
            pass


def _rows_gone(
    desired: JobDefinition, streamed_table: StreamedTable, rows: Unstreamable, when: str, *, raised: bool
) -> Blocker:
    place = desired.checkpoint if raised else desired.streams[streamed_table.input].stream
    where = f"in {place}" if raised else f"in the table block of {place}"
    return blocker(
        codes.ROWS_NOT_STREAMABLE,
        why=(
            f"{rows.text[:1].upper()}{rows.text[1:]} of {streamed_table.table} cannot be read as a stream.\n"
            f"{when}They are in no live snapshot's additions: the snapshots that added them expired, or a "
            "rewrite moved them to other files. A stream reads what live snapshots added, so input "
            f"{streamed_table.input} would never read them."
        ),
        ways_out=(
            (
                f"begin with the oldest snapshot that is left, without those rows, {where}:\n  "
                f"{line(place, 'start_from', OLDEST_SNAPSHOT)}"
            ),
            _rest_by_batch(streamed_table.table) if raised else _by_batch(streamed_table.table),
        ),
    )


def _offset_gone(
    case: JobCase,
    streamed_table: StreamedTable,
    stand: QueryPositions,
    snapshot: int,
    history: TableHistory,
    rest: str,
) -> Blocker:
    start, _emptied, words = start_again(case.desired, case.request.references)
    before = (
        JobDefinition.of(case.request.recorded.attributes) if case.request.recorded else case.desired
    ).generation or 1
    place = case.desired.checkpoint
    stands = "The query began" if stand.committed is None else f"Batch {stand.committed} ended"
    oldest = history.oldest
    left = (
        "The table has no snapshot."
        if oldest is None
        else f"The oldest one that is left is {oldest.id} of {_time(oldest.at_ms)}."
    )
    lost = (
        " What was added between the two and has expired cannot be read as a stream."
        if history.is_cut
        else ""
    )
    return blocker(
        codes.OFFSET_EXPIRED,
        why=(
            f"The snapshot of {streamed_table.table} at which input {streamed_table.input} stands is gone.\n"
            f"{stands} at snapshot {snapshot}, which has expired, or which the current snapshot does not "
            f"descend from any more: Spark cannot go on from there. {left}{lost}"
        ),
        ways_out=(
            (
                f"{words}, in {place}:\n  {line(place, 'generation', before + 1, before)}\n  "
                f"{line(place, 'start_from', start)}"
            ),
            _rest_by_batch(rest),
        ),
    )


def _not_known(request: PlanRequest, streamed_table: StreamedTable) -> Blocker:
    return blocker(
        codes.STREAMABLE_ROWS_UNKNOWN,
        why=f"The metadata of {streamed_table.table} was not read, so whether "
        f"{request.address} can read what it needs as input {streamed_table.input} is unknown.",
        ways_out=("plan without -refresh=none",),
    )


def _by_batch(table: str) -> str:
    """The way to rows that no stream can read: all of them are in the table."""
    return (
        f"load {_batch_job(table)} while nothing writes {table}, and let the stream begin after that:\n "
        f' start_from = "{LATEST}"'
    )


def _rest_by_batch(table: str) -> str:
    """The same for a job that has read some of them already."""
    return (
        f"the rows that its outputs do not have, once the job runs again: load {_batch_job(table)}, and "
        "leave out in its SQL what is there"
    )


def _batch_job(table: str) -> str:
    name = table.partition("[")[0].rpartition(".")[2]
    return f'what {table} has now by a job with mode = "batch" and input "{name}" {{ table = {table} }}'


def _history(table: str, references: References) -> TableHistory | None:
    resolved = references.get(table)
    return resolved.history if resolved is not None else None


def _time(at_ms: int) -> str:
    return utc_text(at_ms, timespec="seconds")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
