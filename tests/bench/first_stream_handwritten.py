"""A table and a stream into it as one writes them by hand in PySpark: ``python first_stream_handwritten.py
SETTINGS.json``. Ends with its first batch.
"""

import json
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession


def main(settings_file: str) -> None:
    """Runs until the first batch is committed."""
    settings = json.loads(Path(settings_file).read_text())
    spark = SparkSession.builder.appName("handwritten").config(map=settings["conf"]).getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.bench")
    spark.sql(f"CREATE TABLE {settings['table']} ({settings['schema']}) USING iceberg")
    frame = spark.readStream.schema(settings["schema"]).option("maxFilesPerTrigger", 1).json(settings["path"])
    frame.createOrReplaceTempView("raw")
    query = (
        spark.sql(settings["sql"])
        .writeStream.option("checkpointLocation", settings["checkpoint"])
        .trigger(processingTime="1 second")
        .toTable(settings["table"])
    )
    first = Path(settings["checkpoint"]) / "commits" / "0"
    while not first.exists() and query.isActive:
        time.sleep(0.05)
    query.stop()
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
