"""Throughput of a streaming job on a standalone cluster with two workers, beside the same query that a
hand-written program runs there, in turns.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from flareiac_spark.runtime.java import require_java
from tests.bench.feeds import Files
from tests.bench.figure import Figure
from tests.bench.spark_figures import BATCHES, Lake, figures
from tests.support.spark_cluster import SparkCluster

_CONF: Final = {
    "spark.driver.host": "127.0.0.1",
    "spark.cores.max": "2",
    "spark.executor.cores": "1",
    "spark.executor.memory": "768m",
}


def cluster_throughput(directory: Path, rows: int) -> Iterator[Figure]:
    """``rows`` per file, one file per batch; an executor of one core on each worker."""
    with SparkCluster(directory / "cluster", require_java().home, workers=2, cores=1) as cluster:
        lake = Lake(directory, Files(directory / "files", rows, BATCHES), cluster.master, _CONF)
        yield from figures(lake, "throughput on two workers")
