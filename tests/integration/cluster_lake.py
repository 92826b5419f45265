"""The lake of the integration tests, with an engine on a standalone cluster of small executors."""

from typing import Final

from tests.integration.project import LAKE

_ENGINE: Final = """
engine "local" {{
  type             = "spark_submit"
  master           = "{master}"
  runtime_location = "runtime"
  driver           = {{ memory = "768m" }}
  executor         = {{ instances = 2, cores = 1, memory = "512m" }}
  idle_shutdown    = "{idle_shutdown}"
  graceful_stop    = "{graceful_stop}"
  conf = {{
    "spark.driver.host"               = "127.0.0.1"
    "spark.task.maxFailures"          = "{max_failures}"
    "spark.sql.shuffle.partitions"    = "2"
    "spark.driver.extraJavaOptions"   = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    "spark.executor.extraJavaOptions" = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
  }}
}}
"""


def cluster_lake(master: str, *, idle_shutdown: str, graceful_stop: str, max_failures: int = 4) -> str:
    """``max_failures``: of one task before its job fails; Spark's own default is 4."""
    engine = _ENGINE.format(
        master=master, idle_shutdown=idle_shutdown, graceful_stop=graceful_stop, max_failures=max_failures
    )
    return LAKE[: LAKE.index("engine")] + engine + LAKE[LAKE.index("stream") :]
