"""The identity of a job that is recorded beside its definition, and the texts about a job that was applied.
Pure.
"""

from collections.abc import Collection, Mapping
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.kernel.records import encode
from flareiac.sdk.requests import ChangeRequest
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.job_identity import (
    EmptiedTable,
    JobIdentity,
    RunResult,
    StartedQuery,
    recorded_identity,
)
from flareiac_spark_runtime.control import JobStatus

_FORMER_QUERIES: Final = 20


def identity_after(
    request: ChangeRequest,
    digest: str,
    job: JobStatus | None,
    rebuilds: Mapping[str, EmptiedTable],
    *,
    known_as: str,
    unproven: bool = False,
) -> Attributes:
    """The definition that runs, its queries or the result of its run, and the tables emptied for it.
    ``known_as``: see ``JobIdentity``.
    """
    before = recorded_identity(request.action.recorded)
    queries, former = before.queries, before.former_queries
    if _is_another_generation(request):
        # The new folder holds none of them, and what they committed is still no stranger's.
        gone = [query.id for query in queries.values() if query.id is not None]
        former = (*(query_id for query_id in former if query_id not in gone), *gone)[-_FORMER_QUERIES:]
        queries = {}
    if job is not None and job.queries:
        queries = {query.output: StartedQuery(id=query.id, run_id=query.run_id) for query in job.queries}
    identity: Attributes = encode(
        JobIdentity(
            digest=digest,
            queries=queries,
            former_queries=former,
            rebuilds={**before.rebuilds, **rebuilds},
            result=_result(digest, job),
            unproven=unproven,
            known_as=known_as,
            proofs=before.proofs,
        )
    )
    return identity


def _is_another_generation(request: ChangeRequest) -> bool:
    if (recorded := request.action.recorded) is None:
        return False
    before, after = JobDefinition.of(recorded.attributes), JobDefinition.of(request.action.planned)
    return before.generation != after.generation


def _result(digest: str, job: JobStatus | None) -> RunResult | None:
    if job is None:
        return None
    if job.result is not None:
        result = job.result
        return RunResult(run_id=result.run_id, snapshot_id=result.snapshot_id, rows=result.rows)
    return RunResult(run_id=digest) if job.phase == "completed" else None


def left_behind(job: JobDefinition, going: Collection[str]) -> str:
    """The tables and the checkpoint that a removed job leaves, but for those that the same plan destroys; in
    words.
    """
    tables = dict.fromkeys(output.table.address for output in job.table_outputs.values())
    kept = [table for table in tables if table not in going]
    own = job.checkpoint.address if job.checkpoint is not None else None
    own = None if own in going else own
    if not kept:
        return f"stopped; {own} stays" if own else "stopped"
    rows = "its rows stay" if len(kept) == 1 else "their rows stay"
    return f"stopped; {' and '.join(kept)} and {rows}" + (f", {own} too" if own else "")


def first_batch(within_ms: int) -> str:
    """A warning, not a failure: a first batch may be large, and many partitions take their time on few
    cores.
    """
    return (
        f"Warning: it runs, and its first batch is not committed after {within_ms / 1000:.0f} s. It counts "
        "as applied, and not yet as a definition to roll back to; flareiac status tells when it has "
        "committed"
    )


def reached(job: JobStatus, finite: bool) -> str:
    """The phase or the result that a job has come to, in words."""
    if not finite:
        return job.phase
    if job.result is None:
        return "completed"
    rows = "" if job.result.rows is None else f"{job.result.rows} rows"
    return f"completed {rows}".strip() + (" (by an earlier run)" if job.result.found else "")
