"""Describes what changed outside of FlareIaC about a recorded job. Pure."""

from collections.abc import Iterator
from typing import Final

from flareiac.sdk.lakehouse import writers_of
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.results import Present
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.job_identity import recorded_identity
from flareiac_spark.generation.generation_plan import foreign_writers
from flareiac_spark.generation.job_case import JobCase
from flareiac_spark.observation.job import ENDED, JobFacts, observed_facts
from flareiac_spark_runtime.utc import utc_text

IDLE_SHUTDOWN: Final = "idle_shutdown"


def running(request: PlanRequest, recorded: JobDefinition, facts: JobFacts) -> tuple[str, ...]:
    """The differences from the recorded job that another start heals."""
    identity = recorded_identity(request.recorded)
    if not looked_at(request):
        return ()
    if recorded.stopped:
        return ("it was started by hand",) if facts.state == "running" and not recorded.is_finite else ()
    if recorded.is_finite:
        failed = facts.digest == identity.digest and identity.result is None and recorded.run != "manual"
        waits = (facts.held.text,) if facts.held is not None and identity.result is None else ()
        return waits or (tuple(_failed_run(facts)) if failed else ())
    differences = []
    if facts.digest is not None and facts.digest != identity.digest:
        differences.append("another definition than the recorded one is set to run")
    if facts.runs_another:
        differences.append("its application still runs another definition than the one that is set to run")
    return (*differences, *_not_running(recorded, facts))


def down(request: PlanRequest, recorded: JobDefinition, facts: JobFacts) -> tuple[str, ...]:
    """Says that a job is down, since when and why, for every plan that touches it, whatever the plan does
    about it.
    """
    if not looked_at(request):
        return ()
    if recorded.is_finite:
        return tuple(_failed_run(facts))
    if facts.alive and facts.phase == "backoff":
        return (f"it is down, and is started again by itself: it {_failed(facts)}",)
    if recorded.stopped and facts.state != "running":
        return ()
    return tuple(_not_running(recorded, facts))


def stands(request: PlanRequest, facts: JobFacts) -> bool:
    """True where nothing of a job is at work, so that nothing has to stop for a change."""
    at_work = facts.alive and facts.phase not in ENDED and facts.held is None
    return looked_at(request) and not facts.silent and not at_work


def _failed_run(facts: JobFacts) -> Iterator[str]:
    if facts.phase == "failed":
        yield f"its run {_failed(facts)}"


def _not_running(job: JobDefinition, facts: JobFacts) -> Iterator[str]:
    """The reasons that a stream does not run; one that is silent is unwell, and nothing that a start would
    heal.
    """
    application = f"its Spark application ({job.engine})"
    if facts.held is not None:
        yield facts.held.text
        return
    if facts.state == "stopped":
        yield f"it is down: it was stopped by hand{_at(facts.since_ms) if facts.phase in ENDED else ''}"
    elif facts.elsewhere:
        yield f"{application} is silent, and {facts.elsewhere} cannot be seen from here"
    elif facts.silent:
        return
    elif not facts.alive and facts.ended != IDLE_SHUTDOWN:
        reasons = [
            *([facts.ended] if facts.ended else []),
            *([f"before that it {_failed(facts)}"] if facts.phase in ("failed", "backoff") else []),
        ]
        heard = f" (last heard from{_at(facts.heard_ms)})" if facts.heard_ms is not None else ""
        yield f"it is down: {application} is not running{heard}" + "".join(f": {text}" for text in reasons)
    elif facts.phase == "failed":
        yield f"it is down: it {_failed(facts)}"
    elif not facts.alive:
        yield f"it is down: {application} ended{_at(facts.heard_ms)} because it was idle"


def _failed(facts: JobFacts) -> str:
    return f"failed{_at(facts.since_ms)}" + (f": {facts.error}" if facts.error else "")


def _at(ms: int | None) -> str:
    return f" at {utc_text(ms, timespec='seconds')}" if ms is not None else ""


def at_rest(request: PlanRequest, recorded: JobDefinition, facts: JobFacts) -> bool:
    """Returns True if a batch job certainly does not run: nothing can happen to it, and its next run begins
    with what is there then.
    """
    if recorded.mode != "batch" or not looked_at(request):
        return False
    ended = facts.phase in (None, *ENDED) if facts.alive else not facts.silent
    return facts.state != "running" and ended


def foreign(request: PlanRequest, recorded: JobDefinition) -> tuple[str, ...]:
    """The other writers of the tables of its outputs, in words."""
    if not looked_at(request):
        return ()
    tables = [output.table.address for output in recorded.table_outputs.values()]
    return tuple(
        text for table in dict.fromkeys(tables) for text in foreign_writers(table, request.usages, request)
    )


def rolled_back(request: PlanRequest, recorded: JobDefinition, facts: JobFacts) -> tuple[str, ...]:
    """Batches that its queries have committed and that were set back in a table: no query writes them
    again.
    """
    if not looked_at(request):
        return ()
    texts: list[str] = []
    for name, output in recorded.table_outputs.items():
        on_disk = facts.checkpoints.get(recorded.query_of(name))
        table = request.references.get(output.table.address)
        if on_disk is None or table is None or on_disk.committed is None:
            continue
        undone = writers_of(table.identity).undone.get(on_disk.query_id)
        if undone is not None and undone.first <= on_disk.committed:
            batches = (
                f"batch {undone.first}"
                if undone.first == undone.last
                else f"batches {undone.first} to {undone.last}"
            )
            texts.append(
                f"{output.table} was rolled back: {batches} of output {name} ({undone.rows} rows) went "
                "with it, and the query, which has committed them, does not write them again"
            )
    return tuple(texts)


def pinned_otherwise(case: JobCase, recorded: JobDefinition) -> tuple[str, ...]:
    """Settings that were declared before, and that the checkpoint keeps at another value."""
    if not case.facts.started or not looked_at(case.request):
        return ()
    return tuple(
        f"{name} is declared as {value}, and the checkpoint keeps {case.facts.pinned[name]} until a new "
        "generation"
        for name, value in sorted(case.desired.conf.items())
        if case.facts.pinned.get(name, value) != value and recorded.conf.get(name) == value
    )


def looked_at(request: PlanRequest) -> bool:
    """Not with -refresh=none."""
    return not isinstance(request.observed, Present) or observed_facts(request.observed) is not None
