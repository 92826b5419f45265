"""Stops and starts a streaming query as one does by hand, in one session: ``python restart_handwritten.py SETTINGS.json``."""

import json
import sys
import time
from pathlib import Path
from typing import Any

_AFTER = 3
"""Batches before and after a restart: those after it show what a pause is that is none."""


def commits(checkpoint: Path) -> list[float]:
    """When Spark wrote its commits down, in the order of batches."""
    try:
        numbered = [path for path in (checkpoint / "commits").iterdir() if path.name.isdigit()]
        return [path.stat().st_mtime for path in sorted(numbered, key=lambda path: int(path.name))]
    except FileNotFoundError:
        return []


def end_of_pause(times: list[float], asked: float) -> float:
    """The end of the longest pause that ended after ``asked``, between commits at ``times`` that reach well beyond the restart."""
    ends = [at for at in range(1, len(times)) if times[at] > asked]
    return times[max(ends, key=lambda at: times[at] - times[at - 1])]


def main(settings_file: str) -> None:
    """Restarts the query as often as told, and writes the seconds beside the settings."""
    from pyspark.sql import SparkSession

    settings = json.loads(Path(settings_file).read_text())
    builder = SparkSession.builder.appName("handwritten")
    for key, value in settings["conf"].items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    checkpoint, found = Path(settings["checkpoint"]), []
    query = _start(spark, settings, settings["sqls"][0])
    for sql in settings["sqls"][1:]:
        _await(checkpoint, len(commits(checkpoint)) + _AFTER)
        asked = time.time()
        query.stop()
        known = len(commits(checkpoint))
        query = _start(spark, settings, sql)
        _await(checkpoint, known + _AFTER)
        found.append(end_of_pause(commits(checkpoint), asked) - asked)
    query.stop()
    spark.stop()
    Path(settings_file).with_suffix(".result.json").write_text(json.dumps(found))


def _start(spark: Any, settings: dict[str, Any], sql: str) -> Any:
    frame = spark.readStream.schema(settings["schema"]).option("maxFilesPerTrigger", 1).json(settings["path"])
    frame.createOrReplaceTempView("raw")
    return spark.sql(sql).writeStream.option("checkpointLocation", settings["checkpoint"]).toTable(settings["table"])


def _await(checkpoint: Path, count: int) -> None:
    while len(commits(checkpoint)) < count:
        time.sleep(0.05)


if __name__ == "__main__":
    main(sys.argv[1])
