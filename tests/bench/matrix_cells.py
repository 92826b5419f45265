"""One cell of the matrix: a change in one job, what must come of it, and what did."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tests.bench.matrix_change import Change, Happening, Start, Verdict, Way
from tests.bench.matrix_jobs import Job, Output
from tests.bench.matrix_model import Key, Measured, Memory, Steady, emitted, merged, written
from tests.bench.matrix_rows import (
    EACH_ONCE,
    LANDED,
    POISON,
    RECREATED,
    Event,
    Row,
    bad_text,
    event,
    is_bad,
    text,
)

RUNS_ON, RESTARTED, NEW_QUERY, STOPPED, STARTED = "runs on", "restarted", "new query", "stopped", "started"
LAID: Final = event("z", "z", 0, 0)
"""The row that a table has before it gets a branch: the branch begins with it, and main keeps it alone."""
_OUTCOMES: Final = {
    Verdict.NOTHING: RUNS_ON,
    Verdict.TAKEN: RUNS_ON,
    Verdict.LIVE: RUNS_ON,
    Verdict.NO_EFFECT: RUNS_ON,
    Verdict.RESTART: RESTARTED,
    Verdict.TOLD: RESTARTED,
    Verdict.GENERATION: NEW_QUERY,
    Verdict.STOPS: STOPPED,
    Verdict.STARTS: STARTED,
}
_AFTER: Final = {Way.TOKEN: RESTARTED, Way.EARLIEST: NEW_QUERY, Way.CARRY_OVER: NEW_QUERY, Way.UNDO: RUNS_ON}


@dataclass(slots=True)
class Cell:
    """``rows`` are found and wanted by table, as text. ``wrong`` is all that differs from what is right."""

    change: Change
    verdict: str = ""
    outcome: str = ""
    blockers: list[Mapping[str, Any]] = field(default_factory=list)
    found: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    failures: int = 0

    @property
    def name(self) -> str:
        """The label of its blocks."""
        parts = (
            self.change.name,
            self.change.family,
            self.change.before.source,
            self.change.output,
            self.change.way.value,
        )
        return re.sub(r"\W+", "_", "_".join(part for part in parts if part)).strip("_").lower()

    @property
    def address(self) -> str:
        return f"job.{self.name}"

    @property
    def right_outcome(self) -> str:
        """The outcome that apply must have with the job."""
        if self.change.paused:
            return STARTED
        return _OUTCOMES.get(self.change.verdict) or _AFTER[self.change.way]

    @property
    def last(self) -> Job:
        """The job as it is at the end."""
        return self.change.before if self.change.way is Way.UNDO else self.change.after

    def rows_first(self) -> dict[str, str]:
        """Each table before the change."""
        return _told(_History(self.change).first())

    def rows_last(self) -> dict[str, str]:
        """Each table at the end."""
        return _told(_History(self.change).last())


def _told(tables: Mapping[str, list[Row] | str]) -> dict[str, str]:
    return {
        name: rows if isinstance(rows, str) else (bad_text if name.endswith("!") else text)(rows)
        for name, rows in tables.items()
    }


class _History:
    """Plays a cell through the model."""

    def __init__(self, change: Change) -> None:
        self.change = change
        self.tables: dict[str, list[Row]] = {}
        self.memories: dict[str, Memory] = {}
        self.tombstones: dict[str, dict[Key, Any]] = {}

    def first(self) -> Mapping[str, list[Row] | str]:
        before = self.change.before
        match before.query:
            case Measured(first=first):
                return {before.outputs[0].table: first}
            case Steady():
                return {before.outputs[0].table: EACH_ONCE}
            case _:
                self._lay(before)
        if "stopped = true" not in before.lines:
            self._play(before, before.outputs, _read(before, 0))
            self._keep(before, _read(before, 0))
        return self.tables

    def last(self) -> Mapping[str, list[Row] | str]:
        before, after, way = self.change.before, self.change.after, self.change.way
        match before.query:
            case Measured(last=last):
                return {before.outputs[0].table: last[way.value]}
            case Steady():
                return {before.outputs[0].table: EACH_ONCE}
            case _:
                self.first()
        if way is Way.UNDO:
            self._play(before, before.outputs, _read(before, 1))
            self._keep(before, _read(before, 1))
            return self.tables
        self._lay(after)
        if "stopped = true" in after.lines:
            return self.tables
        numbers = self._begin(before, after)
        if 0 not in numbers and not after.together:
            # An output that is new begins with what is there.
            self._play(after, after.outputs[len(before.outputs) :], _read(after, 0))
        for added in sorted(set(_beside(after)) - set(_beside(before))):
            if 0 not in numbers:
                self._play(after, after.outputs, LANDED[added][0])
        if after.quarantine and after.quarantine != before.quarantine and not before.quarantine:
            # Its query is new, and begins with what is there.
            self._keep(after, _read(after, 0) if 0 not in numbers else ())
        extra = {Happening.POISONED: POISON, Happening.RECREATED: RECREATED}.get(self.change.event, ())
        self._play(after, after.outputs, extra)
        self._keep(after, extra)
        for number in numbers:
            self._play(after, after.outputs, _read(after, number))
            self._keep(after, _read(after, number))
        return self.tables

    def _begin(self, before: Job, after: Job) -> tuple[int, ...]:
        """The batches that the changed job reads. Forgets what a new generation leaves behind."""
        match self.change.start or self.change.way:
            case Way.EARLIEST if self.change.loses:
                self.memories.clear()
                return (1,)
            case Way.EARLIEST | Start.TRUNCATE:
                self.memories.clear()
                for output in after.outputs:
                    self.tables[_place(output)] = []
                self.tombstones.clear()
                return (0, 1)
            case Start.KEEP:
                self.memories.clear()
                return (0, 1)
            case Way.CARRY_OVER | Start.ONWARDS:
                self.memories.clear()
                same = (after.source, after.place) == (before.source, before.place)
                return (1,) if same else (0, 1)
            case _:
                return (0, 1) if "stopped = true" in before.lines else (1,)

    def _lay(self, job: Job) -> None:
        for output in job.outputs:
            laid = [_laid()] if output.branch else []
            self.tables.setdefault(_place(output), list(laid))
            if output.branch:
                self.tables.setdefault(output.table, list(laid))

    def _play(self, job: Job, outputs: Sequence[Output], batch: Sequence[Event]) -> None:
        assert not isinstance(job.query, Measured | Steady), "its rows are given"
        batch = _seen(job, batch)
        for output in outputs:
            memory = self.memories.setdefault(output.label, Memory())
            rows = emitted(job.query, memory, batch, output.mode)
            place, mode = _place(output), output.mode
            if output.topic:
                rows, mode = [_record(output, row) for row in rows], "append"
            if output.deletes is not None:
                kept = self.tombstones.setdefault(output.tombstones, {}) if output.tombstones else None
                self.tables[place] = merged(self.tables[place], rows, output.keys, output.deletes, kept)
            else:
                self.tables[place] = written(self.tables[place], rows, mode, output.keys, output.updates)

    def _keep(self, job: Job, batch: Sequence[Event]) -> None:
        """The bad records of a batch, for quarantine."""
        if not job.quarantine:
            return
        kept = self.tables.setdefault(bad_place(job.quarantine), [])
        kept += [{"raw": json.dumps({"m": row["m"]}), "input": "events"} for row in batch if is_bad(row)]


def bad_place(table: str) -> str:
    """A quarantine table, among the tables of a cell."""
    return f"{table}!"


def _read(job: Job, number: int) -> Sequence[Event]:
    return [row for place in (job.place, *_beside(job)) for row in LANDED[place][number]]


def _beside(job: Job) -> tuple[str, ...]:
    """The places that it reads beside its own, in a stream of their own or in the same."""
    return (*(("more",) if job.more else ()), *(job.kafka.also if job.source == "kafka" else ()))


def _seen(job: Job, batch: Sequence[Event]) -> Sequence[Event]:
    """The rows that come out of the source."""
    if job.bad == "null":
        return [dict.fromkeys(row) if is_bad(row) else row for row in batch]
    return [row for row in batch if not is_bad(row)]


def _record(output: Output, row: Row) -> Row:
    """A row as a record; a column that a header has is not in the value."""
    told = [row[output.key]] if output.key else []
    if any("headers" in line for line in output.writing):
        told.append(f"h={row['m']}")
        row = {name: value for name, value in row.items() if name != "m"}
    return {**row, "key": " ".join(told) or None}


def _place(output: Output) -> str:
    if output.topic:
        return f"{output.topic}~"
    return f"{output.table}@" if output.branch else output.table


def _laid() -> Row:
    return {"k": LAID["k"], "m": LAID["m"], "total": LAID["n"]}
