"""The cost of many jobs together: so many jobs on one engine, beside the same queries in one hand-written
application.
"""

import json
import logging
import statistics
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pytest

from flareiac.sdk.versions import HADOOP_S3
from flareiac_spark.application import ensure_running, stop_application, wait_for
from flareiac_spark.s3_store import S3Store
from flareiac_spark_runtime.control import ApplicationSettings, ControlDirectory, DesiredJob, Status
from flareiac_spark_runtime.control.desired import PACKAGES as DECLARED_PACKAGES
from flareiac_spark_runtime.storage import open_with
from tests.bench.counting_s3 import Traffic, counting_s3
from tests.bench.feeds import FLIGHTS, Files
from tests.bench.figure import Better, Figure, remark
from tests.bench.jobs_handwritten import Cost, cost_of
from tests.bench.spark_figures import DEADLINE, Lake, Query
from tests.support.hadoop_jvm import s3_jars
from tests.support.moto_server import KEYS, make_bucket

_ROUNDS: Final = 2
_FILES: Final = 4
_BUCKET: Final = "control"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ours:
    cost: Cost
    requests_an_hour: float | None


def jobs(directory: Path, rows: int) -> Iterator[Figure]:
    """24 of them. ``rows`` per file, four files; two rounds, in turns."""
    yield from _figures(directory, rows, 24, None)


def many_jobs(directory: Path, rows: int) -> Iterator[Figure]:
    """100 of them, with a control directory in S3, whose requests are counted."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with counting_s3() as (address, traffic), pytest.MonkeyPatch.context() as environment:
        for name, value in {**KEYS, "AWS_ENDPOINT_URL": address}.items():
            environment.setenv(name, value)
        make_bucket(address, _BUCKET)
        open_with(S3Store)
        yield from _figures(directory, rows, 100, traffic)


def _figures(directory: Path, rows: int, count: int, traffic: Traffic | None) -> Iterator[Figure]:
    queries = tuple(
        Query(
            name=f"q{number:03}",
            sql=f"SELECT ts, upper(carrier) AS carrier, delay + {number} AS delay FROM raw",
            columns=FLIGHTS,
        )
        for number in range(count)
    )
    lake = Lake(directory, Files(directory / "files", rows, _FILES))
    ours: list[_Ours] = []
    theirs: list[Cost] = []
    for number in range(_ROUNDS):
        remark(f"{count} jobs: round {number + 1} of {_ROUNDS}")
        theirs.append(_handwritten(lake, queries, f"hand_{number}"))
        ours.append(_flareiac(lake, queries, f"ours_{number}", traffic))
    for what, bar in (("megabytes", 1.05), ("threads", 1.05), ("seconds", None)):
        mine = statistics.median(float(getattr(run.cost, what)) for run in ours)
        by_hand = statistics.median(float(getattr(run, what)) for run in theirs)
        yield Figure(
            name=f"{count} jobs on one engine, {what}, by hand-written",
            value=mine / by_hand,
            unit="times",
            bar=bar,
            better=Better.LOWER,
            detail={what: round(mine), f"handwritten {what}": round(by_hand)},
        )
    idle = statistics.median(run.cost.idle_percent for run in ours)
    yield Figure(
        name=f"{count} jobs on one engine, idle, beyond hand-written",
        value=idle - statistics.median(run.idle_percent for run in theirs),
        unit="percent of a core",
        bar=2,
        detail={
            "percent": [round(run.cost.idle_percent, 1) for run in ours],
            "handwritten percent": [round(run.idle_percent, 1) for run in theirs],
        },
    )
    requests = [run.requests_an_hour for run in ours if run.requests_an_hour is not None]
    if requests:
        yield Figure(
            name=f"{count} jobs on one engine, idle, requests to S3 an hour",
            value=statistics.median(requests),
            unit="requests",
        )


def _handwritten(lake: Lake, queries: tuple[Query, ...], name: str) -> Cost:
    written = [
        {
            "sql": query.sql,
            "checkpoint": str(lake.checkpoint(f"{name}_{query.name}")),
            "table": f"lake.bench.{name}_{query.name}",
        }
        for query in queries
    ]
    for query in queries:
        lake.make_table(query, f"{name}_{query.name}")
    lake.run_program("jobs_handwritten.py", name, queries[0], {"queries": written})
    return Cost(**json.loads((lake.root / f"{name}.result.json").read_text()))


def _flareiac(lake: Lake, queries: tuple[Query, ...], name: str, traffic: Traffic | None) -> _Ours:
    place = f"s3://{_BUCKET}/{name}" if traffic is not None else lake.root / f"runtime-{name}"
    control = ControlDirectory(place)
    wanted = {f"job.{query.name}": _job(lake, query, f"{name}_{query.name}") for query in queries}
    packages = {DECLARED_PACKAGES: ",".join(HADOOP_S3)} if traffic is not None else {}
    settings = ApplicationSettings(digest="a1", name=name, conf={**lake.conf(), **packages})
    control.update_desired(
        lambda desired: replace(desired, application=settings, jobs=wanted),
        lineage="bench",
        workspace="default",
    )
    began = time.monotonic()
    jars = s3_jars() if traffic is not None else ()
    launch = replace(lake.launch, jars=tuple(dict.fromkeys((*lake.launch.jars, *jars))))
    ensure_running(control, launch, timeout=DEADLINE)
    try:
        status = wait_for(control, lambda status: _all_have_begun(status, len(queries)), timeout=DEADLINE)
        seconds = time.monotonic() - began
        if status is None or status.application.jvm_pid is None:
            raise RuntimeError(f"not all jobs have begun: {control.read_status()}")
        if traffic is not None:
            traffic.begin()
        began = time.monotonic()
        cost = cost_of(seconds, status.application.pid, status.application.jvm_pid)
        hours = (time.monotonic() - began) / 3_600
        asked = sum(traffic.requests.values()) / hours if traffic is not None else None
        return _Ours(cost=cost, requests_an_hour=asked)
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


def _all_have_begun(status: Status, count: int) -> Status | None:
    """Once each job has a batch; raises when one failed."""
    for address, job in status.jobs.items():
        if job.phase in ("failed", "backoff"):
            raise RuntimeError(f"{address} failed: {job.last_error}")
    begun = [
        job
        for job in status.jobs.values()
        if job.queries and all(query.batch is not None for query in job.queries)
    ]
    return status if len(begun) == count else None
