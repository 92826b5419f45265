"""Follows one streaming query by Spark's progress reports; changes nothing."""

import time
from dataclasses import replace
from itertools import takewhile
from typing import Any

from flareiac_spark.control import QueryStatus
from flareiac_spark.driver.progress import Activity, BatchReport, activity_of, finite


class QueryWatch:
    """Follows one query from its start. ``status`` is what ``look`` saw last."""

    def __init__(self, output: str, query: Any) -> None:
        self.query = query
        self.status = QueryStatus(output=output, id=query.id, run_id=query.runId)
        self.idle = False
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

    def _take(self, fresh: list[Any]) -> None:
        report = BatchReport.of(fresh[-1])
        judges, keeps_state = bool(report.bad_records), report.dropped_rows is not None
        reports = [BatchReport.of(one) for one in fresh] if judges or keeps_state else []
        self._level_at = time.monotonic() if report.is_level else self._level_at
        self.status = replace(
            self.status,
            batch=report.batch,
            last_commit=report.ended,
            batch_seconds=report.seconds,
            input_rows_per_second=finite(report.input_rate),
            processed_rows_per_second=finite(report.processed_rate),
            lag=report.lag,
            watermark=report.times.watermark,
            state_rows=report.state_rows,
            state_bytes=report.state_bytes,
            rows_dropped_by_watermark=report.dropped_rows,
            input_rows=self.status.input_rows + sum(one.numInputRows() for one in fresh),
            late_rows=self.status.late_rows + sum(one.dropped_rows or 0 for one in reports),
            bad_records=self._bad_records(reports),
        )

    def _bad_records(self, fresh: list[BatchReport]) -> dict[str, int]:
        found = dict(self.status.bad_records)
        for report in fresh:
            for name, count in report.bad_records.items():
                found[name] = found.get(name, 0) + count
        return found

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
        """How long things take, by a clock that no one sets."""
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
        """Whether the sources said at least once that there is nothing new. Before its first trigger a query
        waits too, with work ahead.
        """
        return bool(self.query._jsq.streamingQuery().noNewData())


def _mark(report: Any) -> tuple[int, str] | None:
    """What tells a report from all others of its query; None where there is none yet."""
    return None if report is None else (report.batchId(), report.timestamp())
