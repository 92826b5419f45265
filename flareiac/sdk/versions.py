"""The versions that run together, for all providers: Spark's line, and the Maven coordinates that its
applications load. Every coordinate of the product stands here, with the reason of its version. Pure.

All tests run with these. A project keeps those of its lock file until ``init -upgrade``.
"""

from typing import Final

SPARK_LINE: Final = "4.1"
"""The minor version of Spark whose connectors these are. ``pyspark`` is pinned by the extra ``spark``."""
SCALA: Final = "2.13"
"""The only one that Spark 4 is built for."""

ICEBERG: Final = "1.12.0"
"""The release with which facts, chaos and matrix ran."""
_ICEBERG_RUNTIME: Final = f"org.apache.iceberg:iceberg-spark-runtime-{SPARK_LINE}_{SCALA}"
_ICEBERG_AWS: Final = "org.apache.iceberg:iceberg-aws-bundle"
_TRANSFER_MANAGER: Final = "software.amazon.awssdk:s3-transfer-manager"
ICEBERG_RUNTIME: Final = f"{_ICEBERG_RUNTIME}:{ICEBERG}"
ICEBERG_AWS: Final = f"{_ICEBERG_AWS}:{ICEBERG}"
"""S3FileIO and Glue's client, and with them AWS's SDK; of the release of the runtime beside it."""
TRANSFER_MANAGER: Final = f"{_TRANSFER_MANAGER}:2.54.17"
APACHE_CLIENT: Final = "software.amazon.awssdk:apache-client:2.54.17"
"""The parts of AWS's SDK that Iceberg's bundle lacks, in the version of the parts that are in it. Hadoop asks
for the client of Apache's fourth version; since 1.12 Iceberg's bundle has only the fifth.
"""

SQLITE_JDBC: Final = "org.xerial:sqlite-jdbc:3.54.1.0"
POSTGRESQL_JDBC: Final = "org.postgresql:postgresql:42.7.14"

HADOOP_S3: Final = (
    "org.apache.hadoop:hadoop-aws:3.4.2",  # the Hadoop that Spark 4.1 is built with
    ICEBERG_AWS,  # the rest of the SDK, so that it is on the class path once
    TRANSFER_MANAGER,
    APACHE_CLIENT,
)
"""The jars by which Hadoop reaches checkpoints and control directories in S3."""

KAFKA_CONNECTOR: Final = (
    "org.apache.commons:commons-pool2:2.12.1",
    "org.apache.kafka:kafka-clients:3.9.1",
    f"org.apache.spark:spark-sql-kafka-0-10_{SCALA}:4.1.3",
    f"org.apache.spark:spark-token-provider-kafka-0-10_{SCALA}:4.1.1",
)
"""Spark's connector and the libraries that it needs, sorted. Its parts are of several patch releases of
Spark's line: with exactly these the tests and the matrix ran.
"""
SPARK_AVRO: Final = f"org.apache.spark:spark-avro_{SCALA}:4.1.1"
"""Values whose schemas are in a registry."""

ICEBERG_RELEASES: Final = (
    (ICEBERG_RUNTIME, ICEBERG_AWS, TRANSFER_MANAGER, APACHE_CLIENT),
    (f"{_ICEBERG_RUNTIME}:1.11.0", f"{_ICEBERG_AWS}:1.11.0", f"{_TRANSFER_MANAGER}:2.44.4"),
)
"""Coordinates that only fit each other, newest first. A lock file that names one of them decides on the
others, so that a project which begins to use S3 gets the bundle of the Iceberg that it has. What an older
release does not name is in one of its other jars.
"""
