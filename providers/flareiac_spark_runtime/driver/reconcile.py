"""Decides what to start, stop and forget: compares what should run with what runs. Pure, without memory of
earlier calls.
"""

from collections.abc import Collection, Mapping
from typing import TypeAlias

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.control import DesiredJob, JobStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A job whose thread lives."""

    digest: str
    nonce: int
    stopping: bool


@dataclass(frozen=True, slots=True)
class Start:
    address: str


@dataclass(frozen=True, slots=True)
class Stop:
    address: str


@dataclass(frozen=True, slots=True)
class Forget:
    """Its last status is of no more interest."""

    address: str


Act: TypeAlias = Start | Stop | Forget


def decide(
    desired: Mapping[str, DesiredJob],
    running: Mapping[str, Running],
    finished: Mapping[str, JobStatus],
    held: Collection[str] = (),
) -> tuple[Act, ...]:
    """Acts that bring what runs nearer to what should; a changed job is stopped first and started when it has
    ended. What is ``held`` is not started now.
    """
    answered = {address for address, last in finished.items() if _still_counts(desired.get(address), last)}
    return (
        *(
            Stop(address)
            for address, job in running.items()
            if not job.stopping and not _fits(desired.get(address), job)
        ),
        *(Forget(address) for address in finished if address not in {*running, *answered}),
        *(
            Start(address)
            for address, wanted in desired.items()
            if wanted.state == "running" and address not in {*running, *answered, *held}
        ),
    )


def _fits(wanted: DesiredJob | None, job: Running) -> bool:
    return wanted is not None and (wanted.state, wanted.digest, wanted.nonce) == (
        "running",
        job.digest,
        job.nonce,
    )


def _still_counts(wanted: DesiredJob | None, last: JobStatus | None) -> bool:
    """Returns True if a job's end is the answer to what is wanted: a completed run is done even while the job
    is stopped for a moment.
    """
    if wanted is None or last is None or (wanted.digest, wanted.nonce) != (last.digest, last.nonce):
        return False
    return last.phase == "completed" or (last.phase == "failed" and wanted.state == "running")
