"""Throughput of a streaming job beside the same query in hand-written PySpark, in turns, each in a Spark
application of its own.
"""

import json
import os
import statistics
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from flareiac_spark.application import Launch, ensure_running, stop_application, wait_for
from flareiac_spark.application.launch import launch_conf
from flareiac_spark.runtime.java import require_java
from flareiac_spark_runtime.control import ApplicationSettings, ControlDirectory, DesiredJob, Status
from tests.bench.feeds import FLIGHTS, Feed, Files, Records
from tests.bench.figure import Better, Figure, remark
from tests.bench.programs import Command
from tests.support.kafka_broker import Broker

BATCHES, _WARM_UP = 40, 20
"""The JVM compiles what it runs: in the first batches that takes as long as the work (25 of 50 s of CPU in 16
of them, measured), and a job runs for days.
"""
_ROUNDS = 3
DEADLINE = 900.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One query, for both sides; ``columns`` are those of its table in Iceberg's spelling. ``keys`` and
    ``latest_by`` belong to a merge.
    """

    name: str
    sql: str
    columns: tuple[tuple[str, str], ...]
    mode: str = "append"
    watermark: tuple[str, str] | None = None
    keys: tuple[str, ...] = ()
    latest_by: str = ""


QUERIES = (
    Query(
        name="append",
        sql="SELECT ts, upper(carrier) AS carrier, delay * 60 AS delay FROM raw WHERE delay IS NOT NULL",
        columns=FLIGHTS,
    ),
    Query(
        name="aggregation",
        sql="SELECT window.start AS hour, carrier, count(*) AS flights, sum(delay) AS delay FROM raw "
        "GROUP BY window(ts, '1 hour'), carrier",
        columns=(("hour", "timestamptz"), ("carrier", "string"), ("flights", "long"), ("delay", "long")),
        watermark=("ts", "10 minutes"),
    ),
    Query(
        name="merge",
        sql="SELECT ts, carrier, delay FROM raw",
        columns=FLIGHTS,
        mode="merge",
        keys=("carrier", "delay"),
        latest_by="ts",
    ),
)


def throughput(directory: Path, rows: int) -> Iterator[Figure]:
    """``rows`` per file, one file per batch; the first batches warm the JVM up and are not counted."""
    yield from figures(Lake(directory, Files(directory / "files", rows, BATCHES)), "throughput")


def kafka_throughput(directory: Path, rows: int) -> Iterator[Figure]:
    """As ``throughput``, of JSON records of a topic of a broker on this machine."""
    with Broker(directory / "kafka", require_java().home) as broker:
        records = Records(broker.bootstrap, rows, BATCHES)
        yield from figures(Lake(directory, records), "throughput from Kafka")


def figures(lake: "Lake", what: str) -> Iterator[Figure]:
    for query in QUERIES:
        ours: list[float] = []
        theirs: list[float] = []
        for number in range(_ROUNDS):
            remark(f"{query.name}: round {number + 1} of {_ROUNDS}")
            theirs.append(lake.handwritten(query, f"{query.name}_hand_{number}"))
            ours.append(lake.flareiac(query, f"{query.name}_ours_{number}"))
        yield Figure(
            name=f"{what}, {query.name}",
            value=statistics.median(ours) / statistics.median(theirs),
            unit="times",
            bar=0.98,
            better=Better.HIGHER,
            detail={
                "rows per second": round(statistics.median(ours)),
                "handwritten rows per second": round(statistics.median(theirs)),
                "by round": [round(mine / other, 3) for mine, other in zip(ours, theirs, strict=True)],
            },
        )


class Lake:
    """A SQLite catalog, what to read, and both ways to run a query over it."""

    def __init__(
        self, root: Path, feed: Feed, master: str = "local[2]", conf: Mapping[str, str] | None = None
    ) -> None:
        from pyiceberg.catalog.sql import SqlCatalog

        self.root, self.feed, self._more_conf = root, feed, conf or {}
        self.catalog = SqlCatalog(
            "lake", uri=f"sqlite:///{root}/catalog.db", warehouse=f"file://{root}/warehouse"
        )
        self.catalog.create_namespace("bench")
        self.launch = Launch(
            java_home=require_java().home, jars=(*_jars(), *feed.jars), master=master, memory="1g"
        )

    def flareiac(self, query: Query, name: str) -> float:
        """Rows per second as a job of FlareIaC's driver."""
        control = ControlDirectory(self.root / f"runtime-{name}")
        job = DesiredJob(digest=uuid.uuid4().hex, spec=self.spec(query, name, self.make_table(query, name)))
        settings = ApplicationSettings(digest="a1", name=name, conf=self.conf())
        control.update_desired(
            lambda desired: replace(desired, application=settings, jobs={"job.bench": job}),
            lineage="bench",
            workspace="default",
        )
        ensure_running(control, self.launch, timeout=DEADLINE)
        try:
            ended = wait_for(control, _has_ended, timeout=DEADLINE)
            if ended != "completed":
                raise RuntimeError(f"the job {name} ended as {ended}: {control.read_status()}")
        finally:
            stop_application(control, timeout=120)
        return self._rate(name)

    def handwritten(self, query: Query, name: str) -> float:
        """Rows per second as a program of its own, with the same settings of Spark."""
        self.make_table(query, name)
        self.run_program("handwritten.py", name, query)
        return self._rate(name)

    def run_program(
        self, program: str, name: str, query: Query, more: Mapping[str, Any] | None = None
    ) -> None:
        """Runs a program beside this module to its end."""
        self.program(program, name, query, more).run()

    def program(
        self, program: str, name: str, query: Query, more: Mapping[str, Any] | None = None
    ) -> Command:
        """A program beside this module; its argument is a file ``NAME.json`` with its settings."""
        settings = {
            "conf": {
                **self.conf(),
                **launch_conf(self.launch),
                "spark.ui.enabled": "false",
                "spark.sql.session.timeZone": "UTC",
            },
            **self.feed.settings(),
            "sql": query.sql,
            "mode": query.mode,
            "watermark": query.watermark,
            "keys": query.keys,
            "latest_by": query.latest_by,
            "checkpoint": str(self.checkpoint(name)),
            "table": f"lake.bench.{name}",
            **(more or {}),
        }
        file = self.root / f"{name}.json"
        file.write_text(json.dumps(settings))
        environment = {
            **os.environ,
            "JAVA_HOME": str(self.launch.java_home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
        }
        return Command(
            words=(sys.executable, str(Path(__file__).parent / program), str(file)),
            directory=self.root,
            environment=environment,
        )

    def _rate(self, name: str) -> float:
        """From the times at which Spark wrote down its commits: those are there whoever ran the query."""
        commits = [path for path in (self.checkpoint(name) / "commits").iterdir() if path.name.isdigit()]
        times = {int(path.name): path.stat().st_mtime for path in commits}
        last = self.feed.batches - 1
        if len(times) <= last:
            raise RuntimeError(f"{name} committed {len(times)} batches of {self.feed.batches}")
        return (last - _WARM_UP) * self.feed.rows / (times[last] - times[_WARM_UP])

    def checkpoint(self, name: str) -> Path:
        return self.root / "checkpoints" / name

    def conf(self) -> dict[str, str]:
        catalog = "spark.sql.catalog.lake"
        return {
            catalog: "org.apache.iceberg.spark.SparkCatalog",
            f"{catalog}.type": "jdbc",
            f"{catalog}.uri": f"jdbc:sqlite:{self.root}/catalog.db?journal_mode=WAL&busy_timeout=15000",
            f"{catalog}.jdbc.schema-version": "V1",
            f"{catalog}.warehouse": f"file://{self.root}/warehouse",
            f"{catalog}.cache-enabled": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
            **self._more_conf,
        }

    def spec(self, query: Query, name: str, table_uuid: str) -> dict[str, Any]:
        stream: dict[str, Any] = {"name": "raw", "kind": "stream", "source": self.feed.source()}
        if query.watermark:
            stream["watermark"] = {"column": query.watermark[0], "delay": query.watermark[1]}
        output: dict[str, Any] = {
            "name": "out",
            "from": "result",
            "identifier": ["lake", "bench", name],
            "uuid": table_uuid,
            "mode": query.mode,
            "columns": _spelled(query.columns),
            "checkpoint": str(self.checkpoint(name)),
        }
        if query.keys:
            output["merge"] = {"on": list(query.keys), "latest_by": query.latest_by}
        steps = [{"name": "result", "sql": query.sql}]
        return {
            "address": "job.bench",
            "mode": "stream",
            "trigger": {"kind": "available_now"},
            "inputs": [stream],
            "steps": steps,
            "outputs": [output],
        }

    def make_table(self, query: Query, name: str) -> str:
        from pyiceberg.schema import Schema
        from pyiceberg.types import LongType, NestedField, StringType, TimestamptzType

        types: Mapping[str, Any] = {
            "timestamptz": TimestamptzType(),
            "string": StringType(),
            "long": LongType(),
        }
        fields = [
            NestedField(at + 1, column, types[kind], required=False)
            for at, (column, kind) in enumerate(query.columns)
        ]
        return str(self.catalog.create_table(("bench", name), Schema(*fields)).metadata.table_uuid)


def _has_ended(status: Status) -> str | None:
    job = status.jobs.get("job.bench")
    return job.phase if job is not None and job.phase in ("completed", "failed") else None


def _spelled(columns: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    return [{"name": name, "type": kind} for name, kind in columns]


def _jars() -> tuple[Path, ...]:
    listed = os.environ.get("FLAREIAC_TEST_JARS", "")
    if not listed:
        fetch = [sys.executable, "-m", "flareiac_spark.runtime.fetch"]
        listed = subprocess.run(fetch, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    return tuple(Path(item) for item in listed.split(os.pathsep))
