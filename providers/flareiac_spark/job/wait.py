"""Waits until a job is stable, done or stopped, by the status that its application writes."""

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from flareiac.kernel.diagnostics import Diagnostic, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark import codes
from flareiac_spark.application import wait_for
from flareiac_spark.job.read import last_error
from flareiac_spark.observation.job import ENDED
from flareiac_spark_runtime.control import ControlDirectory, JobStatus, Status

WHILE_A_RUN_TAKES: Final = 30 * 24 * 3600.0
"""Seconds: a finite run takes as long as it takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The definition that must be the one that runs. ``name``: its job's in the application."""

    name: str
    digest: str
    nonce: int
    finite: bool

    def of(self, status: Status) -> JobStatus | None:
        """Its status, or None while the application still tells of another definition."""
        job = status.jobs.get(self.name)
        return job if job is not None and (job.digest, job.nonce) == (self.digest, self.nonce) else None


def settled(job: JobStatus, *, finite: bool) -> bool:
    """Returns True if nothing more is to be waited for: the job failed, ended, or is stable."""
    if job.phase in ("failed", "completed"):
        return True
    if finite:
        return False
    return job.phase == "idle" or (
        job.phase == "running" and bool(job.queries) and all(query.batch is not None for query in job.queries)
    )


def computes_its_first_batch(job: JobStatus | None) -> bool:
    """Returns True if every query has committed a batch or is at work on its first one, and none has
    failed.
    """
    if job is None or job.phase != "running" or job.failures or not job.queries:
        return False
    return all(query.batch is not None or query.running_seconds is not None for query in job.queries)


def wait_until_settled(
    control: ControlDirectory,
    wanted: Wanted,
    within_ms: int,
    cancel: threading.Event,
    progress: Callable[[str], None],
) -> JobStatus | None:
    """The job once it is settled; None when cancelled or not settled within the time. Raises ``Failure`` if
    the application dies.
    """
    last: list[str] = []

    def look(status: Status) -> JobStatus | None:
        job = wanted.of(status)
        if job is None:
            return None
        waiting = status.application.waiting
        said = f"waiting: {waiting}" if waiting else job.phase
        if said not in last:
            last[:] = [said]
            progress(said)
        return job if settled(job, finite=wanted.finite) else None

    timeout = WHILE_A_RUN_TAKES if wanted.finite else within_ms / 1000
    return wait_for(control, look, timeout=timeout, cancel=cancel)


def runs_no_more(status: Status, name: str) -> bool:
    """Returns True if the application reports that a job has come to its end, or does not know it."""
    job = status.jobs.get(name)
    return job is None or job.phase in ENDED


def wait_until_stopped(control: ControlDirectory, name: str, timeout: float, cancel: threading.Event) -> bool:
    """Waits, and returns True if the job runs no more within ``timeout`` seconds, else False. Raises
    ``Failure`` if the application dies (then the job runs no more either).
    """

    def look(status: Status) -> bool:
        return runs_no_more(status, name)

    return bool(wait_for(control, look, timeout=timeout, cancel=cancel))


def not_stable(
    address: str, job: JobStatus | None, within_ms: int, cancelled: bool, log: str, *, waiting: str = ""
) -> Diagnostic:
    """The error of a job that did not become stable. ``waiting``: the reason that its application has no
    executors.
    """
    if cancelled:
        diagnostic = error(
            codes.START_CANCELLED, f"The apply was cancelled before {address} was stable.", address=address
        )
        return replace(diagnostic, cancelled=True)
    if job is not None and job.phase == "failed":
        text = last_error(job) or "The application gives no reason."
        kind = (
            "Another start would fail the same way until the cause is removed."
            if job.last_error and job.last_error.permanent
            else ""
        )
        return error(
            codes.JOB_FAILED,
            f"{text}\n{kind} The log of {address} is {log}.".replace("\n The", "\nThe"),
            address=address,
        )
    said = f" Its last error: {last_error(job)}." if last_error(job) else ""
    if waiting:
        said += f" It waits: {waiting}."
    return error(
        codes.JOB_NOT_STABLE,
        f"{address} was started and has committed no batch after {within_ms / 1000:.0f} s.{said} "
        f"Raise stability = {{ within = ... }} if it needs longer. Its log is {log}.",
        address=address,
    )


def still_running(address: str, seconds: float, cancelled: bool) -> Diagnostic:
    """The error of a job that counts as running although it was asked to stop."""
    why = (
        f"The command was cancelled before {address} had stopped."
        if cancelled
        else f"{address} did not stop within {seconds:.0f} s."
    )
    detail = (
        f"{why} It stops when its batch has ended and its application lives; nothing that needs it "
        "stopped was done. Apply again then."
    )
    return replace(error(codes.JOB_NOT_STOPPED, detail, address=address), cancelled=cancelled)
