"""Makes tables with Spark's DDL in the embedded catalog of a project: ``spark_lake.py ROOT JAR...``, as a
process of its own.
"""

import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession

DDL = (
    "CREATE NAMESPACE lake.shop",
    """CREATE TABLE lake.shop.events (id BIGINT NOT NULL COMMENT 'the key', ts TIMESTAMP, region STRING, at TIMESTAMP_NTZ) USING iceberg
       PARTITIONED BY (days(ts), bucket(8, id), truncate(3, region)) COMMENT 'it\\'s %{not} a template'""",
    "ALTER TABLE lake.shop.events WRITE ORDERED BY region, ts DESC NULLS FIRST",
    "ALTER TABLE lake.shop.events SET IDENTIFIER FIELDS id",
    """CREATE TABLE lake.shop.nested (a STRUCT<x: INT, `y z`: ARRAY<STRING>> COMMENT 'both', m MAP<STRING, STRUCT<d: DECIMAL(9, 3)>>)
       USING iceberg TBLPROPERTIES ('format-version' = '1', 'write.target-file-size-bytes' = '1000000')""",
    (
        "CREATE TABLE lake.shop.`Café orders` (`a b` DATE, `1st` BINARY, c FLOAT) USING iceberg PARTITIONED "
        "BY (`a b`)"
    ),
    (
        "CREATE TABLE lake.shop.evolved (id INT, old STRING, ts TIMESTAMP) USING iceberg PARTITIONED BY "
        "(days(ts))"
    ),
    "ALTER TABLE lake.shop.evolved RENAME COLUMN old TO new",
    "ALTER TABLE lake.shop.evolved ALTER COLUMN id TYPE BIGINT",
    "ALTER TABLE lake.shop.evolved REPLACE PARTITION FIELD days(ts) WITH hours(ts)",
    "ALTER TABLE lake.shop.evolved ADD PARTITION FIELD bucket(4, id) AS shard",
    "INSERT INTO lake.shop.evolved VALUES (1, 'a', TIMESTAMP '2026-01-01 00:00:00')",
)


def main(root: Path, jars: list[str]) -> None:
    lake = root / ".flareiac" / "lake" / "default"
    (lake / "warehouse").mkdir(parents=True)
    conf = {
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "jdbc",
        "spark.sql.catalog.lake.uri": f"jdbc:sqlite:{lake}/catalog.db",
        "spark.sql.catalog.lake.jdbc.schema-version": "V1",
        "spark.sql.catalog.lake.warehouse": f"file://{lake}/warehouse",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.master": "local[1]",
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraClassPath": os.pathsep.join(jars),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(root / "unused"),
    }
    builder = SparkSession.builder.appName("lake")
    for key, value in conf.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    for statement in DDL:
        session.sql(statement)
    session.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
