"""Stops and starts a streaming query as one does by hand, in one session: ``python restart_handwritten.py
SETTINGS.json``.

By hand one stops at once, amid a batch, which is begun again. FlareIaC lets it commit first; told to
(``at_commit``), so does this program.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

_AFTER = 3
"""Batches before and after a restart."""
_PHASE = 0.1
"""Seconds: each stop is asked for at another moment of a batch."""


def commits(checkpoint: Path) -> list[float]:
    """The times at which Spark wrote its commits down, in the order of batches."""
    try:
        numbered = [path for path in (checkpoint / "commits").iterdir() if path.name.isdigit()]
        return [path.stat().st_mtime for path in sorted(numbered, key=lambda path: int(path.name))]
    except FileNotFoundError:
        return []


def main(settings_file: str) -> None:
    """Restarts the query as often as told, and writes the seconds beside the settings."""
    from pyspark.sql import SparkSession

    settings = json.loads(Path(settings_file).read_text())
    spark = SparkSession.builder.appName("handwritten").config(map=settings["conf"]).getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    checkpoint, found = Path(settings["checkpoint"]), []
    query = _start(spark, settings, settings["sqls"][0])
    for number, sql in enumerate(settings["sqls"][1:]):
        _await(checkpoint, len(commits(checkpoint)) + _AFTER)
        time.sleep(number * _PHASE)
        asked = time.time()
        if settings["at_commit"]:
            _await(checkpoint, len(commits(checkpoint)) + 1)
        query.stop()
        known = len(commits(checkpoint))
        query = _start(spark, settings, sql)
        _await(checkpoint, known + _AFTER)
        found.append(commits(checkpoint)[known] - asked)
    query.stop()
    spark.stop()
    Path(settings_file).with_suffix(".result.json").write_text(json.dumps(found))


def _start(spark: Any, settings: dict[str, Any], sql: str) -> Any:
    frame = spark.readStream.schema(settings["schema"]).option("maxFilesPerTrigger", 1).json(settings["path"])
    frame.createOrReplaceTempView("raw")
    return (
        spark.sql(sql)
        .writeStream.option("checkpointLocation", settings["checkpoint"])
        .toTable(settings["table"])
    )


def _await(checkpoint: Path, count: int) -> None:
    while len(commits(checkpoint)) < count:
        time.sleep(0.01)


if __name__ == "__main__":
    main(sys.argv[1])
