"""A Spark of this process that knows nothing but what it is given, and that leaves no JVM behind."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from flareiac_spark.runtime.archive import usable_archive
from flareiac_spark.runtime.java import require_java
from flareiac_spark.runtime.launch import java_options

_SMALL = {
    "spark.master": "local[1]",
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "1",
}
FEW_ROWS = {"spark.sql.codegen.wholeStage": "false", "spark.sql.adaptive.enabled": "false"}
"""For many queries of a few rows each, which take less time than compiling them does."""


def short_lived(jars: Sequence[Path]) -> tuple[str, ...]:
    """Options of a JVM that a few tests need: those of the program's own short applications."""
    return java_options(usable_archive(require_java(), jars), long_lived=False)


@contextmanager
def spark_session(
    conf: Mapping[str, str], jars: Sequence[Path], java_home: Path, root: Path
) -> Iterator[Any]:
    """A session with this configuration; ``root`` is for what Spark writes itself."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    own = {
        "spark.driver.extraJavaOptions": " ".join(short_lived(jars)),
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
