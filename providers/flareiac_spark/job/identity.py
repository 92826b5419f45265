"""What is recorded of a job beside its definition, and what is said of one that was applied. Pure."""

from collections.abc import Collection
from typing import Final

from flareiac.kernel.data import Attributes, Reference
from flareiac.sdk.requests import ApplyRequest
from flareiac_spark.control import JobStatus

_FORMER_QUERIES: Final = 20
UNPROVEN: Final = "unproven"
"""Key in a job's identity: its definition was still at work on its first batch when it was recorded."""


def identity_of(
    request: ApplyRequest, digest: str, job: JobStatus | None, rebuilds: Attributes
) -> Attributes:
    """Which definition runs, as which queries, or what its run gave; and what was emptied for it."""
    before = dict(request.recorded.identity) if request.recorded else {}
    if (
        request.recorded
        and request.planned
        and request.recorded.attributes["generation"] != request.planned["generation"]
    ):
        # The new folder holds none of them, and what they committed is still no stranger's.
        gone = [query["id"] for query in (before.pop("queries", None) or {}).values()]
        former = [item for item in before.get("former_queries") or () if item not in gone]
        before["former_queries"] = [*former, *gone][-_FORMER_QUERIES:]
    identity: Attributes = {**before, "digest": digest, "result": _result(digest, job)}
    identity.pop(UNPROVEN, None)
    if rebuilds:
        identity["rebuilds"] = {**(identity.get("rebuilds") or {}), **rebuilds}
    if job is not None and job.queries:
        identity["queries"] = {
            query.output: {"id": query.id, "run_id": query.run_id} for query in job.queries
        }
    return identity


def _result(digest: str, job: JobStatus | None) -> Attributes | None:
    if job is None:
        return None
    if job.result is not None:
        result = job.result
        return {"run_id": result.run_id, "snapshot_id": result.snapshot_id, "rows": result.rows}
    return {"run_id": digest, "snapshot_id": None, "rows": None} if job.phase == "completed" else None


def left_behind(attributes: Attributes, going: Collection[str]) -> str:
    """What a job that is gone leaves, but for what the same plan destroys."""
    tables = [output["table"] for output in attributes["outputs"].values()]
    kept = [
        table
        for table in dict.fromkeys(table.address for table in tables if isinstance(table, Reference))
        if table not in going
    ]
    checkpoint = attributes["checkpoint"]
    own = (
        checkpoint.address if isinstance(checkpoint, Reference) and checkpoint.address not in going else None
    )
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
    """What a job has come to."""
    if not finite:
        return job.phase
    if job.result is None:
        return "completed"
    rows = "" if job.result.rows is None else f"{job.result.rows} rows"
    return f"completed {rows}".strip() + (" (by an earlier run)" if job.result.found else "")
