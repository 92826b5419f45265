"""Starts and ends the JVM of this process: together with Spark, or before it, where what should run is read
through it.
"""

import os
import shlex
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from flareiac_spark_runtime.control.desired import PROXY_USER
from flareiac_spark_runtime.control.spark_properties import write_properties

JVM_END_SECONDS: Final = 30.0
"""The time that a JVM has to end by itself."""
_PORT: Final = "PYSPARK_GATEWAY_PORT"
"""Spark sets it for a Python that its JVM started."""


def is_submitted() -> bool:
    """Returns True if ``spark-submit`` runs this process, so that its JVM is there."""
    return _PORT in os.environ


def submitted_jvm() -> Any:
    """py4j's gateway to the JVM that started this process. Raises what pyspark raises."""
    from pyspark import SparkContext

    SparkContext._ensure_initialized()
    return SparkContext._gateway


def start_jvm(conf: Mapping[str, str], scratch: Path) -> Any:
    """py4j's gateway to a JVM that Spark starts in later; the settings count for it. ``scratch`` is a folder
    for a short-lived file. Raises what pyspark raises.
    """
    from pyspark import SparkContext

    if is_submitted():
        return submitted_jvm()
    properties = scratch / ".spark.properties"
    write_properties(properties, conf)
    os.environ["PYSPARK_SUBMIT_ARGS"] = shlex.join((*submit_words(conf, properties), "pyspark-shell"))
    try:
        SparkContext._ensure_initialized()
    finally:
        properties.unlink(missing_ok=True)
    return SparkContext._gateway


def submit_words(conf: Mapping[str, str], properties: Path) -> tuple[str, ...]:
    """The words of spark-submit that say with which settings. They are in a file: every user of a machine can
    read a process's words, and catalogs have passwords.
    """
    user = conf.get(PROXY_USER)
    return (*(("--proxy-user", user) if user else ()), "--properties-file", str(properties))


def end_jvm(seconds: float) -> None:
    """Ends the JVM that this process started, if there is one, and waits until it is gone."""
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    if gateway is None:
        return
    with suppress(Exception):  # a JVM that is gone already cannot be asked
        gateway.shutdown()
    SparkContext._gateway = SparkContext._jvm = None
    process: subprocess.Popen[bytes] | None = getattr(gateway, "proc", None)
    if process is None:
        return
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
