"""Takes in what is asked of an application once, has it done beside the loop, and writes what came of it."""

import concurrent.futures
import threading
from collections.abc import Callable
from logging import Logger
from typing import Final

from flareiac_spark_runtime.control import ControlDirectory, ControlError, End, Result
from flareiac_spark_runtime.control.operations import ENDING, MAINTENANCE, UNANSWERED
from flareiac_spark_runtime.driver.counters import Counters
from flareiac_spark_runtime.driver.operations import OperationContext, serve
from flareiac_spark_runtime.driver.root_cause import root_cause_of

_TABLES_AT_A_TIME: Final = 4


class OperationDesk:
    """Maintenance is done for several tables at a time; all else one after the other.

    ``application``: the id of the application that it stands in. ``ending`` is set when that one ends.
    """

    def __init__(
        self,
        control: ControlDirectory,
        application: str,
        log: Logger,
        counters: Counters,
        ending: threading.Event,
    ) -> None:
        self._control, self._application, self._log = control, application, log
        self._counters, self._ending = counters, ending
        self._open: dict[str, concurrent.futures.Future[None]] = {}
        self._unwritten: dict[str, Result] = {}
        self._pool = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="operation")
        self._maintenance = concurrent.futures.ThreadPoolExecutor(
            _TABLES_AT_A_TIME, thread_name_prefix="maintenance"
        )

    @property
    def is_busy(self) -> bool:
        """True if something was asked for and not answered when the loop last looked."""
        return bool(self._open)

    def leave_unanswered(self) -> None:
        """Answers each operation that an earlier process left open, without starting it again: it may have
        ended that process, and no one waits for it any more. Raises ``ControlError``.
        """
        self._unwritten = {
            name: Result(id=name, status="failed", error=UNANSWERED)
            for name in self._control.open_operations()
        }

    def turn(self, shop: OperationContext, end: Callable[[], None], *, asked: bool) -> None:
        """Begins what is new. ``asked``: there may be something. ``end`` is called where the application is
        asked to end.
        """
        self._open = {name: future for name, future in self._open.items() if not future.done()}
        for name in self._open_operations() if asked else ():
            if name.startswith(ENDING) and self._is_asked_to_end(name):
                end()
            elif name not in self._open:
                pool = self._maintenance if name.startswith(MAINTENANCE) else self._pool
                self._open[name] = pool.submit(self.answer, name, shop)

    def end(self) -> None:
        """Begins nothing more. What is being done goes on until Spark ends under it."""
        for pool in (self._pool, self._maintenance):
            pool.shutdown(wait=False, cancel_futures=True)

    def answer(self, name: str, shop: OperationContext) -> None:
        """Serves an operation and writes its result, which is kept where it cannot be written yet: the work
        is not done again.
        """
        result = self._unwritten.get(name) or self._serve(name, shop)
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

    def _is_asked_to_end(self, name: str) -> bool:
        """Returns True if the operation asks this very application to end, after it has answered it."""
        try:
            operation = self._control.read_operation(name)
            if operation is None or operation.work != End(application=self._application):
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

    def _serve(self, name: str, shop: OperationContext) -> Result | None:
        try:
            operation = self._control.read_operation(name)
            if operation is None or self._control.read_result(name) is not None:
                return None
            with self._counters.maintains(operation.work):
                return serve(operation, shop)
        except Exception as failure:  # noqa: BLE001 - an operation's failure is its result
            self._log.exception("the operation %s failed", name)
            if self._ending.is_set():
                # It failed because Spark was ended under it
                return Result(id=name, status="failed", error=UNANSWERED)
            cause = root_cause_of(failure)
            return Result(id=name, status="failed", error=f"{cause.error_class}: {cause.message}")
