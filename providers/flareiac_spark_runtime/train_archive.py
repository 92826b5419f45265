"""``python -m flareiac_spark_runtime.train_archive ARCHIVE WORK JAR...``: loads what a first apply loads, and
has the JVM write it down.

Runs in a process of its own: creates, fills, streams into and reads Iceberg tables in a directory that is
thrown away.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

_COLUMNS = "id LONG, ts TIMESTAMP, name STRING"


def main(arguments: list[str]) -> int:
    """0 when the application ran to its end; the JVM has then written the archive."""
    archive, work, jars = Path(arguments[0]), Path(arguments[1]), arguments[2:]
    spark = _session(archive, work, jars)
    gateway = spark.sparkContext._gateway
    _exercise(spark.newSession(), work)
    spark.stop()
    gateway.shutdown()
    # The JVM ends when its standard input does, and writes the archive while it ends.
    gateway.proc.stdin.close()
    return int(gateway.proc.wait())


def _session(archive: Path, work: Path, jars: list[str]) -> Any:
    from pyspark.sql import SparkSession

    catalog = "spark.sql.catalog.lake"
    settings = {
        "spark.driver.extraClassPath": os.pathsep.join(jars),
        "spark.driver.extraJavaOptions": f"-XX:ArchiveClassesAtExit={archive}",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.session.timeZone": "UTC",
    }
    if any("iceberg-spark-runtime" in jar for jar in jars):
        settings |= {
            "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
            catalog: "org.apache.iceberg.spark.SparkCatalog",
            f"{catalog}.type": "jdbc",
            f"{catalog}.uri": f"jdbc:sqlite:{work}/lake.db",
            f"{catalog}.jdbc.schema-version": "V1",
            f"{catalog}.warehouse": f"file://{work}/lake",
        }
    builder = SparkSession.builder.master("local[2]").appName("class-archive")
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _exercise(spark: Any, work: Path) -> None:
    landing = work / "landing"
    landing.mkdir()
    rows = [{"id": index, "ts": f"2020-01-01T0{index}:00:00Z", "name": "a"} for index in range(5)]
    (landing / "rows.json").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    stream = spark.readStream.schema(_COLUMNS).json(str(landing)).withWatermark("ts", "1 hour")
    stream.createOrReplaceTempView("events")
    counted = spark.sql(
        "SELECT name, window(ts, '1 hour').start AS hour, count(*) AS n FROM events GROUP BY name, "
        "window(ts, '1 hour')"
    )
    if spark.conf.get("spark.sql.catalog.lake", None) is None:
        query = (
            counted.writeStream.format("noop")
            .outputMode("append")
            .option("checkpointLocation", str(work / "c"))
            .start()
        )
        query.processAllAvailable()
        query.stop()
        return
    spark.sql(f"CREATE TABLE lake.db.events ({_COLUMNS}) USING iceberg PARTITIONED BY (days(ts))")
    spark.sql("CREATE TABLE lake.db.counts (name STRING, hour TIMESTAMP, n LONG) USING iceberg")
    spark.sql("INSERT INTO lake.db.events VALUES (1, TIMESTAMP '2020-01-01 00:00:00', 'a')")
    joined = spark.sql(
        "SELECT e.id, e.ts, b.name FROM events e LEFT JOIN lake.db.events b ON e.id = b.id WHERE e.id IS "
        "NOT NULL"
    )
    for frame, target in ((joined, "events"), (counted, "counts")):
        writer = frame.writeStream.outputMode("append").option(
            "checkpointLocation", str(work / f"c-{target}")
        )
        query = writer.trigger(processingTime="1 second").toTable(f"lake.db.{target}")
        query.processAllAvailable()
        query.stop()
    spark.sql("SELECT count(*) FROM lake.db.events").collect()
    spark.sql("SELECT snapshot_id, summary FROM lake.db.events.snapshots").collect()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
