"""Takes all cells through their change at once: first rows, verdicts, what blocks, the ways out, the second
rows, what is there.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.bench.figure import remark
from tests.bench.matrix_cells import NEW_QUERY, RESTARTED, RUNS_ON, STARTED, STOPPED, Cell
from tests.bench.matrix_change import line
from tests.bench.matrix_happenings import arrive_after, fails, happen
from tests.bench.matrix_jobs import Job, declared, places_read, table_name, tables_alone
from tests.bench.matrix_kafka import topic_name
from tests.bench.matrix_lake import Lake
from tests.bench.matrix_model import Steady
from tests.bench.matrix_rows import LANDED, bad_text, counted, text
from tests.bench.matrix_verdict import blockers_of, judge, next_job

_SETTLES: Final = 900.0
_FAILS: Final = 120.0
"""Seconds until a job has failed on what it cannot go on with."""
_QUIET: Final = 15.0
"""Seconds in which all jobs were idle: what was not read by then never will be."""
_RESTS: Final = ("idle", "stopped", "completed", "failed")


def run(root: Path, cells: Sequence[Cell]) -> None:
    """Fills in what is found of each cell. Raises ``RuntimeError`` with what a command said that ended
    otherwise than it must.
    """
    lake = Lake(root, brokers=max(map(_clusters, cells), default=0))
    try:
        lake.open()
        if not (root / ".flareiac.lock.hcl").is_file():
            lake.run("init")
        _Course(lake, cells).run()
    finally:
        lake.close()


class _Course:
    def __init__(self, lake: Lake, cells: Sequence[Cell]) -> None:
        self.lake, self.cells = lake, cells
        self.runs: dict[str, tuple[set[str], set[str]]] = {}
        self.failed_runs: dict[str, tuple[set[str], set[str]]] = {}
        """The queries that run until what happens fails them: a job that cannot start again lists none."""

    def run(self) -> None:
        self._timed(f"{len(self.cells)} jobs as they are before", self._before)
        self._timed("what happens in between", self._between)
        self._timed("plans of the changes", self._verdicts)
        self._timed("a plan that is blocked changes nothing", self._blocked)
        self._timed("the ways out", self._ways_out)
        self._timed("the second rows", self._second)

    def _timed(self, what: str, phase: Any) -> None:
        started = time.monotonic()
        phase()
        remark(f"{what}: {time.monotonic() - started:.0f} s")

    def _before(self) -> None:
        lake = self.lake
        for cell in self.cells:
            lake.write(cell.name, tables_alone(cell.change.before, cell.name))
        lake.run("apply", "-auto-approve")
        for cell in self.cells:
            for output in cell.change.before.outputs:
                if output.branch:
                    lake.lay(table_name(output, cell.name))
        lake.land(0)
        self._land_topics(0)
        for cell in self.cells:
            self._write(cell, cell.change.before)
        lake.run("apply", "-auto-approve")
        self._compare({cell.name: cell.rows_first() for cell in self.cells}, "before the change")

    def _between(self) -> None:
        paused = [cell for cell in self.cells if cell.change.paused]
        for cell in paused:
            self._write(cell, line("stopped = true")(cell.change.before))
        if paused:
            self.lake.run("apply", "-auto-approve")
        failing = [cell for cell in self.cells if fails(cell)]
        self.failed_runs = {cell.address: self._ids(cell) for cell in failing}
        for cell in self.cells:
            happen(cell, self.lake)
        self.lake.await_all(lambda: all(map(self._has_failed, failing)), _FAILS)
        for cell in failing:
            if not self._has_failed(cell):
                cell.wrong.append("it did not fail on what happened")
        for cell in self.cells:
            arrive_after(cell, self.lake)
        self.runs = {cell.address: self._ids(cell) for cell in self.cells}

    def _has_failed(self, cell: Cell) -> bool:
        return bool(self.lake.jobs()[cell.address]["phase"] == "failed")

    def _verdicts(self) -> None:
        for cell in self.cells:
            self._write(cell, cell.change.after)
        _code, planned = self.lake.plan()
        for cell in self.cells:
            judge(cell, planned)

    def _blocked(self) -> None:
        if not any(cell.blockers for cell in self.cells):
            return
        self.lake.run("apply", "-auto-approve", codes=(4,))
        for cell in self.cells:
            if self._ids(cell) != self.runs[cell.address]:
                cell.wrong.append("a plan that was blocked touched it")

    def _ways_out(self) -> None:
        for cell in self.cells:
            self._write(cell, next_job(cell))
        code, planned = self.lake.plan()
        for cell in self.cells:
            if not (blockers := blockers_of(cell, planned)):
                continue
            codes = ", ".join(blocker["code"] for blocker in blockers)
            cell.wrong.append(f"the way out is blocked ({codes})")
            self._write(cell, cell.change.before)
        if code == 0:
            return
        done = self.lake.run("apply", "-auto-approve", codes=(0, 7))
        if done.code:
            remark(done.text[-6000:])
        for cell in self.cells:
            self._outcome(cell)

    def _outcome(self, cell: Cell) -> None:
        queries, runs = self._ids(cell)
        queries_before, runs_before = self.failed_runs.get(cell.address) or self.runs[cell.address]
        status = self.lake.jobs()[cell.address]
        if status["phase"] == "stopped":
            cell.outcome = STOPPED
        elif not runs_before or cell.change.paused:
            cell.outcome = STARTED
        elif runs == runs_before:
            cell.outcome = RUNS_ON
        else:
            # An output that comes or goes has a query of its own
            kept = queries_before <= queries or (queries and queries <= queries_before)
            cell.outcome = RESTARTED if kept else NEW_QUERY
        if cell.outcome != cell.right_outcome:
            cell.wrong.append(f"it {cell.outcome}, where it is right that it {cell.right_outcome}")

    def _second(self) -> None:
        self.lake.land(1)
        self._land_topics(1)
        self._compare({cell.name: cell.rows_last() for cell in self.cells}, "at the end")
        _code, planned = self.lake.plan()
        for cell in self.cells:
            for address in (cell.address, f"checkpoint.{cell.name}"):
                if planned[address]["action"] not in ("no-op", "record"):
                    cell.wrong.append(
                        f"the next plan would {planned[address]['action']} {address.partition('.')[0]}"
                    )
        jobs = self.lake.jobs()
        for cell in self.cells:
            cell.failures = jobs[cell.address].get("failures") or 0

    # Parts

    def _land_topics(self, number: int) -> None:
        """The rows of the topics that a cell reads; the second ones in the form that it reads in the end."""
        for cell in filter(_has_topics, self.cells):
            jobs = (cell.change.before, cell.change.after)
            if number == 0:
                for topic in dict.fromkeys(output.topic for job in jobs for output in job.outputs):
                    if topic:
                        self.lake.brokers.create(topic_name(cell.name, topic))
            read = jobs[0] if number == 0 else cell.last
            for place in dict.fromkeys(place for job in jobs for place in places_read(job)):
                topic, cluster = topic_name(cell.name, place), read.kafka.cluster
                if number == 0:
                    self.lake.brokers.create(topic)
                landed = LANDED[place][number]
                self.lake.brokers.land(topic, landed, read.kafka.format, cluster)

    def _write(self, cell: Cell, job: Job) -> None:
        self.lake.write(cell.name, declared(job, cell.name))
        self.lake.write_code(cell.name, job.code)

    def _ids(self, cell: Cell) -> tuple[set[str], set[str]]:
        """The ids of the queries and of their runs."""
        queries = self.lake.jobs().get(cell.address, {}).get("queries") or ()
        return {query["id"] for query in queries}, {query["run_id"] for query in queries}

    def _compare(self, wanted: Mapping[str, Mapping[str, str]], when: str) -> None:
        """Waits until all is as wanted, or nothing moves any more."""
        waiting = {cell.name: cell for cell in self.cells}
        looked: dict[str, object] = {}
        moved, deadline = time.monotonic(), time.monotonic() + _SETTLES
        before: object = None
        while waiting and time.monotonic() < deadline and time.monotonic() - moved < _QUIET:
            jobs = self.lake.jobs()
            now = {cell.name: _stands(cell, jobs[cell.address]) for cell in self.cells}
            for name, cell in tuple(waiting.items()):
                new = now[name].resting and (looked.get(name) != now[name] or _is_steady(cell))
                if new and self._found(cell, wanted[name]) == wanted[name]:
                    del waiting[name]
                looked[name] = now[name]
            if now != before or not all(item.resting for item in now.values()):
                before, moved = now, time.monotonic()
            time.sleep(1)
        for cell in self.cells:
            cell.found = self._found(cell, wanted[cell.name])
            cell.wrong += [
                f"{when} {table} holds [{found}], not [{wanted[cell.name][table]}]"
                for table, found in cell.found.items()
                if found != wanted[cell.name][table]
            ]

    def _found(self, cell: Cell, wanted: Mapping[str, str]) -> dict[str, str]:
        return {table: self._told(cell, table) for table in wanted}

    def _told(self, cell: Cell, table: str) -> str:
        if table.endswith("~"):
            return text(self.lake.brokers.rows(topic_name(cell.name, table[:-1])))
        told = counted if _is_steady(cell) else bad_text if table.endswith("!") else text
        return self.lake.rows(f"{cell.name}_{table.rstrip('@!')}", branch=table.endswith("@"), told=told)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stands:
    resting: bool
    batches: tuple[int | None, ...]


def _stands(cell: Cell, job: Mapping[str, Any]) -> _Stands:
    """The progress of a job; where it reads a rate stream it never is at rest, and that does not count."""
    if _is_steady(cell):
        return _Stands(resting=True, batches=())
    return _Stands(resting=job["phase"] in _RESTS, batches=tuple(query["batch"] for query in job["queries"]))


def _is_steady(cell: Cell) -> bool:
    return isinstance(cell.change.before.query, Steady)


def _clusters(cell: Cell) -> int:
    """The number of clusters of Kafka that a cell needs."""
    jobs = (cell.change.before, cell.change.after)
    if any(job.kafka.cluster == "other" for job in jobs):
        return 2
    return int(any(job.source == "kafka" or any(output.topic for output in job.outputs) for job in jobs))


def _has_topics(cell: Cell) -> bool:
    return _clusters(cell) > 0
