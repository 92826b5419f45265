"""The status of a running resource, as ``status`` and ``logs`` print it. Records; None where nothing is
known.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Protocol

from flareiac.kernel.lazy_dataclass import dataclass


class LogText(Protocol):
    """A log that may still be written. ``pause``: seconds between two reads that are worth it."""

    @property
    def pause(self) -> float: ...

    def read(self) -> str:
        """Returns the text added since the last read, at first all. Raises ``Failure`` and ``OSError``."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRun:
    """One of the queries of a resource, and its last run."""

    id: str | None
    run_id: str | None
    batch: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStatus:
    """The fields and their order are the JSON of ``status``, a contract.

    ``last_commit`` in UTC seconds. ``lag`` in words. ``health``: what is wrong with it while it runs.
    ``log``: where its log is. ``queries`` by output. ``bad_records``: how many could not be read in this run,
    by input; None where that is not known. ``late_rows``: how many came after the watermark and were dropped,
    since its first start. ``files_too_old``: files of its folder that it passes over because of their age.
    """

    phase: str
    run_id: str | None = None
    batch: int | None = None
    last_commit: float | None = None
    lag: str | None = None
    input_rows_per_second: float | None = None
    processed_rows_per_second: float | None = None
    watermark: str | None = None
    state_rows: int | None = None
    failures: int = 0
    last_error: str | None = None
    health: tuple[str, ...] = ()
    log: str = ""
    queries: Mapping[str, QueryRun] = field(default_factory=dict)
    bad_records: Mapping[str, int | None] = field(default_factory=dict)
    late_rows: int = 0
    files_too_old: int = 0
