"""The time from the wish to change a job to its first batch, beside a stop and a start by hand in a warm
session.

Both read the same files, one per batch, and never run out of them. By hand there are two ways: to stop at
once, and to let the batch that runs commit first, as FlareIaC does.
"""

import json
import statistics
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from flareiac_spark.application import ensure_running, stop_application, wait_for
from flareiac_spark_runtime.control import ApplicationSettings, ControlDirectory, DesiredJob, Status
from tests.bench.feeds import FLIGHTS, Files
from tests.bench.figure import Better, Figure, remark
from tests.bench.restart_handwritten import commits
from tests.bench.spark_figures import DEADLINE, Lake, Query

_RESTARTS: Final = 5
_ROUNDS: Final = 3
_FILES: Final = 600
_AFTER: Final = 3


def _query(restarts: int) -> Query:
    """The same rows by another text for each restart."""
    sql = f"SELECT ts, upper(carrier) AS carrier, delay * 60 AS delay FROM raw WHERE delay >= {-restarts}"
    return Query(name="restart", sql=sql, columns=FLIGHTS)


def restart(directory: Path, rows: int) -> Iterator[Figure]:
    """``rows`` per file; three rounds of five restarts each, in turns."""
    lake = Lake(directory, Files(directory / "files", rows, _FILES))
    ours: list[float] = []
    bare: list[float] = []
    alike: list[float] = []
    for number in range(_ROUNDS):
        remark(f"restart: round {number + 1} of {_ROUNDS}")
        bare += _handwritten(lake, f"bare_{number}", at_commit=False)
        ours += _flareiac(lake, f"ours_{number}")
        alike += _handwritten(lake, f"alike_{number}", at_commit=True)
        remark(
            f"restart: {_shown(ours)} s, by hand {_shown(bare)} s, by hand after a commit {_shown(alike)} s"
        )
    for name, theirs, bar in (
        ("by hand-written", bare, 1.1),
        ("by hand-written that lets the batch commit", alike, 1.1),
    ):
        detail = {
            "seconds": round(statistics.median(ours), 2),
            "handwritten seconds": round(statistics.median(theirs), 2),
        }
        value = statistics.median(ours) / statistics.median(theirs)
        yield Figure(
            name=f"restart, {name}", value=value, unit="times", bar=bar, better=Better.LOWER, detail=detail
        )


def _shown(seconds: list[float]) -> list[float]:
    return [round(item, 2) for item in seconds]


def _handwritten(lake: Lake, name: str, *, at_commit: bool) -> list[float]:
    """Seconds of each restart."""
    lake.make_table(_query(0), name)
    more = {
        "restarts": _RESTARTS,
        "sqls": [_query(times).sql for times in range(_RESTARTS + 1)],
        "at_commit": at_commit,
    }
    lake.run_program("restart_handwritten.py", name, _query(0), more)
    found: list[float] = json.loads((lake.root / f"{name}.result.json").read_text())
    return found


def _flareiac(lake: Lake, name: str) -> list[float]:
    """Seconds of each restart."""
    control, table = ControlDirectory(lake.root / f"runtime-{name}"), lake.make_table(_query(0), name)
    _want(control, lake, name, table, 0)
    ensure_running(control, lake.launch, timeout=DEADLINE)
    found: list[float] = []
    try:
        for times in range(1, _RESTARTS + 1):
            _await_batches(control)
            asked = time.time()
            digest = _want(control, lake, name, table, times)
            _await_batches(control)
            begun = _begun(control, digest)
            found.append(next(item for item in commits(lake.checkpoint(name)) if item > begun) - asked)
    finally:
        stop_application(control, timeout=120)
    return found


def _begun(control: ControlDirectory, digest: str) -> float:
    """The time at which a definition started, by the job's log: the one before had its last commit by
    then.
    """
    line = next(
        line for line in control.job_log("job.bench").read_text().splitlines() if f"(digest {digest}," in line
    )
    return datetime.strptime(line[:23], "%Y-%m-%d %H:%M:%S,%f").astimezone().timestamp()


def _want(control: ControlDirectory, lake: Lake, name: str, table: str, restarts: int) -> str:
    spec: Mapping[str, Any] = {**lake.spec(_query(restarts), name, table), "trigger": {"kind": "default"}}
    settings = ApplicationSettings(digest="a1", name=name, conf=lake.conf())
    job = DesiredJob(digest=uuid.uuid4().hex, spec=spec)
    control.update_desired(
        lambda desired: replace(desired, application=settings, jobs={"job.bench": job}),
        lineage="bench",
        workspace="default",
    )
    return job.digest


def _await_batches(control: ControlDirectory) -> None:
    """Until the definition that is wanted has committed some."""
    desired = control.read_desired()
    assert desired is not None, "a job is wanted"
    digest = desired.jobs["job.bench"].digest
    seen: set[int] = set()

    def enough(status: Status) -> bool:
        job = status.jobs.get("job.bench")
        if job is not None and job.phase == "failed":
            raise RuntimeError(f"the job failed: {job.last_error}")
        if job is not None and job.digest == digest:
            seen.update(query.batch for query in job.queries if query.batch is not None)
        return len(seen) > _AFTER

    wait_for(control, enough, timeout=DEADLINE)
