"""The health of a running job: compares what its application measures with the limits of its ``health``
block. Pure.

Durations come from the application's own clock, as of its last heartbeat: none is computed here from times of
day.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from flareiac import __version__
from flareiac.kernel.diagnostics import Diagnostic, warning
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.results import Present
from flareiac_spark import codes
from flareiac_spark.definition.job_definition import Health, JobDefinition
from flareiac_spark.observation.job import observed_facts
from flareiac_spark_runtime.control import JobStatus, QueryStatus
from flareiac_spark_runtime.utc import utc_ms, utc_text

_DAY_MS: Final = 86_400_000
_AHEAD_MS: Final = 366 * _DAY_MS
_AHEAD_WITH_LATE_ROWS_MS: Final = _DAY_MS
_WATERMARK: Final = "watermark: "


def complaints(
    definition: JobDefinition, job: JobStatus | None, *, silent: str, waiting: str = ""
) -> tuple[str, ...]:
    """The complaints about a job, in words; empty for a job that does not run. ``silent``: the reason that
    its application is not known to live. ``waiting``: the reason that its application has no executors.
    """
    if silent:
        return (f"unknown: its application does not answer: {silent}",)
    if job is None:
        return ()
    if job.phase in ("failed", "backoff"):
        cause = (
            f": {job.last_error.error_class}: {job.last_error.message}" if job.last_error is not None else ""
        )
        return (f"{job.phase}{cause}",)
    if job.phase not in ("starting", "running", "idle", "stopping"):
        return ()
    waits = (f"waiting: {waiting}",) if waiting else ()
    limits = definition.health
    if limits is None:
        return waits
    several = len(job.queries) > 1
    texts = (
        f"{f'output {query.output}: ' if several else ''}{text}"
        for query in job.queries
        for text in _of_query(limits, query)
    )
    return (
        *waits,
        *texts,
        *_of_records(limits, bad_records(job.queries)),
        *_of_late_rows(limits, sum(query.late_rows for query in job.queries)),
    )


def watermark_ahead(on_disk_ms: int | None, queries: Sequence[QueryStatus], *, now: float) -> tuple[str, ...]:
    """The reason why a watermark must come from a wrong time of the data: it is far ahead. Also of a job that
    does not run. ``on_disk_ms``: the one in its checkpoint, in ms since 1970; ``now`` in UTC seconds.

    Times of the data may lie ahead for good reasons, such as departures. Then rows are not late.
    """
    said = [utc_ms(query.watermark) for query in queries if query.watermark is not None]
    at = max((ms for ms in (on_disk_ms, *said) if ms is not None), default=0)
    late = sum(query.late_rows for query in queries)
    ahead = at - now * 1000
    if ahead <= (_AHEAD_WITH_LATE_ROWS_MS if late else _AHEAD_MS):
        return ()
    dropped = f" (since its first start {_rows(late)}, as Spark counts them)" if late else ""
    time, days = utc_text(at, timespec="seconds"), f"{int(ahead // _DAY_MS):,} days"
    text = (
        f"{_WATERMARK}it is {time}, {days} in the future, so that every row before it is late and is dropped"
        f"{dropped}. A time in the data was wrong, such as milliseconds that were read as seconds. A "
        "watermark never goes back: leave such rows out before the watermark is taken, and read the rest "
        "again with a new generation of the checkpoint"
    )
    return (text,)


def bad_records(queries: Sequence[QueryStatus]) -> dict[str, int | None]:
    """Records that could not be read, by input; each query that reads an input finds the same ones. None
    where no query knows how many.
    """
    counts: dict[str, int | None] = {}
    for query in queries:
        for name, count in query.bad_records.items():
            known = [number for number in (counts.get(name), count) if number is not None]
            counts[name] = max(known, default=None)
    return counts


def warnings(request: PlanRequest, *, besides: Sequence[str] = ()) -> tuple[Diagnostic, ...]:
    """The same for a plan, which does not change what is only unwell. ``besides``: what the plan says in
    another way.
    """
    if not isinstance(request.observed, Present):
        return ()
    facts = observed_facts(request.observed)
    return (
        *_of_release(request, facts.other_release if facts is not None else ""),
        *_unhealthy(request, besides),
    )


def _of_release(request: PlanRequest, other: str) -> Iterator[Diagnostic]:
    if other:
        detail = (
            f"{other[:1].upper()}{other[1:]}, this is {__version__}. Restart its engine to run this release; "
            "releases next to each other understand each other meanwhile."
        )
        yield warning(codes.RELEASES_DIFFER, detail, address=request.address)


def _unhealthy(request: PlanRequest, besides: Sequence[str]) -> tuple[Diagnostic, ...]:
    assert isinstance(request.observed, Present)
    return tuple(
        warning(
            codes.WATERMARK_AHEAD if text.startswith(_WATERMARK) else codes.JOB_UNHEALTHY,
            f"{text[:1].upper()}{text[1:].rstrip('. ')}. See flareiac logs {request.address}.",
            address=request.address,
        )
        for text in request.observed.unhealthy
        if text not in besides
    )


def _of_records(limits: Health, by_input: Mapping[str, int | None]) -> Iterator[str]:
    allowed, total = limits.max_bad_records, sum(count or 0 for count in by_input.values())
    unknown = sorted(name for name, count in by_input.items() if count is None)
    if allowed is not None and unknown:
        yield f"bad records: how many of {', '.join(unknown)} could not be read since it started is not known"
    if allowed is not None and total > allowed:
        counts = ", ".join(f"{name}: {count:,}" for name, count in sorted(by_input.items()) if count)
        records = "1 record" if total == 1 else f"{total:,} records"
        yield f"bad records: {records} could not be read since it started ({counts}), allowed are {allowed:,}"


def _of_late_rows(limits: Health, late: int) -> Iterator[str]:
    if limits.max_late_rows is not None and late > limits.max_late_rows:
        yield (
            f"late: {_rows(late)}, as Spark counts them, came after the watermark had passed them and "
            f"were dropped, allowed are {limits.max_late_rows:,}"
        )


def _rows(number: int) -> str:
    return "1 row" if number == 1 else f"{number:,} rows"


def _of_query(limits: Health, query: QueryStatus) -> Iterator[str]:
    batch, lag, idle = map(_seconds, (limits.max_batch_duration_ms, limits.max_lag_ms, limits.max_idle_ms))
    if batch is not None and _exceeds(query.running_seconds, batch):
        at = "the batch under way" if query.batch is None else f"batch {query.batch + 1}"
        yield f"stuck: {at} has run for {_span(query.running_seconds)}, allowed are {_span(batch)}"
    elif batch is not None and _exceeds(query.batch_seconds, batch):
        yield f"slow: batch {query.batch} took {_span(query.batch_seconds)}, allowed are {_span(batch)}"
    if lag is not None and _exceeds(query.behind_seconds, lag):
        yield (
            f"behind: it has not caught up with its sources for {_span(query.behind_seconds)}, allowed "
            f"are {_span(lag)}"
        )
    if idle is not None and _exceeds(query.quiet_seconds, idle):
        yield f"quiet: it has committed no batch for {_span(query.quiet_seconds)}, allowed are {_span(idle)}"


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


def _exceeds(measured: float | None, allowed: float) -> bool:
    return measured is not None and measured > allowed


def _span(seconds: float | None) -> str:
    """In the greatest unit that leaves a whole number to read: ``45s``, ``12m``, ``3h``, ``2d``."""
    amount, unit = seconds or 0.0, "s"
    for size, name in ((60, "m"), (60, "h"), (24, "d")):
        if amount < 2 * size:
            break
        amount, unit = amount / size, name
    return f"{int(amount)}{unit}" if amount == int(amount) or amount >= 10 else f"{amount:.1f}{unit}"
