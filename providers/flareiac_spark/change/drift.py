"""Describes what changed outside of FlareIaC about a recorded job. Pure."""

from collections.abc import Iterator
from typing import Final

from flareiac.sdk.lakehouse import writers_of
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.results import Present
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.job_identity import recorded_identity
from flareiac_spark.generation.generation_plan import foreign_writers
from flareiac_spark.observation.job import ENDED, JobFacts, observed_facts

IDLE_SHUTDOWN: Final = "idle_shutdown"


def running(
    request: PlanRequest, recorded: JobDefinition, desired: JobDefinition, facts: JobFacts
) -> tuple[str, ...]:
    """What another start heals."""
    identity = recorded_identity(request.recorded)
    if not looked_at(request):
        return ()
    if recorded.stopped:
        return ("it was started by hand",) if facts.state == "running" and not recorded.is_finite else ()
    if recorded.is_finite:
        failed = facts.phase == "failed" and facts.digest == identity.digest and identity.result is None
        return (f"its run failed: {facts.error}",) if failed and recorded.run != "manual" else ()
    found = []
    if facts.digest is not None and facts.digest != identity.digest:
        found.append("another definition than the recorded one is set to run")
    return (*found, *_not_running(desired, facts))


def _not_running(desired: JobDefinition, facts: JobFacts) -> Iterator[str]:
    """Why a stream does not run; one that is silent is unwell, and nothing that a start would heal."""
    application = f"its Spark application ({desired.engine})"
    if facts.state == "stopped":
        yield "it was stopped by hand"
    elif facts.elsewhere:
        yield f"{application} is silent, and {facts.elsewhere} cannot be seen from here"
    elif facts.silent:
        return
    elif not facts.alive and facts.ended != IDLE_SHUTDOWN:
        yield f"{application} is not running" + (f": {facts.ended}" if facts.ended else "")
    elif facts.phase == "failed":
        yield f"it has failed: {facts.error}"
    elif not facts.alive:
        yield f"{application} ended because it was idle"


def at_rest(request: PlanRequest, recorded: JobDefinition, facts: JobFacts) -> bool:
    """Whether a batch job certainly does not run: nothing can happen to it, and its next run begins with what
    is there then.
    """
    if recorded.mode != "batch" or not looked_at(request):
        return False
    ended = facts.phase in (None, *ENDED) if facts.alive else not facts.silent
    return facts.state != "running" and ended


def foreign(request: PlanRequest, recorded: JobDefinition) -> tuple[str, ...]:
    """Who else writes the tables of its outputs."""
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
    found: list[str] = []
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
            found.append(
                f"{output.table} was rolled back: {batches} of output {name} ({undone.rows} rows) went "
                "with it, and the query, which has committed them, does not write them again"
            )
    return tuple(found)


def pinned_otherwise(
    request: PlanRequest, recorded: JobDefinition, desired: JobDefinition, facts: JobFacts
) -> tuple[str, ...]:
    """Settings that were declared before, and that the checkpoint keeps at another value."""
    if not facts.started or not looked_at(request):
        return ()
    return tuple(
        f"{name} is declared as {value}, and the checkpoint keeps {facts.pinned[name]} until a new generation"
        for name, value in sorted(desired.conf.items())
        if facts.pinned.get(name, value) != value and recorded.conf.get(name) == value
    )


def looked_at(request: PlanRequest) -> bool:
    """Not with -refresh=none."""
    return not isinstance(request.observed, Present) or observed_facts(request.observed) is not None
