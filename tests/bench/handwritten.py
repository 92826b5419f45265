"""A streaming job as one writes it by hand in PySpark: ``python handwritten.py SETTINGS.json``.

What FlareIaC's driver is measured against.
"""

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession


def main(settings_file: str) -> None:
    """Runs the query over all that there is, and ends."""
    settings = json.loads(Path(settings_file).read_text())
    spark = SparkSession.builder.appName("handwritten").config(map=settings["conf"]).getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    frame = _records(spark, settings) if "kafka" in settings else _files(spark, settings)
    if settings["watermark"]:
        frame = frame.withWatermark(*settings["watermark"])
    frame.createOrReplaceTempView("raw")
    writer = (
        spark.sql(settings["sql"])
        .writeStream.trigger(availableNow=True)
        .option("checkpointLocation", settings["checkpoint"])
    )
    if settings["keys"]:
        query = writer.foreachBatch(partial(_merge, settings)).start()
    else:
        query = writer.outputMode(settings["mode"]).toTable(settings["table"])
    query.awaitTermination()
    spark.stop()


def _files(spark: SparkSession, settings: dict[str, Any]) -> Any:
    return spark.readStream.schema(settings["schema"]).option("maxFilesPerTrigger", 1).json(settings["path"])


def _records(spark: SparkSession, settings: dict[str, Any]) -> Any:
    raw = spark.readStream.format("kafka").options(**settings["kafka"]).load()
    decoded = f"from_json(CAST(value AS STRING), '{settings['schema']}') AS v"
    return raw.selectExpr(decoded).select("v.*")


def _merge(settings: dict[str, Any], batch: Any, _number: int) -> None:
    """The usual upsert: the latest row of each key of the batch."""
    latest, keys = settings["latest_by"], settings["keys"]
    batch.createOrReplaceTempView("batch")
    batch.sparkSession.sql(
        f"""MERGE INTO {settings["table"]} t USING (
          SELECT * EXCEPT (place) FROM (
            SELECT *, row_number() OVER (PARTITION BY {", ".join(keys)} ORDER BY {latest} DESC) AS place FROM batch
          ) WHERE place = 1
        ) s ON {" AND ".join(f"t.{key} <=> s.{key}" for key in keys)}
        WHEN MATCHED AND s.{latest} >= t.{latest} THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"""
    )


if __name__ == "__main__":
    main(sys.argv[1])
