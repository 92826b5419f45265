"""The driver's life: take the lease, start Spark, bring about what should run, and leave in order. Everything
else is asked of others.
"""

import concurrent.futures
import os
import signal
import sys
import threading
import time
import uuid
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import replace
from logging import Logger
from typing import TYPE_CHECKING, Any, Literal

from flareiac import __version__
from flareiac.kernel import kill_points
from flareiac.kernel.host import this_host
from flareiac.kernel.signals import SignalRelay
from flareiac.sdk.secrets import masked
from flareiac_spark_runtime.control import (
    ApplicationSettings,
    ApplicationStatus,
    ControlError,
    Desired,
    DesiredJob,
    End,
    JobStatus,
    Result,
    Status,
    Trouble,
    moment,
    this_process,
)
from flareiac_spark_runtime.control.operations import ENDING, MAINTENANCE, UNANSWERED
from flareiac_spark_runtime.control.processes import start_of
from flareiac_spark_runtime.control.status import ASKED_TO_STOP
from flareiac_spark_runtime.driver import logs, preload, warm_start
from flareiac_spark_runtime.driver.checkpoints import Checkpoints
from flareiac_spark_runtime.driver.cluster_watch import ClusterWatch, watch_of
from flareiac_spark_runtime.driver.counters import Counters
from flareiac_spark_runtime.driver.gateway import end_jvm
from flareiac_spark_runtime.driver.job_runner import JobContext, JobRunner
from flareiac_spark_runtime.driver.leadership import Leadership, take_lease
from flareiac_spark_runtime.driver.log_lines import LogLines
from flareiac_spark_runtime.driver.log_upload import LogUpload
from flareiac_spark_runtime.driver.lookout import Lookout
from flareiac_spark_runtime.driver.maintenance import TableLocks
from flareiac_spark_runtime.driver.masked_output import masked_output
from flareiac_spark_runtime.driver.master_port import await_master
from flareiac_spark_runtime.driver.monitoring import Monitoring
from flareiac_spark_runtime.driver.open_control import Opened, open_control, started_without_jars
from flareiac_spark_runtime.driver.operations import OperationContext, serve
from flareiac_spark_runtime.driver.previous_jvm import wait_until_gone
from flareiac_spark_runtime.driver.reconcile import Forget, Running, Start, Stop, decide
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.driver.root_cause import root_cause_of
from flareiac_spark_runtime.driver.source_watch import SourceWatch
from flareiac_spark_runtime.driver.spark_session import (
    LAUNCH_CONF,
    Started,
    machine_master,
    new_session,
    set_catalogs,
    start_spark,
    stop_spark,
)
from flareiac_spark_runtime.masters import is_local

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXIT_DONE, EXIT_FAILED, EXIT_LEASE_HELD, EXIT_LEASE_LOST = 0, 1, 3, 4
_START_AGAIN = -1
"""The result of ``run`` after which the same process is to start the driver once more."""
_TABLES_AT_A_TIME = 4
_JVM_END_SECONDS = 30.0
_JOIN_SECONDS = 1.0
_ACT_SECONDS = 1.0
"""A change wakes the loop at once; what only time changes, such as the end of a hold, is seen as often."""
_NEW_SETTINGS = "its settings changed; whoever runs it starts it again"
_REGISTERS_AGAIN = "its master was started again and does not know it, so that it starts again"
_FENCED = (
    "This process, or its machine, stood still, or its control directory could not be reached, for so long "
    "that another driver may have taken over. So Spark was ended. Start it again with flareiac apply: each "
    "job goes on from its checkpoint."
)


class Application:
    """``run`` returns the exit code of the process, or ``_START_AGAIN``."""

    def __init__(self, opened: Opened) -> None:
        self._opened, self._control = opened, opened.control
        self._lookout = Lookout(self._control)
        self._upload = LogUpload(self._control)
        self._lines = LogLines()
        self._log = logs.logger("application", self._control.application_log, self._lines)
        self._upload.follow(self._log, "application")
        self._id = uuid.uuid4().hex
        self._desired: Desired | None = None
        self._stamp: Hashable = None
        self._settings = ApplicationSettings()
        self._runners: dict[str, JobRunner] = {}
        self._before: dict[str, JobStatus] = {}
        self._finished: dict[str, JobStatus] = {}
        self._queries: dict[str, Mapping[str, str]] = {}
        self._ahead: dict[str, warm_start.WarmStart] = {}
        self._operations: dict[str, concurrent.futures.Future[None]] = {}
        self._unwritten: dict[str, Result] = {}
        self._pool = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="operation")
        self._maintenance = concurrent.futures.ThreadPoolExecutor(
            _TABLES_AT_A_TIME, thread_name_prefix="maintenance"
        )
        self._table_locks = TableLocks()
        self._wake, self._ending = threading.Event(), threading.Event()
        self._checkpoints = Checkpoints()
        self._busy_at = time.monotonic()
        self._about = self._describe()
        self._counters = Counters()
        self._leadership: Leadership | None = None
        self._monitoring: Monitoring | None = None
        self._watch = SourceWatch(lambda: tuple(self._runners.copy().values()), self._log)
        self._cluster: ClusterWatch | None = None

    def run(self) -> int:
        relay = SignalRelay(self._end)
        for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(sign, relay)
        try:
            lease = take_lease(self._control, self._id, self._ending, self._log)
        except ControlError as failure:
            return self._refuse(str(failure), EXIT_FAILED)
        if lease is None:
            return self._refuse("another driver runs this application", EXIT_LEASE_HELD)
        kill_points.reach("driver.lease-taken")
        previous = self._previous()
        self._before = dict(previous.jobs) if previous is not None else {}
        wait_until_gone(previous, self._log)
        self._adopt(previous)
        self._leadership = Leadership(self._control, lease, self._status, self._log, self._upload.flush)
        self._leadership.start()
        self._monitoring = Monitoring(self._leadership, self._status, self._counters, self._log)
        return self._lead(self._leadership, self._monitoring)

    def _previous(self) -> Status | None:
        try:
            return self._control.read_status()
        except ControlError as failure:
            self._log.warning("the last status is left aside: %s", failure)
            return None

    def _lead(self, leadership: Leadership, monitoring: Monitoring) -> int:
        started, code, reason = None, EXIT_FAILED, ""
        try:
            with suppress(ControlError):  # it only informs
                self._control.forget_refused_start()
            self._leave_unanswered()
            started = self._start(monitoring)
            leadership.guard(started.jvm_pid)
            leadership.publish_soon()
            self._watch.start()
            self._cluster = watch_of(started.session, self._log, self._note, self._on_change)
            reason = self._reconcile(started, leadership, monitoring)
            code = EXIT_LEASE_LOST if leadership.lost.is_set() else EXIT_DONE
            if self._is_forgotten:
                code = _START_AGAIN
        except Exception as failure:  # noqa: BLE001 - whatever ends the application, its queries are stopped and its last word is written
            cause = root_cause_of(failure)
            reason = f"{cause.error_class}: {cause.message}"
            self._log.exception("the application failed")
        finally:
            code = self._leave(started, leadership, monitoring, code, reason)
        return code

    def _leave(
        self,
        started: Started | None,
        leadership: Leadership,
        monitoring: Monitoring,
        code: int,
        reason: str,
    ) -> int:
        """In order; returns the exit code."""
        monitoring.begin_end()
        self._watch.end()
        if self._cluster is not None:
            self._cluster.end()
        self._stop_all(monitoring)
        if started is not None:
            stop_spark(started)
        monitoring.end()
        if self._ending.is_set() and code == _START_AGAIN:
            code, reason = EXIT_DONE, ASKED_TO_STOP
        phase: Literal["starting", "ended"] = "starting" if code == _START_AGAIN else "ended"
        self._about = replace(self._about, phase=phase, reason=reason)
        self._log.info("ended: %s", reason)
        if code != _START_AGAIN:
            sys.stderr.write(f"flareiac driver ended: {reason}\n")
        # Before the JVM ends, through which object storage is written; who follows waits for that end.
        leadership.end()
        end_jvm(_JVM_END_SECONDS)
        return code

    # Starting

    def _start(self, monitoring: Monitoring) -> Started:
        desired = self._control.read_desired()
        self._settings = desired.application if desired is not None else ApplicationSettings()
        self._adopt_settings(monitoring)
        self._about = replace(self._about, name=self._settings.name, digest=self._settings.digest)
        if LAUNCH_CONF not in os.environ:
            raise Refusal("JARS_UNKNOWN", started_without_jars(self._control.place))
        self._opened.refuse_others(self._settings)
        await_master(machine_master(), self._ending.wait)
        self._log.info("starting Spark for %s", self._settings.name)
        started = start_spark(self._settings, self._control.scratch)
        self._about = replace(
            self._about,
            phase="running",
            jvm_pid=started.jvm_pid,
            jvm_pid_started=start_of(started.jvm_pid),
            spark_version=started.spark_version,
            java_version=started.java_version,
            ui=started.ui,
        )
        self._log.info("Spark %s runs on Java %s", started.spark_version, started.java_version)
        if is_local(machine_master()):
            preload.begin(started.session)
        return started

    def _adopt(self, previous: Status | None) -> None:
        """Finite runs that an earlier process completed are not run again."""
        if previous is not None:
            self._finished = {
                address: job for address, job in previous.jobs.items() if job.phase == "completed"
            }

    def _leave_unanswered(self) -> None:
        """Answers each operation that an earlier process left open, without starting it again: it may have
        ended that process, and no one waits for it any more.
        """
        self._unwritten = {
            name: Result(id=name, status="failed", error=UNANSWERED)
            for name in self._control.open_operations()
        }

    def _describe(self) -> ApplicationStatus:
        me = this_process()
        here = this_host()
        return ApplicationStatus(
            id=self._id,
            name="",
            host=here.name,
            place=here,
            release=__version__,
            pid=me.pid,
            pid_started=me.started,
            phase="starting",
        )

    def _refuse(self, why: str, code: int) -> int:
        self._log.error("%s", why)
        sys.stderr.write(f"flareiac driver refused to start: {why}\n")
        return code

    # Running

    def _reconcile(self, started: Started, leadership: Leadership, monitoring: Monitoring) -> str:
        """Until there is a reason to end; returns it."""
        around = JobContext(
            new_session=lambda: _new_session(started.session, self._settings.conf),
            checkpoints=self._checkpoints,
            graceful_seconds=self._graceful_seconds,
            changed=self._on_change,
            counters=self._counters,
        )
        self._busy_at = time.monotonic()
        is_due, acts_at = True, 0.0
        while True:
            monitoring.turn()
            reason = self._reason_to_end(started, leadership)
            if reason is not None:
                return reason
            seen = self._lookout.look()
            if seen is not None:
                self._watch_desired(started, seen.desired)
                self._adopt_settings(monitoring)
            if self._settings.supervised and self._settings.digest != self._about.digest:
                return _NEW_SETTINGS
            if is_due or self._wake.is_set() or time.monotonic() >= acts_at:
                self._settle()
                self._act(around, started)
                acts_at = time.monotonic() + _ACT_SECONDS
            self._serve_operations(started, seen is not None and seen.asked)
            if self._is_idle():
                return "idle_shutdown"
            is_due = self._lookout.pause(self._wake)

    def _reason_to_end(self, started: Started, leadership: Leadership) -> str | None:
        """The reason to end in order, None to go on. Raises the error where the application has failed."""
        if self._ending.is_set():
            return ASKED_TO_STOP
        if leadership.lost.is_set():
            return leadership.why_lost
        if leadership.has_fenced:
            raise Refusal("LEASE_NOT_RENEWED", _FENCED)
        if started.process is not None and started.process.poll() is not None:
            raise RuntimeError(f"Spark's JVM ended with code {started.process.returncode}")
        if self._cluster is not None and self._cluster.ended:
            raise Refusal("APPLICATION_REMOVED", self._cluster.ended)
        return _REGISTERS_AGAIN if self._is_forgotten else None

    def _graceful_seconds(self) -> float:
        """No batch comes to its end where there will be no executors."""
        return 0.0 if self._is_forgotten else self._settings.graceful_stop_ms / 1000

    @property
    def _is_forgotten(self) -> bool:
        return self._cluster is not None and self._cluster.is_forgotten

    def _note(self, text: str) -> None:
        """In the log of every job that runs."""
        for runner in tuple(self._runners.copy().values()):
            runner.note(text)

    def _watch_desired(self, started: Started, stamp: Hashable) -> None:
        if stamp is None or stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            desired = self._control.read_desired()
            if desired is None:
                return
            self._refuse_foreign(desired)
        except ControlError as failure:
            # What runs goes on: an unreadable wish is no wish to stop.
            if failure.kind is Trouble.UNREACHABLE:
                self._stamp = None  # it may be reached at the next look
            self._about = replace(self._about, trouble=str(failure))
            self._log.error("what should run cannot be read: %s", failure)
        else:
            if desired.application.log_level != self._settings.log_level:
                started.session.sparkContext.setLogLevel(desired.application.log_level)
            self._desired, self._settings = desired, desired.application
            self._about = replace(self._about, trouble=None)
        self._on_change()

    def _adopt_settings(self, monitoring: Monitoring) -> None:
        """Takes over the settings that have an effect of their own while the application runs."""
        self._lines.as_json = self._settings.log_format == "json"
        monitoring.adopt(self._settings)

    def _refuse_foreign(self, desired: Desired) -> None:
        self._control.refuse_copy(desired)
        known = self._desired
        if (
            known is not None
            and known.jobs
            and (known.lineage, known.workspace) != (desired.lineage, desired.workspace)
        ):
            raise ControlError(
                Trouble.FOREIGN,
                f"{self._control.place}/desired.json",
                "it belongs to another project or workspace now",
            )

    def _settle(self) -> None:
        for address, runner in tuple(self._runners.items()):
            if runner.has_ended:
                self._finished[address], self._queries[address] = runner.status, runner.queries
                del self._runners[address]

    def _act(self, around: JobContext, started: Started) -> None:
        wanted: Mapping[str, DesiredJob] = self._desired.jobs if self._desired is not None else {}
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
        for act in decide(wanted, running, self._finished, self._held()):
            match act:
                case Start(address):
                    last = self._finished.pop(address, None) or self._before.get(address)
                    log = self._log_of(address)
                    ahead, queries = self._prepared(address, wanted[address]), self._queries.get(address)
                    runner = JobRunner(address, wanted[address], around, log, ahead, queries)
                    if last is not None:
                        runner.count_on_from(last)
                    self._runners[address] = runner
                    runner.start()
                case Stop(address):
                    self._log.info("stopping %s", address)
                    self._runners[address].ask_to_stop()
                    self._prepare(address, wanted.get(address), started)
                case Forget(address):
                    del self._finished[address]
        # A job that is wanted again after its removal may have a new checkpoint in the old place.
        self._queries = {address: queries for address, queries in self._queries.items() if address in wanted}
        self._ahead = {address: ahead for address, ahead in self._ahead.items() if address in self._runners}

    def _prepare(self, address: str, job: DesiredJob | None, started: Started) -> None:
        """Prepares the next start of a job that is stopped only to be started again."""
        self._ahead.pop(address, None)
        if job is None or job.state != "running":
            return
        conf, log = self._settings.conf, self._log_of(address)
        begun = warm_start.begin(job, conf, lambda: _new_session(started.session, conf), log)
        if begun is not None:
            self._ahead[address] = begun

    def _log_of(self, address: str) -> Logger:
        log = logs.logger(f"job.{address}", self._control.job_log(address), self._lines)
        self._upload.follow(log, self._control.log_name(address))
        return log

    def _prepared(self, address: str, job: DesiredJob) -> warm_start.WarmStart | None:
        ahead = self._ahead.pop(address, None)
        return ahead if ahead is not None and ahead.fits(job, self._settings.conf) else None

    def _serve_operations(self, started: Started, asked: bool) -> None:
        self._operations = {name: future for name, future in self._operations.items() if not future.done()}
        for name in self._open_operations() if asked else ():
            if name.startswith(ENDING) and self._is_asked_to_end(name):
                self._end()
            elif name not in self._operations:
                pool = self._maintenance if name.startswith(MAINTENANCE) else self._pool
                self._operations[name] = pool.submit(self._answer, name, started.session)

    def _is_asked_to_end(self, name: str) -> bool:
        """Returns True if the operation asks this very application to end, after it has answered it."""
        try:
            operation = self._control.read_operation(name)
            if operation is None or operation.work != End(application=self._id):
                return False
            self._control.write_result(Result(id=name, status="done"))
        except ControlError as failure:
            self._log.warning("what was asked cannot be answered: %s", failure)
            return False
        return True

    def _open_operations(self) -> tuple[str, ...]:
        try:
            return self._control.open_operations()
        except ControlError as failure:
            self._log.warning("what was asked cannot be seen: %s", failure)
            return ()

    def _answer(self, name: str, session: "SparkSession") -> None:
        """Serves an operation and writes its result, which is kept where it cannot be written yet: the work
        is not done again.
        """
        result = self._unwritten.get(name) or self._serve(name, session)
        if result is None:
            return
        try:
            self._control.write_result(result)
        except ControlError as failure:
            if name not in self._unwritten:
                self._log.error("a result waits to be written: %s", failure)
            self._unwritten[name] = result
        else:
            self._unwritten.pop(name, None)

    def _serve(self, name: str, session: "SparkSession") -> Result | None:
        try:
            operation = self._control.read_operation(name)
            if operation is None or self._control.read_result(name) is not None:
                return None
            workshop = OperationContext(
                new_session=lambda: _new_session(session, self._settings.conf),
                checkpoints=self._checkpoints,
                log=self._log,
                locks=self._table_locks,
                pause=self._ending.wait,
            )
            with self._counters.maintains(operation.work):
                return serve(operation, workshop)
        except Exception as failure:  # noqa: BLE001 - an operation's failure is its result
            self._log.exception("the operation %s failed", name)
            if self._ending.is_set():
                # It failed because Spark was ended under it
                return Result(id=name, status="failed", error=UNANSWERED)
            cause = root_cause_of(failure)
            return Result(id=name, status="failed", error=f"{cause.error_class}: {cause.message}")

    def _held(self) -> frozenset[str]:
        """The jobs that are not to be started yet."""
        return self._desired.held_at(time.time()) if self._desired is not None else frozenset()

    def _is_idle(self) -> bool:
        if self._runners or self._operations or self._held():
            self._busy_at = time.monotonic()
        allowed = self._settings.idle_shutdown_ms
        return allowed is not None and time.monotonic() - self._busy_at > allowed / 1000

    # Saying

    def _status(self) -> Status:
        desired = self._desired
        stopped = {
            address: JobStatus(
                phase="stopped" if job.state == "stopped" else "pending", digest=job.digest, nonce=job.nonce
            )
            for address, job in (desired.jobs if desired is not None else {}).items()
        }
        running = {
            address: replace(runner.status, waiting=runner.waiting)
            for address, runner in tuple(self._runners.items())
        }
        now = moment()
        waiting = self._cluster.waiting if self._cluster is not None else ""
        trouble = self._monitoring.trouble if self._monitoring is not None else None
        return Status(
            application=replace(
                self._about, waiting=masked(waiting), monitoring_trouble=masked(trouble or "")
            ),
            heartbeat=now.wall,
            uptime=now.uptime,
            beat=self._control.rhythm.beat,
            observed_revision=desired.revision if desired is not None else 0,
            jobs={**stopped, **dict(self._finished), **running},
        )

    def _on_change(self) -> None:
        self._wake.set()
        if self._leadership is not None:
            self._leadership.publish_soon()

    def _end(self) -> None:
        self._ending.set()
        self._wake.set()

    # Ending

    def _stop_all(self, monitoring: Monitoring) -> None:
        for runner in self._runners.values():
            runner.ask_to_stop()
        deadline = time.monotonic() + self._graceful_seconds() + _JVM_END_SECONDS
        for runner in tuple(self._runners.values()):
            while runner.is_alive() and (left := deadline - time.monotonic()) > 0:
                runner.join(min(left, _JOIN_SECONDS))
                monitoring.turn()
        self._settle()
        for pool in (self._pool, self._maintenance):
            pool.shutdown(wait=False, cancel_futures=True)


def _new_session(root: Any, conf: Mapping[str, str]) -> Any:
    """A session with the catalogs as they are wanted now: they are no part of what only a new JVM can
    take.
    """
    session = new_session(root)
    set_catalogs(session, conf)
    return session


def main(path: str, refused: Callable[[str], None] = lambda _reason: None) -> int:
    """Runs the driver of a control directory, as ``flareiac apply`` starts it: with the class path in its
    environment. ``refused`` is given the reason of a start that failed before the directory could be used.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        opened = open_control(path)
        if not opened.control.is_used():
            raise Refusal("NOT_A_CONTROL_DIRECTORY", f"{opened.control.place} is not a control directory")
    except Exception as failure:  # noqa: BLE001 - whatever keeps it from starting is said, and its JVM ended
        end_jvm(_JVM_END_SECONDS)
        reason = _said(failure)
        refused(reason)
        sys.stderr.write(f"flareiac driver refused to start: {reason}\n")
        return EXIT_FAILED
    with masked_output():
        code = Application(opened).run()
    if code == _START_AGAIN:
        # The same process: a supervisor sees it go on. Nothing of the old Spark stays.
        os.execv(sys.executable, [sys.executable, "-m", "flareiac_spark_runtime.driver", path])  # noqa: S606 - itself
    return code


def _said(failure: Exception) -> str:
    if isinstance(failure, ControlError | OSError | Refusal):
        return masked(str(failure))
    return root_cause_of(failure).message
