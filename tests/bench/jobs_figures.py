"""What do many jobs cost together? 24 jobs on one engine, beside the same 24 queries in one hand-written
application.
"""

import json
import statistics
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from flareiac_spark.application import ensure_running, stop_application, wait_for
from flareiac_spark.control import ApplicationSettings, ControlDirectory, DesiredJob, Status
from tests.bench.feeds import FLIGHTS, Files
from tests.bench.figure import Better, Figure, remark
from tests.bench.jobs_handwritten import SETTLES, memory_of
from tests.bench.spark_figures import DEADLINE, Lake, Query

JOBS: Final = 24
_ROUNDS: Final = 2
_FILES: Final = 4
_QUERIES: Final = tuple(
    Query(
        name=f"q{number:02}",
        sql=f"SELECT ts, upper(carrier) AS carrier, delay + {number} AS delay FROM raw",
        columns=FLIGHTS,
    )
    for number in range(JOBS)
)


def jobs(directory: Path, rows: int) -> Iterator[Figure]:
    """``rows`` per file, four files; two rounds, in turns. Memory is that of the driver's process and of its
    JVM, in megabytes.
    """
    lake = Lake(directory, Files(directory / "files", rows, _FILES))
    ours: list[tuple[float, float]] = []
    theirs: list[tuple[float, float]] = []
    for number in range(_ROUNDS):
        remark(f"jobs: round {number + 1} of {_ROUNDS}")
        theirs.append(_handwritten(lake, f"hand_{number}"))
        ours.append(_flareiac(lake, f"ours_{number}"))
    for at, what, bar, unit in (
        (0, "memory", 1.2, "megabytes"),
        (1, "time until each has its first batch", None, "seconds"),
    ):
        mine, by_hand = (statistics.median(run[at] for run in runs) for runs in (ours, theirs))
        detail = {unit: round(mine), f"handwritten {unit}": round(by_hand), "jobs": JOBS, "JVMs": 1}
        yield Figure(
            name=f"{JOBS} jobs, {what}, by hand-written",
            value=mine / by_hand,
            unit="times",
            bar=bar,
            better=Better.LOWER,
            detail=detail,
        )


def _handwritten(lake: Lake, name: str) -> tuple[float, float]:
    """Megabytes and seconds."""
    queries = [
        {
            "sql": query.sql,
            "checkpoint": str(lake.checkpoint(f"{name}_{query.name}")),
            "table": f"lake.bench.{name}_{query.name}",
        }
        for query in _QUERIES
    ]
    for query in _QUERIES:
        lake.make_table(query, f"{name}_{query.name}")
    lake.run_program("jobs_handwritten.py", name, _QUERIES[0], {"queries": queries})
    found = json.loads((lake.root / f"{name}.result.json").read_text())
    return found["megabytes"], found["seconds"]


def _flareiac(lake: Lake, name: str) -> tuple[float, float]:
    """Megabytes and seconds."""
    control = ControlDirectory(lake.root / f"runtime-{name}")
    wanted = {f"job.{query.name}": _job(lake, query, f"{name}_{query.name}") for query in _QUERIES}
    settings = ApplicationSettings(digest="a1", name=name, conf=lake.conf())
    control.update_desired(
        lambda desired: replace(desired, application=settings, jobs=wanted),
        lineage="bench",
        workspace="default",
    )
    began = time.monotonic()
    ensure_running(control, lake.launch, timeout=DEADLINE)
    try:
        status = wait_for(control, _all_have_begun, timeout=DEADLINE)
        seconds = time.monotonic() - began
        if status is None or status.application.jvm_pid is None:
            raise RuntimeError(f"not all jobs have begun: {control.read_status()}")
        time.sleep(SETTLES)
        return memory_of(status.application.pid, status.application.jvm_pid), seconds
    finally:
        stop_application(control, timeout=120)


def _job(lake: Lake, query: Query, name: str) -> DesiredJob:
    spec = lake.spec(query, name, lake.make_table(query, name))
    return DesiredJob(
        digest=uuid.uuid4().hex,
        spec={
            **spec,
            "address": f"job.{query.name}",
            "trigger": {"kind": "processing_time", "interval_ms": 1000},
        },
    )


def _all_have_begun(status: Status) -> Status | None:
    """Once each job has a batch; raises when one failed."""
    for address, job in status.jobs.items():
        if job.phase in ("failed", "backoff"):
            raise RuntimeError(f"{address} failed: {job.last_error}")
    begun = [
        job
        for job in status.jobs.values()
        if job.queries and all(query.batch is not None for query in job.queries)
    ]
    return status if len(begun) == JOBS else None
