"""The driver's life: take the lease, start Spark, bring about what should run, and leave in order. Everything
else is asked of others: ``wanted`` knows what should run, ``job_runs`` what runs, ``operation_desk`` what is
asked once.
"""

import os
import signal
import sys
import threading
import time
import uuid
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import replace
from logging import Logger
from typing import Literal

from flareiac import __version__
from flareiac.kernel import kill_points
from flareiac.kernel.host import this_host
from flareiac.kernel.signals import SignalRelay
from flareiac.sdk.secrets import masked
from flareiac_spark_runtime.control import (
    ApplicationStatus,
    ControlError,
    Desired,
    JobStatus,
    Status,
    moment,
    this_process,
)
from flareiac_spark_runtime.control.processes import start_of
from flareiac_spark_runtime.control.status import ASKED_TO_STOP
from flareiac_spark_runtime.driver import logs, preload
from flareiac_spark_runtime.driver.checkpoints import Checkpoints
from flareiac_spark_runtime.driver.cluster_watch import ClusterWatch, watch_of
from flareiac_spark_runtime.driver.counters import Counters
from flareiac_spark_runtime.driver.gateway import JVM_END_SECONDS, end_jvm
from flareiac_spark_runtime.driver.job_lineage import Lineage
from flareiac_spark_runtime.driver.job_runner import JobContext
from flareiac_spark_runtime.driver.job_runs import JobRuns
from flareiac_spark_runtime.driver.leadership import Leadership, take_lease
from flareiac_spark_runtime.driver.log_lines import LogLines
from flareiac_spark_runtime.driver.log_upload import LogUpload
from flareiac_spark_runtime.driver.lookout import Lookout
from flareiac_spark_runtime.driver.master_port import await_master
from flareiac_spark_runtime.driver.monitoring import Monitoring
from flareiac_spark_runtime.driver.open_control import Opened, started_without_jars
from flareiac_spark_runtime.driver.operation_desk import OperationDesk
from flareiac_spark_runtime.driver.operations import OperationContext
from flareiac_spark_runtime.driver.previous_jvm import wait_until_gone
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.driver.root_cause import root_cause_of
from flareiac_spark_runtime.driver.source_watch import SourceWatch
from flareiac_spark_runtime.driver.spark_session import (
    LAUNCH_CONF,
    Started,
    machine_master,
    session_with,
    start_spark,
    stop_spark,
)
from flareiac_spark_runtime.driver.wanted import Wanted
from flareiac_spark_runtime.masters import is_local

EXIT_DONE, EXIT_FAILED, EXIT_LEASE_HELD, EXIT_LEASE_LOST = 0, 1, 3, 4
START_AGAIN = -1
"""The result of ``run`` after which the same process is to start the driver once more."""
_LINEAGE_SECONDS = 5.0
"""So long the end of a driver waits for those that collect its lineage."""
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
    """``run`` returns the exit code of the process, or ``START_AGAIN``."""

    def __init__(self, opened: Opened) -> None:
        self._opened, self._control = opened, opened.control
        self._lookout = Lookout(self._control)
        self._upload = LogUpload(self._control)
        self._lines = LogLines()
        self._log = logs.logger("application", self._control.application_log, self._lines)
        self._upload.follow(self._log, "application")
        self._id = uuid.uuid4().hex
        self._wake, self._ending = threading.Event(), threading.Event()
        self._checkpoints, self._counters = Checkpoints(), Counters()
        self._wanted = Wanted(self._control, self._log)
        self._jobs = JobRuns(self._wanted, self._log, self._log_of)
        self._desk = OperationDesk(self._control, self._id, self._log, self._counters, self._ending)
        self._lineage = Lineage(self._id, self._log)
        self._busy_at = time.monotonic()
        self._about = _described(self._id)
        self._before: Status | None = None
        self._leadership: Leadership | None = None
        self._monitoring: Monitoring | None = None
        self._watch = SourceWatch(lambda: self._jobs.runners, self._log)
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
        wait_until_gone(previous, self._log)
        self._jobs.adopt(previous)
        self._before = previous
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

    def _refuse(self, why: str, code: int) -> int:
        self._log.error("%s", why)
        sys.stderr.write(f"flareiac driver refused to start: {why}\n")
        return code

    def _lead(self, leadership: Leadership, monitoring: Monitoring) -> int:
        started, code, reason = None, EXIT_FAILED, ""
        try:
            with suppress(ControlError):  # it only informs
                self._control.forget_refused_start()
            self._desk.leave_unanswered()
            started = self._start(monitoring)
            leadership.guard(started.jvm_pid)
            leadership.publish_soon()
            self._watch.start()
            self._cluster = watch_of(started.session, self._log, self._note, self._on_change)
            reason = self._reconcile(started, leadership, monitoring)
            code = EXIT_LEASE_LOST if leadership.lost.is_set() else EXIT_DONE
            if self._is_forgotten:
                code = START_AGAIN
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
        self._jobs.stop_all(self._graceful_seconds() + JVM_END_SECONDS, monitoring.turn)
        self._desk.end()
        self._lineage.end(_LINEAGE_SECONDS, "" if code in (EXIT_DONE, START_AGAIN) else reason)
        if started is not None:
            stop_spark(started)
        monitoring.end()
        if self._ending.is_set() and code == START_AGAIN:
            code, reason = EXIT_DONE, ASKED_TO_STOP
        phase: Literal["starting", "ended"] = "starting" if code == START_AGAIN else "ended"
        self._about = replace(self._about, phase=phase, reason=reason)
        self._log.info("ended: %s", reason)
        if code != START_AGAIN:
            sys.stderr.write(f"flareiac driver ended: {reason}\n")
        # Before the JVM ends, through which object storage is written; who follows waits for that end.
        leadership.end()
        end_jvm(JVM_END_SECONDS)
        return code

    # Starting

    def _start(self, monitoring: Monitoring) -> Started:
        self._wanted.read_settings()
        settings = self._wanted.settings
        self._adopt_settings(monitoring)
        self._about = replace(self._about, name=settings.name, digest=settings.digest)
        if LAUNCH_CONF not in os.environ:
            raise Refusal("JARS_UNKNOWN", started_without_jars(self._control.place))
        self._opened.refuse_others(settings)
        await_master(machine_master(), self._ending.wait)
        self._log.info("starting Spark for %s", settings.name)
        started = start_spark(settings, self._control.scratch)
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
        self._lineage.begin(started.spark_version, self._before)
        if is_local(machine_master()):
            preload.begin(started.session)
        return started

    # Running

    def _reconcile(self, started: Started, leadership: Leadership, monitoring: Monitoring) -> str:
        """Until there is a reason to end; returns it."""
        around, shop = self._job_context(started), self._operation_context(started)
        self._busy_at = time.monotonic()
        is_due, acts_at = True, 0.0
        while True:
            monitoring.turn()
            reason = self._reason_to_end(started, leadership)
            if reason is not None:
                return reason
            seen = self._lookout.look()
            if seen is not None:
                self._follow_wishes(started, seen.desired)
                self._adopt_settings(monitoring)
            settings = self._wanted.settings
            if settings.supervised and settings.digest != self._about.digest:
                return _NEW_SETTINGS
            if is_due or self._wake.is_set() or time.monotonic() >= acts_at:
                self._jobs.settle()
                self._jobs.act(around, lambda conf: session_with(started.session, conf))
                acts_at = time.monotonic() + _ACT_SECONDS
            self._desk.turn(shop, self._end, asked=seen is not None and seen.asked)
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

    def _follow_wishes(self, started: Started, stamp: Hashable) -> None:
        before = self._wanted.settings.log_level
        if not self._wanted.follow(stamp):
            return
        if self._wanted.settings.log_level != before:
            started.session.sparkContext.setLogLevel(self._wanted.settings.log_level)
        self._on_change()

    def _adopt_settings(self, monitoring: Monitoring) -> None:
        """Takes over the settings that have an effect of their own while the application runs."""
        self._lines.as_json = self._wanted.settings.log_format == "json"
        monitoring.adopt(self._wanted.settings)
        self._lineage.adopt(self._wanted.settings)

    def _is_idle(self) -> bool:
        if self._jobs.runners or self._desk.is_busy or self._wanted.held():
            self._busy_at = time.monotonic()
        allowed = self._wanted.settings.idle_shutdown_ms
        return allowed is not None and time.monotonic() - self._busy_at > allowed / 1000

    @property
    def _is_forgotten(self) -> bool:
        return self._cluster is not None and self._cluster.is_forgotten

    def _on_change(self) -> None:
        self._wake.set()
        if self._leadership is not None:
            self._leadership.publish_soon()

    def _end(self) -> None:
        self._ending.set()
        self._wake.set()

    # What jobs and operations get of it

    def _job_context(self, started: Started) -> JobContext:
        return JobContext(
            new_session=lambda: session_with(started.session, self._wanted.settings.conf),
            checkpoints=self._checkpoints,
            graceful_seconds=self._graceful_seconds,
            changed=self._on_change,
            counters=self._counters,
            lineage=self._lineage,
        )

    def _operation_context(self, started: Started) -> OperationContext:
        return OperationContext(
            new_session=lambda: session_with(started.session, self._wanted.settings.conf),
            checkpoints=self._checkpoints,
            log=self._log,
            pause=self._ending.wait,
        )

    def _graceful_seconds(self) -> float:
        """No batch comes to its end where there will be no executors."""
        return 0.0 if self._is_forgotten else self._wanted.settings.graceful_stop_ms / 1000

    def _log_of(self, address: str) -> Logger:
        log = logs.logger(f"job.{address}", self._control.job_log(address), self._lines)
        self._upload.follow(log, self._control.log_name(address))
        return log

    def _note(self, text: str) -> None:
        """In the log of every job that runs."""
        for runner in self._jobs.runners:
            runner.note(text)

    # Saying

    def _status(self) -> Status:
        desired = self._wanted.desired  # once: the jobs in it belong to its revision
        now = moment()
        waiting = self._cluster.waiting if self._cluster is not None else ""
        problem = self._monitoring.problem if self._monitoring is not None else None
        return Status(
            application=replace(
                self._about,
                trouble=self._wanted.problem,
                waiting=masked(waiting),
                monitoring_trouble=masked(problem or ""),
                lineage_trouble=masked(self._lineage.problem),
            ),
            heartbeat=now.wall,
            uptime=now.uptime,
            beat=self._control.rhythm.beat,
            observed_revision=desired.revision if desired is not None else 0,
            jobs=self._job_statuses(desired),
        )

    def _job_statuses(self, desired: Desired | None) -> dict[str, JobStatus]:
        statuses = self._jobs.statuses(desired.jobs if desired is not None else {})
        dropped = self._lineage.dropped
        return {
            name: replace(job, lineage_dropped=dropped[name]) if name in dropped else job
            for name, job in statuses.items()
        }


def _described(application: str) -> ApplicationStatus:
    """The status of an application with this id before it has read anything."""
    me = this_process()
    here = this_host()
    return ApplicationStatus(
        id=application,
        name="",
        host=here.name,
        place=here,
        release=__version__,
        pid=me.pid,
        pid_started=me.started,
        phase="starting",
    )
