"""Records of Spark's reports on a streaming query: its status, and the progress of a batch. Pure."""

import contextlib
import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import Foreign, decode, named
from flareiac_spark_runtime.control import SourceLag
from flareiac_spark_runtime.driver.bad_records import counts

_WAITING = "Waiting for "
"""The beginning of Spark's status message once the sources were asked and there is nothing to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity(Foreign):
    """The activity of a query at the moment."""

    message: str
    has_data: bool = field(metadata=named("isDataAvailable"))
    in_trigger: bool = field(metadata=named("isTriggerActive"))

    @property
    def is_waiting(self) -> bool:
        """Returns True if its sources were asked, and there is nothing to do."""
        return not self.has_data and self.message.startswith(_WAITING)

    @property
    def is_at_work(self) -> bool:
        """Returns True if a batch is under way. A trigger that only asks its sources is none."""
        return self.in_trigger and self.has_data


def activity_of(query: Any) -> Activity:
    """The present activity of a query."""
    return decode(Activity, query.status)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Durations(Foreign):
    trigger_ms: int = field(default=0, metadata=named("triggerExecution"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Times(Foreign):
    watermark: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _State(Foreign):
    rows: int = field(default=0, metadata=named("numRowsTotal"))
    dropped: int = field(default=0, metadata=named("numRowsDroppedByWatermark"))
    bytes: int | None = field(default=None, metadata=named("memoryUsedBytes"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceReport(Foreign):
    """Spark's progress of one source of a batch; ``rows`` as often as they were read."""

    description: str | None = None
    rows: int = field(default=0, metadata=named("numInputRows"))
    start: Any = field(default=None, metadata=named("startOffset"))
    end: Any = field(default=None, metadata=named("endOffset"))
    latest: Any = field(default=None, metadata=named("latestOffset"))
    metrics: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchReport(Foreign):
    """Spark's progress of one executed batch."""

    batch: int = field(metadata=named("batchId"))
    timestamp: str
    input_rate: Any = field(default=None, metadata=named("inputRowsPerSecond"))
    processed_rate: Any = field(default=None, metadata=named("processedRowsPerSecond"))
    durations: _Durations = field(default=_Durations(), metadata=named("durationMs"))
    times: _Times = field(default=_Times(), metadata=named("eventTime"))
    sources: tuple[SourceReport, ...] = ()
    state: tuple[_State, ...] = field(default=(), metadata=named("stateOperators"))
    observed: Any = field(default=None, metadata=named("observedMetrics"))

    @classmethod
    def of(cls, progress: Any) -> "BatchReport":
        """The report that Spark's progress object is."""
        return decode(cls, json.loads(progress.json()))

    @property
    def seconds(self) -> float:
        """The duration of its trigger in seconds."""
        return self.durations.trigger_ms / 1000

    @property
    def ended(self) -> float:
        """The time of its commit, in UTC seconds since 1970."""
        return dt.datetime.fromisoformat(self.timestamp).timestamp() + self.seconds

    @property
    def is_level(self) -> bool:
        """Returns True if it read all that its sources had, as far as they report it."""
        return bool(self.sources) and all(
            source.latest is not None and source.end == source.latest for source in self.sources
        )

    @property
    def lag(self) -> Mapping[str, SourceLag]:
        """The lag of each source, by its number."""
        return {
            str(at): SourceLag(
                source=source.description, end=source.end, latest=source.latest, metrics=source.metrics
            )
            for at, source in enumerate(self.sources)
        }

    @property
    def bad_records(self) -> Mapping[str, int]:
        """Records that could not be read, by input."""
        return counts(self.observed or {})

    @property
    def state_rows(self) -> int | None:
        """Rows that it keeps; None for a query without state."""
        return sum(operator.rows for operator in self.state) if self.state else None

    @property
    def state_bytes(self) -> int | None:
        """Memory that its state takes; None for a query without state, and where a store does not tell."""
        sizes = [operator.bytes for operator in self.state if operator.bytes is not None]
        return sum(sizes) if sizes and len(sizes) == len(self.state) else None

    @property
    def dropped_rows(self) -> int | None:
        """Rows that were later than the watermark; None for a query without state."""
        return sum(operator.dropped for operator in self.state) if self.state else None


def finite(rate: Any) -> float | None:
    """A rate where it is a number: of a batch that took no time it is none."""
    with contextlib.suppress(TypeError, ValueError):
        number = float(rate)
        return number if number == number and abs(number) != float("inf") else None
    return None
