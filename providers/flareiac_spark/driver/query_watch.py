"""Follows one streaming query by Spark's progress reports; changes nothing."""

import contextlib
import datetime as dt
import json
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from flareiac_spark.control import QueryStatus

_WAITING = "Waiting for "
"""How Spark's status message begins once the sources were asked and there is nothing to do."""


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
        seen = self.query.status
        self._judge_idleness(bool(fresh), seen)
        self._measure(bool(fresh), seen, time.monotonic())
        return len(fresh)

    def _fresh_reports(self) -> list[Any]:
        """Reports of executed batches since the last look, oldest first. A report without ``addBatch`` is of
        an empty trigger.
        """
        fresh: list[Any] = []
        recent = self.query._jsq.recentProgress()
        for at in range(len(recent) - 1, -1, -1):  # each is asked of the JVM, and there are a hundred
            report = recent[at]
            mark = (report.batchId(), report.timestamp())
            if mark == self._seen:
                break
            if report.durationMs().containsKey("addBatch"):
                fresh.append(report)
        if fresh:
            self._seen = (fresh[0].batchId(), fresh[0].timestamp())
        return fresh[::-1]

    def _take(self, fresh: list[Any]) -> None:
        report = json.loads(fresh[-1].json())
        begun = dt.datetime.fromisoformat(report["timestamp"]).timestamp()
        state = report.get("stateOperators", [])
        took = report.get("durationMs", {}).get("triggerExecution", 0) / 1000
        self._level_at = time.monotonic() if _is_level(report) else self._level_at
        self.status = replace(
            self.status,
            batch=report["batchId"],
            last_commit=begun + took,
            batch_seconds=took,
            input_rows_per_second=_number(report.get("inputRowsPerSecond")),
            processed_rows_per_second=_number(report.get("processedRowsPerSecond")),
            lag={str(at): _lag(source) for at, source in enumerate(report.get("sources", []))},
            watermark=report.get("eventTime", {}).get("watermark"),
            state_rows=sum(operator.get("numRowsTotal", 0) for operator in state) if state else None,
            rows_dropped_by_watermark=sum(operator.get("numRowsDroppedByWatermark", 0) for operator in state)
            if state
            else None,
            input_rows=self.status.input_rows + sum(one.numInputRows() for one in fresh),
        )

    def _judge_idleness(self, worked: bool, seen: Mapping[str, Any]) -> None:
        """Idle after two looks in a row without work: with a short trigger one look may fall between two
        batches.
        """
        if self.status.batch is None and not self._asked():
            self.idle, self._quiet_looks = False, 0
            return
        waiting = not worked and not seen["isDataAvailable"] and seen["message"].startswith(_WAITING)
        polling = not worked and not seen["isDataAvailable"] and self._quiet_looks > 0
        self._quiet_looks = self._quiet_looks + 1 if waiting or polling else 0
        self.idle = self._quiet_looks >= 2

    def _measure(self, worked: bool, seen: Mapping[str, Any], now: float) -> None:
        """How long things take, by a clock that no one sets. A trigger that only asks its sources is no
        batch.
        """
        if worked:
            self._moved_at = now
        if self.idle:
            self._level_at = now
        active = bool(seen["isTriggerActive"] and seen["isDataAvailable"])
        self._batch_at = None if not active else now if worked or self._batch_at is None else self._batch_at
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


def _is_level(report: dict[str, Any]) -> bool:
    """Whether a batch read all that its sources had, as far as they tell."""
    sources = report.get("sources", [])
    return bool(sources) and all(
        item.get("latestOffset") is not None and item.get("endOffset") == item["latestOffset"]
        for item in sources
    )


def _lag(source: dict[str, Any]) -> dict[str, Any]:
    lag = {
        "source": source.get("description"),
        "end": source.get("endOffset"),
        "latest": source.get("latestOffset"),
    }
    return {**lag, **({"metrics": source["metrics"]} if source.get("metrics") else {})}


def _number(value: Any) -> float | None:
    with contextlib.suppress(TypeError, ValueError):
        number = float(value)
        return number if number == number and abs(number) != float("inf") else None
    return None
