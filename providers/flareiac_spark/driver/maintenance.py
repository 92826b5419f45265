"""Carries out maintenance on a table that others write and read meanwhile: one operation at a time for each
table, each once.

Touches tables: through Iceberg's own actions and deletes, never a file by itself but orphans. What commits
carries a mark, so that a repeated one is known by the snapshot that it left; expiry and orphan removal find
nothing left to do.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from logging import Logger
from typing import Any, Final, TypeAlias, assert_never

from flareiac.kernel import kill_points
from flareiac.kernel.records import decode
from flareiac.sdk.table_tasks import (
    DeleteRows,
    ExpireSnapshots,
    RemoveOrphans,
    RewriteDataFiles,
    RewriteDeleteFiles,
    RewriteManifests,
    TableTask,
)
from flareiac_spark.control import Maintain, Maintained
from flareiac_spark.driver import tables
from flareiac_spark.driver.maintenance_expiry import expire_snapshots
from flareiac_spark.driver.maintenance_marks import TableWork
from flareiac_spark.driver.maintenance_orphans import remove_orphans
from flareiac_spark.driver.maintenance_rewrites import (
    rewrite_data_files,
    rewrite_delete_files,
    rewrite_manifests,
)
from flareiac_spark.driver.maintenance_rows import delete_rows
from flareiac_spark.driver.refusal import Refusal
from flareiac_spark.driver.root_cause import root_cause_of

Pause: TypeAlias = Callable[[float], object]

_CONFLICTS: Final = ("CommitFailedException", "ValidationException", "CommitStateUnknownException")
"""Iceberg's words for another commit that came between; what is wrong for good says the same words, so that
trying has an end.
"""
_PAUSES: Final = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)


class TableLocks:
    """Who maintains which table of this application: an expiry in the middle of a rewrite breaks it."""

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
) -> Maintained:
    """Does the work, or finds it done. Raises ``Refusal``, and what Spark and Iceberg raise."""
    task: TableTask = decode(TableTask, dict(work.task))
    shown = ".".join(work.identifier)
    with locks.alone(work.uuid):
        log.info("%s of %s begins (%s)", task.kind, shown, work.key)
        session = new_session()
        kill_points.reach("driver.maintenance-begun", task.kind)
        done = _until_committed(session, work, task, pause, log)
        log.info("%s of %s: %s", task.kind, shown, done)
        kill_points.reach("driver.maintenance-done-before-result", task.kind)
        return done


def _until_committed(session: Any, work: Maintain, task: TableTask, pause: Pause, log: Logger) -> Maintained:
    """Streams commit all the time: what they came in the way of is begun again on what is there now."""
    for seconds in (*_PAUSES, None):
        bench = TableWork(
            session=session,
            identifier=work.identifier,
            table=tables.load(session, work.identifier, work.uuid),
            key=work.key,
        )
        try:
            return _do(bench, task)
        except Exception as failure:
            # Orphan removal commits nothing: what it finds not valid is so for good.
            if isinstance(failure, Refusal) or isinstance(task, RemoveOrphans) or not _is_conflict(failure):
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


def _do(bench: TableWork, task: TableTask) -> Maintained:
    match task:
        case RewriteDataFiles():
            return rewrite_data_files(bench, task)
        case RewriteDeleteFiles():
            return rewrite_delete_files(bench, task)
        case RewriteManifests():
            return rewrite_manifests(bench)
        case ExpireSnapshots():
            return Maintained(result=expire_snapshots(bench, task))
        case RemoveOrphans():
            return Maintained(result=remove_orphans(bench, task))
        case DeleteRows():
            return delete_rows(bench, task)
        case _:
            assert_never(task)


def _is_conflict(failure: BaseException) -> bool:
    throwable = getattr(failure, "java_exception", None) or getattr(failure, "_origin", None)
    for _ in range(30):
        if throwable is None:
            return False
        if str(throwable.getClass().getSimpleName()) in _CONFLICTS:
            return True
        throwable = throwable.getCause()
    return False
