"""Follows one streaming query by Spark's progress reports; changes nothing."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any, TypeAlias

from flareiac_spark_runtime.control import QueryStatus
from flareiac_spark_runtime.driver.batch_scans import BatchScans, Computed, once
from flareiac_spark_runtime.driver.progress import Activity, BatchReport, activity_of, finite

OnCommit: TypeAlias = Callable[[QueryStatus, Any, Computed], None]
"""Takes the query, Spark's progress of a batch, and how often that was computed."""


class QueryWatch:
    """Follows one query from its start. ``status`` is what ``look`` saw last."""

    def __init__(self, output: str, query: Any) -> None:
        self.query = query
        self.status = QueryStatus(output=output, id=query.id, run_id=query.runId)
        self.idle = False
        self.on_commit: OnCommit | None = None
        """Is called for each committed batch, oldest first."""
        self._scans = BatchScans(query)
        self._moved_at = self._level_at = time.monotonic()
        self._batch_at: float | None = None
        self._quiet_looks = 0
        self._seen: tuple[int, str] | None = None

    def look(self) -> int:
        """Takes in what is new; returns how many batches were committed since the last look."""
        fresh = self._fresh_reports()
        if fresh:
            self._take(fresh)
        seen = activity_of(self.query)
        self._judge_idleness(bool(fresh), seen)
        self._measure(bool(fresh), seen, time.monotonic())
        return len(fresh)

    def _fresh_reports(self) -> list[Any]:
        """Reports of executed batches since the last look, oldest first. A report without ``addBatch`` is of
        an empty trigger.
        """
        # Each call and each answer that is no value is a message to the JVM: where many jobs rest, looking
        # at them is all that the driver does.
        if _mark(self.query._jsq.lastProgress()) == self._seen:
            return []
        recent = self.query._jsq.recentProgress()
        newest_first = (recent[at] for at in range(len(recent) - 1, -1, -1))
        new = list(takewhile(lambda report: _mark(report) != self._seen, newest_first))
        if new:
            self._seen = _mark(new[0])
        return [report for report in reversed(new) if report.durationMs().containsKey("addBatch")]

    def is_kept(self, batch: int) -> bool:
        """Returns True for a batch whose rows were computed once and kept."""
        del batch
        return False

    def _take(self, fresh: list[Any]) -> None:
        report = BatchReport.of(fresh[-1])
        judges, keeps_state = bool(report.bad_records), report.dropped_rows is not None
        reports = [BatchReport.of(one) for one in fresh] if judges or keeps_state else []
        counted = {one.batchId(): one.numInputRows() for one in fresh}
        computed = self._computed(counted)
        last, rows = computed[report.batch], [each.rows for each in computed.values()]
        self._level_at = time.monotonic() if report.is_level else self._level_at
        self.status = replace(
            self.status,
            batch=report.batch,
            last_commit=report.ended,
            batch_seconds=report.seconds,
            input_rows_per_second=_rate(report.input_rate, counted[report.batch], last.rows),
            processed_rows_per_second=_rate(report.processed_rate, counted[report.batch], last.rows),
            lag=report.lag,
            watermark=report.times.watermark,
            state_rows=_of_one(report.state_rows, last.states),
            state_bytes=_of_one(report.state_bytes, last.states),
            rows_dropped_by_watermark=_of_one(report.dropped_rows, last.states),
            input_rows=_sum((self.status.input_rows, *rows)),
            late_rows=self.status.late_rows + self._late_rows(reports, computed),
            bad_records=self._bad_records(reports, computed),
        )
        if self.on_commit is not None:
            for one, batch in zip(fresh, counted, strict=True):
                self.on_commit(self.status, one, computed[batch])

    def _computed(self, counted: Mapping[int, int]) -> dict[int, Computed]:
        computed = {batch: once(rows) for batch, rows in counted.items() if self.is_kept(batch)}
        asked = {batch: rows for batch, rows in counted.items() if batch not in computed}
        return {**computed, **(self._scans.of(asked) if asked else {})}

    def _late_rows(self, fresh: Sequence[BatchReport], computed: Mapping[int, Computed]) -> int:
        """Adds up late rows. All of a count is taken where it is not known how often they were counted: too
        many are better than none.
        """
        counts = (
            (report.dropped_rows or 0, _of_one(report.dropped_rows or 0, computed[report.batch].states))
            for report in fresh
        )
        return sum(counted if single is None else single for counted, single in counts)

    def _bad_records(
        self, fresh: Sequence[BatchReport], computed: Mapping[int, Computed]
    ) -> dict[str, int | None]:
        counts = dict(self.status.bad_records)
        for report in fresh:
            for name, count in report.bad_records.items():
                counts[name] = _sum((counts.get(name, 0), _of_one(count, computed[report.batch].scans)))
        return counts

    def _judge_idleness(self, worked: bool, seen: Activity) -> None:
        """Idle after two looks in a row without work: with a short trigger one look may fall between two
        batches.
        """
        if self.status.batch is None and not self._asked():
            self.idle, self._quiet_looks = False, 0
            return
        polling = not seen.has_data and self._quiet_looks > 0
        quiet = not worked and (seen.is_waiting or polling)
        self._quiet_looks = self._quiet_looks + 1 if quiet else 0
        self.idle = self._quiet_looks >= 2

    def _measure(self, worked: bool, seen: Activity, now: float) -> None:
        """Brings the durations in the status up to date, by a clock that no one sets."""
        if worked:
            self._moved_at = now
        if self.idle:
            self._level_at = now
        if not seen.is_at_work:
            self._batch_at = None
        elif worked or self._batch_at is None:
            self._batch_at = now
        self.status = replace(
            self.status,
            running_seconds=None if self._batch_at is None else now - self._batch_at,
            quiet_seconds=now - self._moved_at,
            behind_seconds=now - self._level_at,
        )

    def _asked(self) -> bool:
        """Returns True if the sources said at least once that there is nothing new. Before its first trigger
        a query waits too, with work ahead.
        """
        return bool(self.query._jsq.streamingQuery().noNewData())


def _mark(report: Any) -> tuple[int, str] | None:
    """The mark that tells a report from all others of its query; None where there is none yet."""
    return None if report is None else (report.batchId(), report.timestamp())


def _sum(numbers: Sequence[int | None]) -> int | None:
    """None where one of them is not known."""
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


def _of_one(counted: int | None, times: int | None) -> int | None:
    """Divides a count by how often it was counted; None where that is not known."""
    if not counted:
        return counted
    return counted // times if times and counted % times == 0 else None


def _rate(counted: Any, rows_counted: int, rows: int | None) -> float | None:
    """A rate of rows that are counted once."""
    rate = finite(counted)
    if rate is None or rows is None:
        return None
    return rate * rows / rows_counted if rows_counted else rate
