"""A JVM of this process in which Hadoop reaches S3, without Spark."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from flareiac_spark_runtime.driver.gateway import end_jvm, start_jvm
from flareiac_spark_runtime.driver.hadoop_store import HadoopStore, configuration


@cache
def s3_jars() -> tuple[Path, ...]:
    """The jars in the user's cache, fetched where they are not there yet."""
    from flareiac.sdk.versions import HADOOP_S3
    from flareiac_spark.runtime.coordinates import parse_coordinates
    from flareiac_spark.runtime.jars import fetch_jars

    found = fetch_jars(parse_coordinates(HADOOP_S3), lambda text: print(text, file=sys.stderr), locked={})
    return tuple(jar.path for jar in found)


@contextmanager
def hadoop_jvm(java_home: Path, scratch: Path) -> Iterator[Any]:
    """py4j's view of it."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("JAVA_HOME", str(java_home))
        environment.setenv("PYSPARK_SUBMIT_ARGS", "")  # put back afterwards
        conf = {
            "spark.master": "local[1]",
            "spark.driver.memory": "256m",
            "spark.driver.extraClassPath": os.pathsep.join(map(str, s3_jars())),
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        }
        yield start_jvm(conf, scratch).jvm
        end_jvm(60)


def hadoop_store(jvm: Any, bucket: str) -> HadoopStore:
    """A bucket as the environment says it is reached."""
    return HadoopStore(jvm, configuration(jvm, os.environ), bucket)


if __name__ == "__main__":
    s3_jars()
