"""Streaming and batch jobs on Spark: engines, streams, checkpoints, jobs.

Plans without Spark and without a JVM. Never holds a SparkSession in the command line's process: an
application of its own runs the jobs, and both sides meet in a control directory. The process of the
application imports ``flareiac_spark.control``, ``flareiac_spark.driver`` and what they share with planning
(``checkpoint_log``, the ``resolved`` sources) only, so nothing else may be imported here at import time.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flareiac.sdk.provider import Provider


def provider() -> "Provider":
    """The entry point."""
    from flareiac_spark.spark_provider import SparkProvider

    return SparkProvider()
