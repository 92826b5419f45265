"""A streaming job as one writes it by hand in PySpark: ``python handwritten.py SETTINGS.json``.

What FlareIaC's driver is measured against.
"""

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession


def main(settings_file: str) -> None:
    """Runs the query over all files there are, and ends."""
    settings = json.loads(Path(settings_file).read_text())
    builder = SparkSession.builder.appName("handwritten")
    for key, value in settings["conf"].items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    frame = spark.readStream.schema(settings["schema"]).option("maxFilesPerTrigger", 1).json(settings["path"])
    if settings["watermark"]:
        frame = frame.withWatermark(*settings["watermark"])
    frame.createOrReplaceTempView("raw")
    writer = spark.sql(settings["sql"]).writeStream.outputMode(settings["mode"]).trigger(availableNow=True)
    writer.option("checkpointLocation", settings["checkpoint"]).toTable(settings["table"]).awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
