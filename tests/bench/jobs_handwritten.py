"""Many streaming queries as one writes them by hand, in one application: ``python jobs_handwritten.py
SETTINGS.json``.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

SETTLES = 20.0
"""Seconds after all have begun, in which they read the rest and fall idle."""


def memory_of(*pids: int) -> float:
    """Resident megabytes of processes together."""
    lines = [
        line
        for pid in pids
        for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        if line.startswith("VmRSS:")
    ]
    return sum(int(line.split()[1]) for line in lines) / 1024


def main(settings_file: str) -> None:
    """Starts all queries, and writes seconds and megabytes beside the settings."""
    began = time.monotonic()
    from pyspark.sql import SparkSession

    settings = json.loads(Path(settings_file).read_text())
    builder = SparkSession.builder.appName("handwritten")
    for key, value in settings["conf"].items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
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
    time.sleep(SETTLES)
    virtual_machine: Any = spark.sparkContext._jvm
    jvm = int(virtual_machine.java.lang.ProcessHandle.current().pid())
    found = {"seconds": seconds, "megabytes": memory_of(os.getpid(), jvm)}
    Path(settings_file).with_suffix(".result.json").write_text(json.dumps(found))
    for active in spark.streams.active:
        active.stop()
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
