"""Looks now and then whether the cluster gives the application executors, and asks a standalone master why
not. Asks the JVM of this process, and through it the master; changes nothing.
"""

import threading
import time
from collections.abc import Callable
from logging import Logger
from typing import TYPE_CHECKING, Any, Protocol

from flareiac_spark_runtime.driver.executor_shortage import (
    ALIVE,
    MasterAnswer,
    Need,
    Silence,
    is_forgotten,
    shortage,
)
from flareiac_spark_runtime.driver.master_answer import ask_master
from flareiac_spark_runtime.driver.root_cause import root_cause_of
from flareiac_spark_runtime.masters import is_local, is_standalone, standalone_hosts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_EVERY_SECONDS = 2.0
_PATIENCE_SECONDS = 15.0
"""Executors take some seconds to start, and are lost and replaced."""
_LOOK_THERE = "Look at its queue, its quota and what is free there"
_NO_EXECUTOR = "no executor runs"
_ENDED = (
    "its cluster ended the application: someone killed it there, or ten executors in a row could not start. "
    "The driver's output and the stderr of the executors say more"
)


class Cluster(Protocol):
    """The questions about a cluster. Each raises whatever error it meets."""

    def has_ended(self) -> bool:
        """Returns True if Spark was stopped from outside."""

    def executors(self) -> int:
        """The number of executors that the application has."""

    def wants_executors(self) -> bool:
        """Returns True if it should have any executor at the moment."""

    def shortage(self) -> tuple[str, bool]:
        """The reason that there is no executor, and True if there never will be one."""


class ClusterWatch(threading.Thread):
    """Looks from ``start`` to ``end``. ``waiting`` is why the application has no executors, empty while it
    has. ``note`` tells the jobs' logs, ``changed`` is called after each change.
    """

    def __init__(
        self, cluster: Cluster, log: Logger, note: Callable[[str], None], changed: Callable[[], None]
    ) -> None:
        super().__init__(name="cluster watch", daemon=True)
        self._cluster, self._log, self._note, self._changed = cluster, log, note, changed
        self._over = threading.Event()
        self._bare_since: float | None = None
        self._doubts = 0
        self.waiting = ""
        self.ended = ""
        """Why Spark was ended by its cluster."""
        self.is_forgotten = False
        """Whether only another registration of the application brings executors."""

    def run(self) -> None:
        while not self._over.wait(_EVERY_SECONDS):
            try:
                self.look(time.monotonic())
            except Exception as failure:  # noqa: BLE001 - what cannot be looked at now is looked at again
                self._log.debug("the cluster was not looked at: %s", failure)

    def end(self) -> None:
        """No look begins after this one; one that is under way is not waited for."""
        self._over.set()

    def look(self, now: float) -> None:
        """Asks once. ``now``: seconds of a clock that only grows."""
        if self._cluster.has_ended():
            if not self._over.is_set():
                self.ended = _ENDED
                self._changed()
            return
        if self._cluster.executors() or not self._cluster.wants_executors():
            self._bare_since, self._doubts = None, 0
            self._become("")
            return
        if self._bare_since is None:
            self._bare_since = now
        if now - self._bare_since < _PATIENCE_SECONDS:
            return
        why, forever = self._cluster.shortage()
        self._become(f"{_NO_EXECUTOR}: {why}")
        self._doubts = self._doubts + 1 if forever else 0
        if self._doubts > 1:  # workers and applications may come back to a master one after the other
            self.is_forgotten = True
            self._changed()

    def _become(self, waiting: str) -> None:
        if waiting == self.waiting:
            return
        text = f"waiting: {waiting}" if waiting else "executors are there again"
        self._log.warning("%s", text)
        self._note(text)
        self.waiting = waiting
        self._changed()


def watch_of(
    session: "SparkSession", log: Logger, note: Callable[[str], None], changed: Callable[[], None]
) -> ClusterWatch | None:
    """A started watch of the cluster that a session runs on; None where everything runs in the driver."""
    master = session.sparkContext.master or ""
    if not master or is_local(master):
        return None
    watch = ClusterWatch(SparkCluster(session._jsc, master), log, note, changed)
    watch.start()
    return watch


class SparkCluster:
    """The cluster of a Spark context."""

    def __init__(self, context: Any, master: str) -> None:
        self._context, self._master = context, master

    def has_ended(self) -> bool:
        return bool(self._context.sc().isStopped())

    def executors(self) -> int:
        # The driver is counted, too.
        return len(self._context.sc().statusTracker().getExecutorInfos()) - 1

    def wants_executors(self) -> bool:
        # Dynamic allocation gives idle executors back, and asks for others when a stage waits for them.
        context = self._context.sc()
        is_dynamic = bool(context.conf().getBoolean("spark.dynamicAllocation.enabled", False))
        return not is_dynamic or len(context.statusTracker().getActiveStageIds()) > 0

    def shortage(self) -> tuple[str, bool]:
        if not is_standalone(self._master):
            return f"{self._master} has given none so far. {_LOOK_THERE}", False
        answer = self._ask()
        return shortage(answer, self._need()), is_forgotten(answer)

    def _need(self) -> Need:
        conf = self._context.sc().conf()
        return Need(
            master=self._master,
            cores=int(conf.getInt("spark.executor.cores", 1)),
            memory=int(self._context.sc().executorMemory()),
        )

    def _ask(self) -> MasterAnswer | Silence:
        """The answer of the master that is active, else of any; silence if none answers."""
        best_answer: MasterAnswer | Silence = Silence(why="it has no address")
        for host, port in standalone_hosts(self._master):
            answer = self._answer(host, port)
            if isinstance(answer, MasterAnswer):
                best_answer = answer
                if answer.status == ALIVE:
                    break
            elif isinstance(best_answer, Silence):
                best_answer = answer
        return best_answer

    def _answer(self, host: str, port: int) -> MasterAnswer | Silence:
        own = str(self._context.sc().applicationId())
        try:
            return ask_master(host, port, own)
        except Exception as failure:  # noqa: BLE001 - Java's own errors
            return Silence(why=root_cause_of(failure).message.partition("\n")[0].rstrip(". "))
