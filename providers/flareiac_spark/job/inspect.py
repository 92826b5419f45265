"""What is a job doing now, for ``status`` and ``logs``? Touches the control directory, by reading only."""

from collections.abc import Sequence

from flareiac.kernel.data import Attributes
from flareiac.sdk.provider import Recorded
from flareiac_spark.application import Liveness, liveness, why_unknown
from flareiac_spark.control import JobStatus, QueryStatus
from flareiac_spark.engine.application import Applications, read_desired, read_status
from flareiac_spark.job.health import complaints
from flareiac_spark.job.read import heart
from flareiac_spark.job.spec import is_finite


def inspect_job(address: str, recorded: Recorded, applications: Applications) -> Attributes:
    """The keys of ``flareiac.sdk.provider.Inspecting``, and ``queries`` for a job with several outputs. Raises ``Failure``."""
    control = applications.control(recorded.attributes["application"])
    status, desired = read_status(control), read_desired(control)
    job = status.jobs.get(address) if status else None
    wanted = desired.jobs.get(address) if desired else None
    lives = liveness(status)
    first = job.queries[0] if job and job.queries else None
    silent = why_unknown(status) if status is not None and lives is Liveness.UNKNOWN and wanted and wanted.state == "running" else ""
    phase = _phase(recorded, job, lives, wanted.state if wanted else None)
    return {
        "phase": phase,
        "run_id": first.run_id if first else None,
        "batch": first.batch if first else None,
        "last_commit": max((query.last_commit for query in job.queries if query.last_commit), default=None) if job else None,
        "lag": _lag(job.queries) if job else None,
        "input_rows_per_second": first.input_rows_per_second if first else None,
        "processed_rows_per_second": first.processed_rows_per_second if first else None,
        "watermark": first.watermark if first else None,
        "state_rows": first.state_rows if first else None,
        "failures": job.failures if job else 0,
        "last_error": heart(job),
        "health": list(complaints(recorded.attributes, job, silent=silent)) if lives is not Liveness.GONE else [],
        "log": str(control.job_log(address)),
        "queries": {query.output: {"id": query.id, "run_id": query.run_id, "batch": query.batch} for query in job.queries} if job else {},
    }


def _phase(recorded: Recorded, job: JobStatus | None, lives: Liveness, state: str | None) -> str:
    if is_finite(recorded.attributes) and recorded.identity.get("result"):
        return "completed"
    if lives is Liveness.UNKNOWN:
        return "unknown"
    if lives is Liveness.GONE:
        return "stopped" if state != "running" else "dead"
    return job.phase if job else "pending"


def _lag(queries: Sequence[QueryStatus]) -> str | None:
    """In words, and None where the sources do not tell how far ahead they are (a folder of files does not)."""
    known = [
        source["end"] == source["latest"]
        for query in queries
        for source in query.lag.values()
        if isinstance(source, dict) and source.get("latest") is not None
    ]
    return None if not known else "none" if all(known) else "behind"
