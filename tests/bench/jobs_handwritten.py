"""Many streaming queries as one writes them by hand, in one application: ``python jobs_handwritten.py
SETTINGS.json``.
"""

import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

SETTLES = 20.0
"""Seconds after all have begun, in which they read the rest and fall idle."""
_IDLE = 30.0
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The cost of an application's processes: seconds until each query had a batch, resident megabytes,
    threads, and the percentage of one core that they take while nothing arrives.
    """

    seconds: float
    megabytes: float
    threads: int
    idle_percent: float


def cost_of(seconds: float, *pids: int) -> Cost:
    """Once they have settled; takes half a minute."""
    time.sleep(SETTLES)
    before, began = _cpu_seconds(pids), time.monotonic()
    time.sleep(_IDLE)
    used, passed = _cpu_seconds(pids) - before, time.monotonic() - began
    kilobytes, threads = (sum(_status(pid, key) for pid in pids) for key in ("VmRSS", "Threads"))
    return Cost(
        seconds=seconds, megabytes=kilobytes / 1024, threads=threads, idle_percent=100 * used / passed
    )


def _status(pid: int, key: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(f"{key}:")))


def _cpu_seconds(pids: tuple[int, ...]) -> float:
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])  # utime, stime
    return ticks / _TICKS


def main(settings_file: str) -> None:
    """Starts all queries, and writes what they cost beside the settings."""
    began = time.monotonic()
    from pyspark.sql import SparkSession

    settings = json.loads(Path(settings_file).read_text())
    spark = SparkSession.builder.appName("handwritten").config(map=settings["conf"]).getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    spark.readStream.schema(settings["schema"]).option("maxFilesPerTrigger", 1).json(
        settings["path"]
    ).createOrReplaceTempView("raw")
    for query in settings["queries"]:
        writer = spark.sql(query["sql"]).writeStream.trigger(processingTime="1 second")
        writer.option("checkpointLocation", query["checkpoint"]).toTable(query["table"])
    while not all((Path(query["checkpoint"]) / "commits" / "0").exists() for query in settings["queries"]):
        time.sleep(0.1)
    seconds = time.monotonic() - began
    virtual_machine: Any = spark.sparkContext._jvm
    jvm = int(virtual_machine.java.lang.ProcessHandle.current().pid())
    found = asdict(cost_of(seconds, os.getpid(), jvm))
    Path(settings_file).with_suffix(".result.json").write_text(json.dumps(found))
    for active in spark.streams.active:
        active.stop()
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
