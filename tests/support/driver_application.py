"""Spark as the driver starts it, in the process of the tests."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from flareiac_spark.s3_store import S3Store
from flareiac_spark_runtime.control import ApplicationSettings
from flareiac_spark_runtime.driver.spark_session import LAUNCH_CONF, end_spark, start_spark
from flareiac_spark_runtime.storage import open_with
from tests.support.spark_session import short_lived


@contextmanager
def driver_application(
    conf: Mapping[str, str], jars: Sequence[Path], java_home: Path, root: Path
) -> Iterator[Any]:
    """The session that jobs derive theirs from."""
    machine = {
        "spark.master": "local[2]",
        "spark.driver.extraClassPath": os.pathsep.join(map(str, jars)),
        "spark.driver.extraJavaOptions": " ".join(short_lived(jars)),
    }
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("JAVA_HOME", str(java_home))
        environment.setenv(LAUNCH_CONF, json.dumps(machine))
        environment.setenv("PYSPARK_SUBMIT_ARGS", "")  # put back afterwards
        settings = ApplicationSettings(digest="a", name="micro-batch", conf=dict(conf), log_level="OFF")
        started = start_spark(settings, root)
        yield started.session
        end_spark(started, 60)
        # What follows in this process has no JVM to reach buckets through.
        open_with(S3Store)
