"""Streaming and batch jobs on Spark: engines, streams, checkpoints, jobs.

Plans without Spark and without a JVM. Never holds a SparkSession in the command line's process: an
application of its own, ``flareiac_spark_runtime``, runs the jobs, and both sides meet in a control directory.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flareiac.sdk.provider import Provider


def provider() -> "Provider":
    """The entry point."""
    from flareiac_spark.spark_provider import SparkProvider

    return SparkProvider()
