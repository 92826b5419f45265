"""Counters of a driver's work since it began, for Prometheus. Safe to use from several threads."""

import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.control import Maintain
from flareiac_spark_runtime.control.operations import Work


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceRun:
    """The last run of one kind of maintenance on one table. ``ended`` in UTC seconds; ``seconds`` with the
    time for which it waited for other maintenance of the table.
    """

    ended: float
    seconds: float
    succeeded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Starts and failures by the address of a job; maintenance by table and kind, runs also by result."""

    starts: Mapping[str, int] = field(default_factory=dict)
    failures: Mapping[str, int] = field(default_factory=dict)
    maintenance: Mapping[tuple[str, str], MaintenanceRun] = field(default_factory=dict)
    maintenance_runs: Mapping[tuple[str, str, str], int] = field(default_factory=dict)


class Counters:
    """For one driver."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._starts, self._failures = Counter[str](), Counter[str]()
        self._maintenance: dict[tuple[str, str], MaintenanceRun] = {}
        self._runs = Counter[tuple[str, str, str]]()

    def started(self, address: str) -> None:
        """A job is started, for the first time or again."""
        with self._guard:
            self._starts[address] += 1

    def failed(self, address: str) -> None:
        """A run of a job ended by an error."""
        with self._guard:
            self._failures[address] += 1

    @contextmanager
    def maintains(self, work: Work | None) -> Iterator[None]:
        """Times a maintenance task; what it raises is its failure. Other work is not counted."""
        if not isinstance(work, Maintain):
            yield
            return
        begun, succeeded = time.monotonic(), False
        try:
            yield
            succeeded = True
        finally:
            table, kind = ".".join(work.identifier), work.task.kind
            run = MaintenanceRun(ended=time.time(), seconds=time.monotonic() - begun, succeeded=succeeded)
            with self._guard:
                self._maintenance[table, kind] = run
                self._runs[table, kind, "done" if succeeded else "failed"] += 1

    @property
    def counts(self) -> Counts:
        """As they are now."""
        with self._guard:
            return Counts(
                starts=dict(self._starts),
                failures=dict(self._failures),
                maintenance=dict(self._maintenance),
                maintenance_runs=dict(self._runs),
            )
