"""Carries out maintenance on a table that others write and read meanwhile: one operation at a time for each
table, each once.

The performer of the task's kind does the work (see ``flareiac.sdk.table_tasks``). What all kinds share is
here: the lock of the table, further attempts after a conflict, the mark by which a repeated operation is
known.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from logging import Logger
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from flareiac.kernel import kill_points
from flareiac.sdk.table_tasks import MANAGED_BY, Performed, Performer, TaskRefusal, Work, performer_of
from flareiac_spark_runtime.control import Maintain
from flareiac_spark_runtime.driver import tables
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.driver.root_cause import root_cause_of
from flareiac_spark_runtime.driver.table_work import MaintainedTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Pause: TypeAlias = Callable[[float], object]

_CONFLICTS: Final = ("CommitFailedException", "ValidationException", "CommitStateUnknownException")
"""Iceberg's words for another commit that came between; what is wrong for good says the same words, so that
trying has an end.
"""
_PAUSES: Final = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)


class TableLocks:
    """Locks that let one maintenance at a time run on a table of this application: an expiry in the middle of
    a rewrite breaks it.
    """

    def __init__(self) -> None:
        self._guard, self._locks = threading.Lock(), dict[str, threading.Lock]()

    @contextmanager
    def alone(self, uuid: str) -> Iterator[None]:
        """Waits for the maintenance that runs on the table now."""
        with self._guard:
            lock = self._locks.setdefault(uuid, threading.Lock())
        with lock:
            yield


def maintain(
    new_session: Callable[[], Any], work: Maintain, locks: TableLocks, pause: Pause, log: Logger
) -> Performed:
    """Does the work, or finds it done. Raises ``Refusal``, and what Spark and Iceberg raise."""
    performer, kind = _performer(work.task), work.task.kind
    shown = ".".join(work.identifier)
    with locks.alone(work.uuid):
        log.info("%s of %s begins (%s)", kind, shown, work.key)
        session = new_session()
        kill_points.reach("driver.maintenance-begun", kind)
        try:
            done = _until_committed(session, work, performer, pause, log)
        except TaskRefusal as refusal:
            raise Refusal(refusal.error_class, str(refusal)) from refusal
        log.info("%s of %s: %s", kind, shown, done)
        kill_points.reach("driver.maintenance-done-before-result", kind)
        return done


def _performer(work: Work) -> Performer[Any]:
    performer = performer_of(work.kind)
    if performer is None:
        raise Refusal("NO_PERFORMER", f'No package that carries out "{work.kind}" is installed here.')
    return performer


def _until_committed(
    session: "SparkSession", work: Maintain, performer: Performer[Any], pause: Pause, log: Logger
) -> Performed:
    """Streams commit all the time: what they came in the way of is begun again on what is there now."""
    task = performer.task_of(work.task)
    for seconds in (*_PAUSES, None):
        loaded = tables.load(session, work.identifier, work.uuid)
        refuse_taken_over(work, loaded.properties().get(MANAGED_BY))
        table = MaintainedTable(session=session, identifier=work.identifier, table=loaded, key=work.key)
        try:
            return performer.perform(table, task)
        except Exception as failure:
            # What commits nothing and is found not valid is so for good.
            if not performer.commits or not _is_conflict(failure):
                raise
            cause = root_cause_of(failure)
            if seconds is None:
                why = (
                    f"Other commits came in between {len(_PAUSES) + 1} times. The last time: "
                    f"{cause.error_class}: {cause.message}"
                )
                raise Refusal("CONFLICT", why) from failure
            log.warning(
                "another commit came in between, once more in %s s: %s: %s",
                seconds,
                cause.error_class,
                cause.message,
            )
            pause(seconds)
    raise AssertionError("the last attempt returns or raises")


def refuse_taken_over(work: Maintain, manager: str | None) -> None:
    """Raises ``Refusal`` where another state has taken the table over since the work was planned."""
    if manager and work.lineage and manager != work.lineage:
        why = (
            f"The state {manager} has taken over the table {'.'.join(work.identifier)} since the state "
            f"{work.lineage} planned this. Nothing was changed. Leave it to that state: flareiac state rm "
            "ADDRESS, and delete the block."
        )
        raise Refusal("TABLE_TAKEN_OVER", why)


def _is_conflict(failure: BaseException) -> bool:
    throwable = getattr(failure, "java_exception", None) or getattr(failure, "_origin", None)
    for _ in range(30):
        if throwable is None:
            return False
        if str(throwable.getClass().getSimpleName()) in _CONFLICTS:
            return True
        throwable = throwable.getCause()
    return False
