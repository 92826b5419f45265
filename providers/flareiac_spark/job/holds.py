"""Keeps jobs from being started while Spark is asked about their changes. Touches control directories."""

import contextlib
import threading
import time
from collections.abc import Collection, Sequence
from functools import partial
from types import TracebackType
from typing import Final, NamedTuple, Self

from flareiac.kernel.diagnostics import Failure
from flareiac_spark.definition.job_identity import KnownJob
from flareiac_spark.engine.application import Applications
from flareiac_spark.engine.engine_definition import EngineDefinition
from flareiac_spark_runtime.control import Desired

_TERM: Final = 60.0
"""Seconds for which a job is held unless it is held again: for so long jobs of a command that died wait."""


class HeldJob(NamedTuple):
    """``down_since``: when it was at work for the last time (UTC seconds)."""

    engine: EngineDefinition
    job: KnownJob
    down_since: float


class Holds:
    """Jobs are held from the beginning of the ``with`` block to its end, those that are ``kept`` until they
    are put among what should run. The holds of a process that dies end by themselves.
    """

    def __init__(self, applications: Applications, jobs: Sequence[HeldJob]) -> None:
        self._applications = applications
        self._jobs = tuple(jobs)
        self._kept: Collection[str] = ()
        self._let_go = threading.Event()

    def __enter__(self) -> Self:
        """Raises ``Failure``."""
        for held in self._jobs:
            self._revise(held, again=False)
        if self._jobs:
            threading.Thread(target=self._renew, name="holds", daemon=True).start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _failure: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if not self._kept:
            self._let_go.set()
        for engine, job, _since in self._jobs:
            if job.address not in self._kept:
                with contextlib.suppress(Failure):  # the hold ends by itself
                    self._applications.revise(engine, partial(_without_held, job))

    def keep(self, addresses: Collection[str]) -> None:
        """The jobs that are about to be put among what should run."""
        self._kept = frozenset(addresses)

    def _renew(self) -> None:
        jobs = list(self._jobs)
        while jobs and not self._let_go.wait(_TERM / 3):
            for job in tuple(jobs):
                try:
                    held = self._revise(job, again=True)
                except Failure:
                    continue  # the next time, or the hold ends
                if not held:
                    jobs.remove(job)

    def _revise(self, held_job: HeldJob, *, again: bool) -> bool:
        """Holds a job; True where it is held then. ``again``: only if it still is."""
        held = False

        def changed(current: Desired) -> Desired:
            nonlocal held
            name, now = held_job.job.name_in(current), time.time()
            held = not again or name in current.held
            if name not in current.held_at(now) and not again:
                current = current.without_held(name)  # what is left of a hold that ended
            return current.with_held(name, now + _TERM, held_job.down_since) if held else current

        self._applications.revise(held_job.engine, changed)
        return held


def _without_held(job: KnownJob, current: Desired) -> Desired:
    return current.without_held(job.name_in(current))
