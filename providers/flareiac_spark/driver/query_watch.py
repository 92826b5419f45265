"""What does one streaming query do? Reads Spark's progress reports; changes nothing."""

import contextlib
import datetime as dt
import json
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
        self._quiet_looks = 0
        self._seen: tuple[int, str] | None = None

    def look(self) -> int:
        """Takes in what is new; returns how many batches were committed since the last look."""
        fresh = self._fresh_reports()
        if fresh:
            self._take(fresh)
        self._judge_idleness(bool(fresh))
        return len(fresh)

    def _fresh_reports(self) -> list[Any]:
        """Reports of executed batches since the last look, oldest first. A report without ``addBatch`` is of an empty trigger."""
        fresh: list[Any] = []
        for report in reversed(list(self.query._jsq.recentProgress())):
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
        self.status = QueryStatus(
            output=self.status.output,
            id=self.status.id,
            run_id=self.status.run_id,
            batch=report["batchId"],
            last_commit=begun + report.get("durationMs", {}).get("triggerExecution", 0) / 1000,
            input_rows_per_second=_number(report.get("inputRowsPerSecond")),
            processed_rows_per_second=_number(report.get("processedRowsPerSecond")),
            lag={str(at): _lag(source) for at, source in enumerate(report.get("sources", []))},
            watermark=report.get("eventTime", {}).get("watermark"),
            state_rows=sum(operator.get("numRowsTotal", 0) for operator in state) if state else None,
            rows_dropped_by_watermark=sum(operator.get("numRowsDroppedByWatermark", 0) for operator in state) if state else None,
            input_rows=self.status.input_rows + sum(one.numInputRows() for one in fresh),
        )

    def _judge_idleness(self, worked: bool) -> None:
        """Idle after two looks in a row without work: with a short trigger one look may fall between two batches."""
        seen = self.query.status
        if self.status.batch is None and not self._asked():
            return
        waiting = not worked and not seen["isDataAvailable"] and seen["message"].startswith(_WAITING)
        polling = not worked and not seen["isDataAvailable"] and self._quiet_looks > 0
        self._quiet_looks = self._quiet_looks + 1 if waiting or polling else 0
        self.idle = self._quiet_looks >= 2

    def _asked(self) -> bool:
        """Whether the sources said at least once that there is nothing new. Before its first trigger a query waits too, with work ahead."""
        return bool(self.query._jsq.streamingQuery().noNewData())


def _lag(source: dict[str, Any]) -> dict[str, Any]:
    lag = {"source": source.get("description"), "end": source.get("endOffset"), "latest": source.get("latestOffset")}
    return {**lag, **({"metrics": source["metrics"]} if source.get("metrics") else {})}


def _number(value: Any) -> float | None:
    with contextlib.suppress(TypeError, ValueError):
        number = float(value)
        return number if number == number and abs(number) != float("inf") else None
    return None
