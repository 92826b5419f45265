"""Has Spark load what every batch takes, beside whatever is asked of a new application first."""

import contextlib
import threading
from typing import TYPE_CHECKING

from flareiac_spark_runtime.driver.spark_session import new_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def begin(root: "SparkSession") -> None:
    """Returns at once. Only where Spark runs in this process: on a cluster the job would ask for executors.

    While the first definitions are analysed, which takes one core, another one loads and compiles the
    scheduler, the generated code and the tasks (measured on two cores: 0.4 s of 8 to a first batch).
    """
    threading.Thread(target=_run_one_job, args=(root,), name="preload", daemon=True).start()


def _run_one_job(root: "SparkSession") -> None:
    with contextlib.suppress(Exception):  # nothing depends on it, and the application may end meanwhile
        new_session(root).range(1).write.format("noop").mode("overwrite").save()
