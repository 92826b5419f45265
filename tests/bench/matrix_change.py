"""The changes of the matrix: each is an edit of a job, the plan's verdict on it, and the way out that is
taken.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from tests.bench import matrix_queries as q
from tests.bench.matrix_jobs import Job, Output
from tests.bench.matrix_model import Query


class Verdict(StrEnum):
    """The verdict of a plan on a job, in the words of the matrix."""

    NOTHING = "nothing"
    TAKEN = "taken to mean the same"
    LIVE = "live"
    RESTART = "restart"
    TOLD = "restart, results change"
    NO_EFFECT = "no effect"
    RESULTS_CHANGE = "blocked: results change"
    UNKNOWN = "blocked: unknown"
    REFUSED = "blocked: new generation"
    BLOCKED = "blocked"
    GENERATION = "new generation"
    STOPS = "stops"
    STARTS = "starts"

    @property
    def blocked(self) -> bool:
        return self in (Verdict.RESULTS_CHANGE, Verdict.UNKNOWN, Verdict.REFUSED, Verdict.BLOCKED)


class Way(StrEnum):
    """The answer to the verdict: apply as it is, or one of the ways out of a blocked plan."""

    APPLY = ""
    TOKEN = "token"
    EARLIEST = "earliest"
    CARRY_OVER = "carry_over"
    UNDO = "undo"


class Start(StrEnum):
    """The beginning of a new generation that a change itself asks for, and the fate of the rows."""

    KEEP = "earliest, keep"
    TRUNCATE = "earliest, truncate"
    ONWARDS = "onwards"


class Happening(StrEnum):
    """The events at a job's topic or checkpoint between the first rows and the change."""

    NONE = ""
    PARTITION = "a partition is added, and has the second rows"
    RECREATED = "its topic is deleted and created again, with other rows"
    TRIMMED = "records that it has not read are deleted"
    IN_FLIGHT = "its last batch is written and not committed"
    POISONED = "a bad record, on which it fails"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """``edit`` makes the job after of the job before; ``given`` is done to both. ``start`` is where a
    generation in ``edit`` begins. ``paused``: the job is stopped before ``event``, and the change starts it.
    """

    name: str
    family: str
    before: Job
    after: Job
    verdict: Verdict
    way: Way = Way.APPLY
    start: Start | None = None
    event: Happening = Happening.NONE
    paused: bool = False

    @property
    def loses(self) -> bool:
        """True if the rows that it has read cannot be read again."""
        moved = self.after.kafka.cluster == "other" != self.before.kafka.cluster
        return moved or self.event in (Happening.RECREATED, Happening.TRIMMED)

    @property
    def output(self) -> str:
        return kind_of(self.before)


Edit = Callable[[Job], Job]

FAMILIES: Final[Mapping[str, tuple[Query, Mapping[str, tuple[Output, ...]]]]] = {
    "plain": (
        q.PLAIN,
        {
            "append": (Output(mode="append"),),
            "merge": (Output(mode="merge", keys=("k", "m")),),
            "overwrite_partitions": (Output(mode="overwrite_partitions"),),
            "branch": (Output(mode="append", branch=True),),
            "foreach_batch": (
                Output(mode="append"),
                Output(mode="merge", label="also", table="also", keys=("k", "m")),
            ),
        },
    ),
    "sum": (
        q.SUM,
        {
            "complete": (Output(mode="complete"),),
            "merge": (Output(mode="merge", keys=("k",)),),
            "foreach_batch": (
                Output(mode="merge", keys=("k",)),
                Output(mode="merge", label="also", table="also", keys=("k",)),
            ),
        },
    ),
    "windows": (
        q.windows(),
        {
            "append": (Output(mode="append"),),
            "complete": (Output(mode="complete"),),
            "merge": (Output(mode="merge", keys=("since",)),),
        },
    ),
    "join": (q.PLAIN, {"append": (Output(mode="append"),)}),
    "told": (
        q.PLAIN,
        {
            "topic": (Output(mode="append", topic="out"),),
            "beside": (Output(mode="append"), Output(mode="append", label="told", topic="told")),
        },
    ),
    "counted": (q.SUM, {"topic": (Output(mode="update", topic="out"),)}),
    "rate": (q.RATE, {"append": (Output(mode="append"),)}),
    "unique": (
        q.unique("k"),
        {"append": (Output(mode="append"),), "merge": (Output(mode="merge", keys=("k", "m")),)},
    ),
}


def job(family: str, source: str, output: str) -> Job:
    """A job of a family, as it is before a change."""
    own, outputs = FAMILIES[family]
    reading = {"rate": ["rows_per_second = 2"], "kafka": []}.get(source, ["max_files_per_trigger = 1"])
    return Job(
        query=own,
        source=source,
        outputs=outputs[output],
        together=output in ("foreach_batch", "beside"),
        reading=tuple(reading),
    )


def kind_of(found: Job) -> str:
    """The name of a job's output in the matrix."""
    first = found.outputs[0]
    if any(output.topic for output in found.outputs):
        return "topic" if first.topic else "beside"
    return "foreach_batch" if found.together else "branch" if first.branch else first.mode


def with_(**parts: Any) -> Edit:
    """Other fields of the job."""
    return lambda found: replace(found, **parts)


def then(first: Edit, second: Edit) -> Edit:
    """One edit after the other."""
    return lambda found: second(first(found))


def asked(query: Query) -> Edit:
    """Another query."""
    return with_(query=query)


def line(line: str) -> Edit:
    """One more line in the job."""
    return lambda found: replace(found, lines=(*found.lines, line))


def reading(line: str) -> Edit:
    """Another line in the source."""
    return lambda found: replace(found, reading=(line,))


def topics(**parts: Any) -> Edit:
    """Other topics, or the same ones written otherwise."""
    return lambda found: replace(found, kafka=replace(found.kafka, **parts))


def bad_records(action: str) -> Edit:
    """Another action for bad records; quarantine as the name of a table."""
    own = action in ("", "fail", "null", "drop")
    return with_(bad=action if own else "", quarantine="" if own else action)


def checkpoint(*lines: str) -> Edit:
    """The lines of the checkpoint."""
    return lambda found: replace(found, checkpoint=lines)


def generation(start: str) -> Edit:
    """The second generation."""
    return checkpoint("generation = 2", f'start_from = "{start}"')


def output(**parts: Any) -> Edit:
    """Other fields of the first output."""
    return lambda found: replace(found, outputs=(replace(found.outputs[0], **parts), *found.outputs[1:]))


def rebuilt(found: Job) -> Job:
    """Every output is emptied when a new generation reads again."""
    return replace(found, outputs=tuple(replace(output, rebuild=True) for output in found.outputs))


def each(
    name: str,
    family: str,
    where: str,
    edit: Edit,
    verdict: Verdict,
    ways: Sequence[Way] = (Way.APPLY,),
    *,
    given: Edit = lambda found: found,
    start: Start | None = None,
    event: Happening = Happening.NONE,
    paused: bool = False,
) -> Iterator[Change]:
    """A change in each place of ``where``: a source, a colon and outputs with commas between, or ``*`` for
    all.
    """
    for place in where.split():
        source, _, outputs = place.partition(":")
        for output in FAMILIES[family][1] if outputs == "*" else outputs.split(","):
            before = given(job(family, source, output))
            for way in ways:
                yield Change(
                    name=name,
                    family=family,
                    before=before,
                    after=edit(before),
                    verdict=verdict,
                    way=way,
                    start=start,
                    event=event,
                    paused=paused,
                )
