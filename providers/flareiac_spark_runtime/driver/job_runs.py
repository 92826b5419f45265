"""The jobs of an application: starts and stops them as is wanted, and keeps the last status of those that
ended.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from logging import Logger
from typing import Any, Final

from flareiac_spark_runtime.control import DesiredJob, JobStatus, Status
from flareiac_spark_runtime.driver import warm_start
from flareiac_spark_runtime.driver.job_runner import JobContext, JobRunner
from flareiac_spark_runtime.driver.reconcile import Forget, Running, Start, Stop, decide
from flareiac_spark_runtime.driver.wanted import Wanted

SessionWith = Callable[[Mapping[str, str]], Any]
"""Makes a session that has the catalogs of these settings."""
_JOIN_SECONDS: Final = 1.0


class JobRuns:
    """Changed by the application's loop alone; other threads read ``runners`` and ``statuses``.

    ``log_of`` gives the log of a job by its address.
    """

    def __init__(self, wanted: Wanted, log: Logger, log_of: Callable[[str], Logger]) -> None:
        self._wanted, self._log, self._log_of = wanted, log, log_of
        self._runners: dict[str, JobRunner] = {}
        self._before: dict[str, JobStatus] = {}
        self._finished: dict[str, JobStatus] = {}
        self._queries: dict[str, Mapping[str, str]] = {}
        self._ahead: dict[str, warm_start.WarmStart] = {}

    @property
    def runners(self) -> tuple[JobRunner, ...]:
        """The jobs whose threads live, as they are now."""
        return tuple(self._runners.copy().values())

    def adopt(self, previous: Status | None) -> None:
        """Goes on from the last status of an earlier process. Finite runs that it completed are not run
        again.
        """
        if previous is not None:
            self._before = dict(previous.jobs)
            self._finished = {
                address: job for address, job in previous.jobs.items() if job.phase == "completed"
            }

    def statuses(self, wanted: Mapping[str, DesiredJob]) -> dict[str, JobStatus]:
        """The status of each job that is wanted, runs or has ended, by address."""
        unstarted = {
            address: JobStatus(
                phase="stopped" if job.state == "stopped" else "pending", digest=job.digest, nonce=job.nonce
            )
            for address, job in wanted.items()
        }
        running = {
            address: replace(runner.status, waiting=runner.waiting)
            for address, runner in tuple(self._runners.items())
        }
        return {**unstarted, **dict(self._finished), **running}

    def settle(self) -> None:
        """Keeps what is left of the jobs that have ended."""
        for address, runner in tuple(self._runners.items()):
            if runner.has_ended:
                self._finished[address], self._queries[address] = runner.status, runner.queries
                del self._runners[address]

    def act(self, around: JobContext, session_with: SessionWith) -> None:
        """Brings what runs nearer to what is wanted."""
        wanted = self._wanted.jobs
        running = {
            address: Running(digest=runner.job.digest, nonce=runner.job.nonce, stopping=runner.is_stopping)
            for address, runner in self._runners.items()
        }
        for address, runner in self._runners.items():
            if (job := wanted.get(address)) is not None and (job.digest, job.nonce) == (
                runner.job.digest,
                runner.job.nonce,
            ):
                runner.revise(job)
        for act in decide(wanted, running, self._finished, self._wanted.held()):
            match act:
                case Start(address):
                    self._start(address, wanted[address], around)
                case Stop(address):
                    self._log.info("stopping %s", address)
                    self._runners[address].ask_to_stop()
                    self._prepare(address, wanted.get(address), session_with)
                case Forget(address):
                    del self._finished[address]
        # A job that is wanted again after its removal may have a new checkpoint in the old place.
        self._queries = {address: queries for address, queries in self._queries.items() if address in wanted}
        self._ahead = {address: ahead for address, ahead in self._ahead.items() if address in self._runners}

    def stop_all(self, seconds: float, turn: Callable[[], None]) -> None:
        """Asks all jobs to stop, and waits so long at most. ``turn`` is called again and again meanwhile."""
        for runner in self._runners.values():
            runner.ask_to_stop()
        deadline = time.monotonic() + seconds
        for runner in tuple(self._runners.values()):
            while runner.is_alive() and (left := deadline - time.monotonic()) > 0:
                runner.join(min(left, _JOIN_SECONDS))
                turn()
        self.settle()

    def _start(self, address: str, job: DesiredJob, around: JobContext) -> None:
        last = self._finished.pop(address, None) or self._before.get(address)
        log = self._log_of(address)
        ahead, queries = self._prepared(address, job), self._queries.get(address)
        runner = JobRunner(address, job, around, log, ahead, queries)
        if last is not None:
            runner.count_on_from(last)
        self._runners[address] = runner
        runner.start()

    def _prepare(self, address: str, job: DesiredJob | None, session_with: SessionWith) -> None:
        """Prepares the next start of a job that is stopped only to be started again."""
        self._ahead.pop(address, None)
        if job is None or job.state != "running":
            return
        conf = self._wanted.settings.conf
        begun = warm_start.begin(job, conf, lambda: session_with(conf), self._log_of(address))
        if begun is not None:
            self._ahead[address] = begun

    def _prepared(self, address: str, job: DesiredJob) -> warm_start.WarmStart | None:
        ahead = self._ahead.pop(address, None)
        return ahead if ahead is not None and ahead.fits(job, self._wanted.settings.conf) else None
