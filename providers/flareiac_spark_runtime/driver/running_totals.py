"""Counts that go on over the runs of a query: what one run counts is added to what its earlier runs counted.

A run counts from zero, because Spark reports batches of the present run only. Any number that a driver adds
up over batches, and that is compared with a limit, can be kept in this way, by the id that Spark keeps in the
checkpoint. A job that starts again goes on counting, and a driver begins with what the last status of the one
before it says.
"""

from collections.abc import Mapping
from dataclasses import replace

from flareiac_spark_runtime.control import QueryStatus


class RunningTotals:
    """For one job; not safe to use from several threads at once."""

    def __init__(self, before: Mapping[str, int]) -> None:
        self._before = dict(before)
        self._last: dict[str, tuple[str, int]] = {}

    @property
    def counts(self) -> Mapping[str, int]:
        """The totals of all queries that counted something, by their ids."""
        ids = {*self._before, *self._last}
        totals = {name: self._before.get(name, 0) + self._last.get(name, ("", 0))[1] for name in ids}
        return {name: count for name, count in sorted(totals.items()) if count}

    def added(self, query: QueryStatus) -> QueryStatus:
        """The status of a run with its total in the place of its own count."""
        run, counted = self._last.get(query.id, (query.run_id, 0))
        if run != query.run_id:
            self._before[query.id] = self._before.get(query.id, 0) + counted
        self._last[query.id] = (query.run_id, query.late_rows)
        return replace(query, late_rows=self._before.get(query.id, 0) + query.late_rows)
