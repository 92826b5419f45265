"""Creates tables by DDL in a warm PySpark session: ``python ddl_handwritten.py SETTINGS.json``; the seconds
go beside the settings.
"""

import json
import sys
import time
from pathlib import Path

_KINDS = (
    "BIGINT NOT NULL",
    "TIMESTAMP",
    "STRING",
    "DECIMAL(12,2)",
    "INT",
    "BOOLEAN",
    "DOUBLE",
    "DATE",
    "STRING",
    "BIGINT",
)


def main(settings_file: str) -> None:
    """The first table warms the session up and does not count."""
    from pyspark.sql import SparkSession

    settings = json.loads(Path(settings_file).read_text())
    spark = SparkSession.builder.appName("handwritten").config(map=settings["conf"]).getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.ddl")
    columns = ", ".join(f"c{number} {kind}" for number, kind in enumerate(_KINDS))

    def create(name: str) -> None:
        spark.sql(
            f"CREATE TABLE lake.ddl.{name} ({columns}) USING iceberg PARTITIONED BY (days(c1)) LOCATION "
            f"'{settings['warehouse']}/{name}' TBLPROPERTIES ('write.target-file-size-bytes' = '134217728')"
        )

    create("warm")
    started = time.perf_counter()
    for number in range(settings["tables"]):
        create(f"t{number:05d}")
    seconds = time.perf_counter() - started
    spark.stop()
    Path(settings_file).with_suffix(".result.json").write_text(json.dumps(seconds))


if __name__ == "__main__":
    main(sys.argv[1])
