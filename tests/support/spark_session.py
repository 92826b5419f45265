"""A Spark of this process that knows nothing but what it is given, and that leaves no JVM behind."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_SMALL = {
    "spark.master": "local[1]",
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "1",
}


@contextmanager
def spark_session(
    conf: Mapping[str, str], jars: Sequence[Path], java_home: Path, root: Path
) -> Iterator[Any]:
    """A session with this configuration; ``root`` is for what Spark writes itself."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    own = {
        "spark.driver.extraClassPath": os.pathsep.join(map(str, jars)),
        "spark.sql.warehouse.dir": str(root / "unused"),
    }
    builder = SparkSession.builder.appName("tests")
    for key, value in {**_SMALL, **own, **conf}.items():
        builder = builder.config(key, value)
    # Read when the JVM starts, and no business of other tests
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("JAVA_HOME", str(java_home))
        environment.setenv("PYSPARK_PYTHON", sys.executable)
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    gateway: Any = SparkContext._gateway
    yield session
    session.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(60)
    SparkContext._gateway = SparkContext._jvm = (
        None  # another suite of the same process starts a JVM of its own
    )
