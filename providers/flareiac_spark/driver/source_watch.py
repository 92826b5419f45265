"""Asks, while queries run, whether their sources are still those that they began with: Spark goes on in a
topic that was created again, at the offsets of the old one.
"""

import threading
import time
from collections.abc import Sequence
from logging import Logger
from typing import Any, Final

from flareiac_spark.checkpoint_log import Damaged
from flareiac_spark.control import JobSpec, StreamInput, local_path
from flareiac_spark.driver.refusal import Refusal
from flareiac_spark.sources.resolved import StartProblem

ASKS_EVERY: Final = 15.0


class SourceWatch:
    """Of the queries of one job. It asks in a thread of its own, since an answer may take long, and only
    after batches were committed: an idle job costs nothing.
    """

    def __init__(self, spec: JobSpec, log: Logger) -> None:
        self._sources = [item.source for item in spec.inputs if isinstance(item, StreamInput)]
        self._checkpoints, self._log = tuple(map(local_path, spec.query_names)), log
        self._asked_at = time.monotonic()
        self._asked_of: tuple[int | None, ...] = ()
        self._asking: threading.Thread | None = None
        self._problem: StartProblem | None = None

    def look(self, batches: Sequence[int | None]) -> None:
        """``batches``: the last one of each query. Raises ``Refusal`` with what was found."""
        if self._problem is not None:
            raise Refusal(self._problem.error_class, self._problem.why)
        now, seen = time.monotonic(), tuple(batches)
        if self._is_due(now, seen):
            self._asked_at, self._asked_of = now, seen
            self._asking = threading.Thread(target=self._ask, name="source watch", daemon=True)
            self._asking.start()

    def _is_due(self, now: float, seen: tuple[int | None, ...]) -> bool:
        if not any(source.can_be_replaced for source in self._sources):
            return False
        asking = self._asking is not None and self._asking.is_alive()
        return not asking and seen != self._asked_of and now - self._asked_at >= ASKS_EVERY

    def _ask(self) -> None:
        for source in self._sources:
            others = [other for other in self._sources if other is not source]
            try:
                found = source.prove_running(_jvm, self._checkpoints, others)
            except (Damaged, OSError, ValueError) as failure:
                self._log.warning("whether its sources are still the same cannot be known: %s", failure)
                return
            if found is not None:
                self._problem = found
                return


def _jvm() -> Any:
    from pyspark import SparkContext

    return SparkContext._jvm
