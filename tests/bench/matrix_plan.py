"""The plans of the matrix without Spark and brokers: their answers are given, as in the golden tests.

Each cell's job runs as it is before the change. Its change is planned, and so is each way out that the plan
offers: none may be blocked. Only a run of the matrix shows what an apply does, and which rows are there.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from flareiac.app.discovery import installed
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.planning.make_plan import Maintenance, Options, make_plan
from flareiac.render.diagnostics import text
from flareiac.render.plan_json import plan_json
from flareiac_spark_runtime.control import ALL
from flareiac_spark_runtime.sources.bad_records import output_name
from tests.bench.matrix_cells import Cell
from tests.bench.matrix_change import Happening, Way, line
from tests.bench.matrix_jobs import LAKE, Job, declared, places_read, source_tables
from tests.bench.matrix_kafka import Servers, connections, write_files
from tests.bench.matrix_model import Grouped, Measured, Unique
from tests.bench.matrix_rows import LANDED
from tests.bench.matrix_verdict import Planned, blockers_of, judge, next_job, paste
from tests.golden.case import Case, CaseOptions, configuration, planning_inputs, recorded_state

_SERVERS: Final = Servers(plain="127.0.0.1:9092", login="127.0.0.1:9093", other="127.0.0.1:9094")
_OPERATORS: Final = {Grouped: "stateStoreSave", Unique: "dedupe", Measured: "symmetricHashJoin"}


def plan_cells(root: Path, cells: Sequence[Cell]) -> None:
    """Notes in the cells what differs in their plans from what is expected. ``root`` is an empty folder."""
    for place in LANDED:
        (root / "landing" / place).mkdir(parents=True)
    write_files(root)
    planned = _plan(root, cells, lambda cell: cell.change.after)
    for cell in cells:
        judge(cell, planned)
    blocked = [cell for cell in cells if cell.blockers]
    _answer(root, blocked, next_job, "the way out")
    for way in (Way.TOKEN, Way.EARLIEST, Way.CARRY_OVER):
        offered = [cell for cell in blocked if _pasted(cell, way) and cell.change.way is not way]
        _answer(root, offered, partial(_pasted, way=way), f"the offered way {way}")


def _pasted(cell: Cell, way: Way) -> Job | None:
    return paste(cell.change.after, cell.blockers, way)


def _answer(root: Path, cells: Sequence[Cell], answer: Callable[[Cell], Job | None], what: str) -> None:
    """Plans the jobs that answer the verdicts, which nothing may block."""
    jobs = {cell.name: answer(cell) or cell.change.before for cell in cells}
    planned = _plan(root, cells, lambda cell: jobs[cell.name])
    for cell in cells:
        if blockers := blockers_of(cell, planned):
            codes = ", ".join(blocker["code"] for blocker in blockers)
            cell.wrong.append(f"{what} is blocked ({codes})")


def _plan(root: Path, cells: Sequence[Cell], job_of: Callable[[Cell], Job]) -> Planned:
    """Plans the cells' jobs over those that run."""
    diagnostics = Diagnostics()
    after = {cell.name: job_of(cell) for cell in cells}
    before = {cell.name: _running(cell) for cell in cells}
    observed = {cell.address: _observed(root, cell) for cell in cells} | {
        f"checkpoint.{cell.name}": {"move": {}} for cell in cells if _moves(cell)
    }
    case = Case(
        comment="",
        inputs={"observed.json": json.dumps(observed)},
        outputs={},
        main=_project(root, after),
        recorded=_project(root, before),
        observed=None,
        left=None,
        options=CaseOptions(),
    )
    # The code of a step is read with its block, from the one folder that it has before and after
    _write_code(root, before)
    recorded = recorded_state(case, root)
    _write_code(root, after)
    desired = configuration(case.main, root, diagnostics, snapshot=recorded)
    _write_code(root, before)
    inputs = planning_inputs(case, root, desired)
    _write_code(root, after)
    made = make_plan(inputs, Options(maintenance=Maintenance.EXCLUDE), diagnostics)
    errors = [finding for finding in diagnostics if finding.severity == "error"]
    assert not errors, text(errors, desired.sources, width=110, colour=False)
    record: Mapping[str, Any] = plan_json(made, tool_version="0", schemas=installed().registry.schemas)
    return {change["address"]: change["change"]["flareiac"] for change in record["resource_changes"]}


def _project(root: Path, jobs: dict[str, Job]) -> str:
    return "\n".join(
        [
            LAKE,
            source_tables(),
            connections(root, _SERVERS),
            *(declared(job, name) for name, job in jobs.items()),
        ]
    )


def _moves(cell: Cell) -> bool:
    return any(words.startswith("location") for words in cell.change.after.checkpoint)


def _running(cell: Cell) -> Job:
    before = cell.change.before
    return line("stopped = true")(before) if cell.change.paused else before


def _write_code(root: Path, jobs: dict[str, Job]) -> None:
    for name, job in jobs.items():
        if job.code is not None:
            folder = root / "code" / name
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "steps.py").write_text(job.code)


def _observed(root: Path, cell: Cell) -> dict[str, Any]:
    """Returns the keywords of the golden tests' ``JobThere`` for a job as it runs before the change."""
    change, running = cell.change, _running(cell)
    operator = _OPERATORS.get(type(running.query))
    stopped = "stopped = true" in running.lines
    failed = change.event in (Happening.RECREATED, Happening.POISONED) and not stopped
    return {
        "state": "stopped" if stopped else "running",
        "phase": "failed" if failed else None,
        "error": "it cannot go on" if failed else None,
        "since_ms": 1_800_000_000_000 if failed else None,
        "committed": -1 if change.event is Happening.IN_FLIGHT else 0,
        "in_flight": change.event in (Happening.IN_FLIGHT, Happening.POISONED),
        "operators": [] if operator is None else [operator],
        "folders": [str(root / "landing" / running.place)] if running.source == "files" else [],
        "reach": {name: _reach(cell) for job in _topic_readers(cell) for name in _inputs(job)},
        "reach_of": {name: {} for job in _topic_readers(cell) for name in _queries(job)},
    }


def _topic_readers(cell: Cell) -> list[Job]:
    return [job for job in (cell.change.before, cell.change.after) if places_read(job)]


def _inputs(job: Job) -> list[str]:
    return ["events" if job.code is None else "raw", *(["more"] if job.more else [])]


def _queries(job: Job) -> list[str]:
    """The names of the queries: of each output or of all, and of the bad records of each input."""
    names = [ALL] if job.together else [output.label for output in job.outputs]
    return [*names, *(output_name(name) for name in _inputs(job) if job.quarantine)]


def _reach(cell: Cell) -> dict[str, Any]:
    """Returns the keywords of ``InputThere`` for the brokers' answer about the topics of a job."""
    if cell.change.event is Happening.RECREATED:
        return {"id": "t-2"}
    if cell.change.event is Happening.TRIMMED:
        return {"there": [[12, 12]]}
    return {"cluster": "c-2"} if cell.change.after.kafka.cluster == "other" else {}
