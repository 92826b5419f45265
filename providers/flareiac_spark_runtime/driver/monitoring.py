"""The view of a driver for probes and for Prometheus: pages over HTTP, and a file. Answers while the main
loop hangs, and reports that it does.
"""

import time
from collections.abc import Callable, Mapping
from logging import Logger
from typing import Final

from flareiac_spark_runtime.control import ApplicationSettings, Status
from flareiac_spark_runtime.driver import fence
from flareiac_spark_runtime.driver.counters import Counters
from flareiac_spark_runtime.driver.exposition import CONTENT_TYPE, exposition
from flareiac_spark_runtime.driver.health import Vitals, why_not_alive, why_not_ready
from flareiac_spark_runtime.driver.http_endpoint import HttpEndpoint, Page
from flareiac_spark_runtime.driver.leadership import Leadership
from flareiac_spark_runtime.driver.liveness_file import LivenessFile
from flareiac_spark_runtime.driver.metrics import Readings, families

METRICS_PATH: Final = "/metrics"
ALIVE_PATH: Final = "/healthz"
READY_PATH: Final = "/readyz"
_TOUCH_SECONDS: Final = 1.0
"""The main loop turns ten times as often; no probe looks so often."""


class Monitoring:
    """For one driver that holds the lease. ``turn``, ``adopt`` and ``end`` are the main thread's."""

    def __init__(
        self, leadership: Leadership, status: Callable[[], Status], counters: Counters, log: Logger
    ) -> None:
        self._leadership, self._status, self._counters, self._log = leadership, status, counters, log
        self._endpoint, self._file = HttpEndpoint(self._page, log), LivenessFile()
        self._pages: Mapping[str, Callable[[], Page]] = {
            METRICS_PATH: self._metrics,
            ALIVE_PATH: lambda: _answer(why_not_alive(self._vitals())),
            READY_PATH: lambda: _answer(why_not_ready(self._vitals())),
        }
        self._begun, self._begun_at = fence.now(), time.time()
        self._turned: float | None = None
        self._touched: float | None = None
        self._ending = False
        self._said: str | None = None

    @property
    def problem(self) -> str | None:
        """The reason that the driver cannot be probed as it should be at the moment, None where it can."""
        return self._endpoint.problem or self._file.problem

    def adopt(self, settings: ApplicationSettings) -> None:
        """Moves the pages and the file to the places that the settings name."""
        self._endpoint.listen_on(settings.listen)
        self._file.move_to(settings.liveness_file)

    def turn(self) -> None:
        """The main loop came round."""
        now = self._turned = fence.now()
        if self._touched is not None and now - self._touched < _TOUCH_SECONDS:
            return
        if why_not_alive(self._vitals()) is None:
            self._touched = now
            self._file.touch()
            if self._file.problem not in (None, self._said):
                self._log.error("%s", self._file.problem)
            self._said = self._file.problem

    def begin_end(self) -> None:
        """From now on its queries are being stopped."""
        self._ending = True

    def end(self) -> None:
        """Answers no more, and removes the file."""
        self._file.remove()
        self._endpoint.end()

    def _vitals(self) -> Vitals:
        status, lead, now = self._status(), self._leadership, fence.now()
        return Vitals(
            begun=now - self._begun,
            turned=None if self._turned is None else now - self._turned,
            renewed=now - lead.renewed,
            term=lead.term,
            runs=status.application.phase == "running",
            was_read=status.observed_revision > 0,
            ending=self._ending,
            lost=lead.why_lost,
            problem=status.application.trouble,
        )

    def _page(self, path: str) -> Page | None:
        make = self._pages.get(path)
        return make() if make is not None else None

    def _metrics(self) -> Page:
        return Page(text=exposition(families(self._readings())), content_type=CONTENT_TYPE)

    def _readings(self) -> Readings:
        return Readings(
            now=time.time(),
            begun=self._begun_at,
            status=self._status(),
            vitals=self._vitals(),
            counts=self._counters.counts,
            heartbeat=self._leadership.written,
        )


def _answer(why_not: str | None) -> Page:
    return Page(text="ok\n") if why_not is None else Page(text=f"{why_not}\n", status=503)
