"""Looks now and then whether running jobs still read what they began with. A system that does not answer is
asked again later, and stops nothing: the status says what its jobs wait for.
"""

import datetime as dt
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from logging import Logger

from flareiac_spark_runtime.control import JobSpec, StreamInput
from flareiac_spark_runtime.driver.job_runner import JobRunner
from flareiac_spark_runtime.driver.jvm import jvm
from flareiac_spark_runtime.sources.kept import Kept
from flareiac_spark_runtime.sources.resolved import StartProblem, StartRefused
from flareiac_spark_runtime.storage import place_at

_EVERY_SECONDS, _AGAIN_SECONDS = 15.0, 1.0


class SourceWatch(threading.Thread):
    """Asks from ``start`` to ``end``. ``jobs``: those that the driver has at the moment. A problem that two
    looks in a row find ends its job: one answer may come from a broker that is behind.
    """

    def __init__(self, jobs: Callable[[], Sequence[JobRunner]], log: Logger) -> None:
        super().__init__(name="source watch", daemon=True)
        self._jobs, self._log = jobs, log
        self._kept, self._ended = Kept(), threading.Event()
        self._seen: dict[str, StartProblem] = {}
        self._well_at: dict[str, float] = {}

    def run(self) -> None:
        while not self._ended.wait(_AGAIN_SECONDS if self._seen else _EVERY_SECONDS):
            self.look()

    def end(self) -> None:
        """No look begins after this one; one that is under way is not waited for."""
        self._ended.set()

    def look(self) -> None:
        """Asks once for each running job."""
        before, self._seen = self._seen, {}
        for runner in self._jobs():
            spec, begun = runner.running, time.time()
            if spec is None:
                self._well_at.pop(runner.address, None)
                runner.wait_for("")
                continue
            problem, silent = self._problem_in(spec)
            runner.wait_for(silent)
            if problem is None:
                if not silent:
                    self._well_at[runner.address] = begun
            elif before.get(runner.address) == problem:
                well_at = max(self._well_at.get(runner.address, 0.0), runner.proven_at)
                runner.refuse(_seen_while_running(problem, well_at))
            else:
                self._seen[runner.address] = problem
        self._kept.sweep()

    def _problem_in(self, spec: JobSpec) -> tuple[StartProblem | None, str]:
        """The problem of a source that ends the job (None for none), and the reason that another one could
        not be asked (empty for none).
        """
        silent = ""
        checkpoints = [place_at(folder) for folder in spec.query_names]
        for job_input in spec.inputs:
            if isinstance(job_input, StreamInput):
                try:
                    problem = job_input.source.prove_running(jvm, checkpoints, self._kept)
                except StartRefused as refused:
                    silent = silent or refused.problem.why
                    continue
                except Exception as error:  # noqa: BLE001 - what cannot be looked at is no reason to stop
                    self._log.debug("%s, %s: not looked at: %s", spec.address, job_input.name, error)
                    continue
                if problem is not None:
                    return problem, silent
        return None, silent


def _seen_while_running(problem: StartProblem, well_at: float) -> StartProblem:
    since = dt.datetime.fromtimestamp(well_at, dt.UTC).isoformat(timespec="seconds")
    why = (
        f"{problem.why} This was found while the job ran: rows that it wrote since {since} may be of "
        "other records than those it had to read."
    )
    return replace(problem, why=why)
