"""The changes of the matrix: what is edited, in which jobs, what plan must say of it, and which ways out are taken."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from tests.bench import matrix_queries as q
from tests.bench.matrix_jobs import Job, Output
from tests.bench.matrix_model import Query


class Verdict(StrEnum):
    """What plan says of a job, in the words of the matrix."""

    NOTHING = "nothing"
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
    """What is done about the verdict: apply as it is, or one of the ways out of a blocked plan."""

    APPLY = ""
    TOKEN = "token"
    EARLIEST = "earliest"
    CARRY_OVER = "carry_over"
    UNDO = "undo"


class Start(StrEnum):
    """Where a new generation that a change itself asks for begins, and what becomes of the rows."""

    KEEP = "earliest, keep"
    TRUNCATE = "earliest, truncate"
    ONWARDS = "onwards"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """``edit`` makes the job after of the job before; ``given`` is done to both. ``start`` is where a generation in ``edit`` begins."""

    name: str
    before: Job
    after: Job
    verdict: Verdict
    way: Way = Way.APPLY
    start: Start | None = None

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
            "foreach_batch": (Output(mode="append"), Output(mode="merge", label="also", table="also", keys=("k", "m"))),
        },
    ),
    "sum": (
        q.SUM,
        {
            "complete": (Output(mode="complete"),),
            "merge": (Output(mode="merge", keys=("k",)),),
            "foreach_batch": (Output(mode="merge", keys=("k",)), Output(mode="merge", label="also", table="also", keys=("k",))),
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
    "unique": (q.unique("k"), {"append": (Output(mode="append"),), "merge": (Output(mode="merge", keys=("k", "m")),)}),
}


def job(family: str, source: str, output: str, query: Query | None = None) -> Job:
    """A job of a family, as it is before a change."""
    own, outputs = FAMILIES[family]
    return Job(query=query or own, source=source, outputs=outputs[output], together=output == "foreach_batch")


def kind_of(found: Job) -> str:
    """The name of a job's output in the matrix."""
    first = found.outputs[0]
    return "foreach_batch" if found.together else "branch" if first.branch else first.mode


def _asked(query: Query) -> Edit:
    return lambda found: replace(found, query=query)


def _line(line: str) -> Edit:
    return lambda found: replace(found, lines=(*found.lines, line))


def _generation(start: str, *, truncate: bool = False) -> Edit:
    def edit(found: Job) -> Job:
        outputs = tuple(replace(output, rebuild=truncate) for output in found.outputs)
        return replace(found, checkpoint=("generation = 2", f'start_from = "{start}"'), outputs=outputs)

    return edit


EVERYWHERE: Final = tuple((source, output) for source in ("files", "table") for output in FAMILIES["plain"][1])


def _each(
    name: str,
    family: str,
    where: Sequence[tuple[str, str]],
    edit: Edit,
    verdict: Verdict,
    ways: Sequence[Way] = (Way.APPLY,),
    *,
    given: Edit = lambda found: found,
    start: Start | None = None,
) -> Iterator[Change]:
    for source, output in where:
        before = given(job(family, source, output))
        for way in ways:
            if way is Way.CARRY_OVER and source == "files" and family != "plain":
                continue  # state over files can only be made anew
            yield Change(name=name, before=before, after=edit(before), verdict=verdict, way=way, start=start)


def _where(sources: str, outputs: str) -> list[tuple[str, str]]:
    return [(source, output) for source in sources.split() for output in outputs.split()]


def all_changes() -> Iterator[Change]:
    """Every cell's change."""
    yield from _not_running()
    yield from _restarts()
    yield from _without_state()
    yield from _of_state()


def _not_running() -> Iterator[Change]:
    few = [("files", "append"), ("table", "merge"), ("files", "foreach_batch")]
    yield from _each("comment", "plain", few, _line('comment = "what it is for"'), Verdict.NOTHING)
    yield from _each("restart budget", "plain", few[:1], lambda found: replace(found, failures=4), Verdict.LIVE)


def _restarts() -> Iterator[Change]:
    yield from _each("restart_nonce", "plain", [("files", "append"), ("table", "branch")], _line("restart_nonce = 1"), Verdict.RESTART)


def _without_state() -> Iterator[Change]:
    times = q.plain("k, m, n * 10 AS total", row=lambda e: {"k": e["k"], "m": e["m"], "total": e["n"] * 10})
    yield from _each("projection", "plain", EVERYWHERE, _asked(times), Verdict.RESTART)
    some = q.plain(where="WHERE n > 3", keeps=lambda e: e["n"] > 3)
    yield from _each("filter", "plain", EVERYWHERE, _asked(some), Verdict.RESTART)


def _of_state() -> Iterator[Change]:
    greatest = q.by_k("max(n) AS total", q.greatest("n"))
    ways = (Way.TOKEN, Way.EARLIEST, Way.CARRY_OVER)
    where = _where("files table", "complete merge foreach_batch")
    yield from _each("sum to max", "sum", where, _asked(greatest), Verdict.RESULTS_CHANGE, ways)
