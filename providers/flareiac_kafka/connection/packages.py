"""What Spark needs to open a Kafka cluster. Pure."""

from typing import Final

SPARK_PACKAGES: Final = (
    "org.apache.commons:commons-pool2:2.12.1",
    "org.apache.kafka:kafka-clients:3.9.1",
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.1.3",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.1.1",
)
"""Maven coordinates of Spark's connector, sorted."""
AVRO_PACKAGES: Final = ("org.apache.spark:spark-avro_2.13:4.1.1",)
"""What Spark needs beside them where values have schemas of a registry."""
