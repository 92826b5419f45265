"""Spark's scheduler pools: each job runs in one, so that no job waits until another one has had its turn.

Without pools Spark serves the tasks of all queries in the order in which they were asked for, and a batch of
one heavy query keeps those of all others waiting.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import quoteattr

from flareiac.kernel.durable_files import make_directory, replace_file
from flareiac_spark_runtime.control.desired import PoolSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MODE: Final = {"spark.scheduler.mode": "FAIR"}
_FILE: Final = "spark.scheduler.allocation.file"
_POOL: Final = "spark.scheduler.pool"
"""A local property of a thread; the threads of the queries that it starts inherit it."""


def pool_conf(pools: Mapping[str, PoolSettings], scratch: Path) -> dict[str, str]:
    """Settings that give Spark these pools, which it reads when it starts and not again; writes the file
    that they name.
    """
    if not pools:
        return {}
    make_directory(scratch)
    file = scratch / "pools.xml"
    replace_file(file, allocations(pools).encode(), durable=False)
    return {_FILE: file.absolute().as_uri()}


def allocations(pools: Mapping[str, PoolSettings]) -> str:
    """Spark's allocation file. Jobs of one pool share it as equals."""
    elements = "".join(
        f"<pool name={quoteattr(name)}><schedulingMode>FAIR</schedulingMode>"
        f"<weight>{pool.weight}</weight><minShare>{pool.min_share}</minShare></pool>"
        for name, pool in sorted(pools.items())
    )
    return f'<?xml version="1.0"?><allocations>{elements}</allocations>'


def enter(session: "SparkSession", pool: str) -> None:
    """Puts what this thread starts from now on into a pool; one that was not declared has weight 1."""
    session.sparkContext.setLocalProperty(_POOL, pool)
