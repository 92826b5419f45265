"""The cluster that the jobs of the chaos run on: a master and workers that are killed and come back, and a
watch of how many applications of the project it has.
"""

import os
import threading
import time
from pathlib import Path
from typing import Final

from tests.bench.chaos_scenarios import LAKE
from tests.support.spark_cluster import SparkCluster

_LOCAL: Final = 'master           = "local[2]"'
_WORKERS: Final = 2
_LOOK_SECONDS: Final = 0.3
_SLIM: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


class Machines:
    """Two workers of one core. ``doubled``: pairs of applications that held the cluster at one time."""

    def __init__(self, directory: Path) -> None:
        self._cluster = SparkCluster(
            directory / "cluster", Path(os.environ["JAVA_HOME"]), workers=_WORKERS, cores=1, memory="1g"
        )
        self._cluster.__enter__()
        self.doubled: list[str] = []
        self.seen: set[str] = set()
        self._over = threading.Event()
        self._watch = threading.Thread(target=self._look, name="applications", daemon=True)
        self._watch.start()

    @property
    def lake(self) -> str:
        """The declaration of the lake with an engine on this cluster."""
        assert _LOCAL in LAKE, "the engine is local"
        engine = f"""type             = "spark_submit"
  master           = "{self._cluster.master}"
  executor         = {{ instances = {_WORKERS}, cores = 1, memory = "512m" }}"""
        conf = f"""conf = {{
    "spark.driver.host"               = "127.0.0.1"
    "spark.executor.extraJavaOptions" = "{_SLIM}\""""
        return LAKE.replace(_LOCAL, engine).replace("conf = {", conf)

    def lose_worker(self, number: int, seconds: float) -> None:
        """One worker with its executors is away for so long."""
        self._cluster.kill(f"worker-{number % _WORKERS}")
        time.sleep(seconds)
        self._cluster.start_worker(number % _WORKERS)

    def lose_workers(self, seconds: float) -> None:
        """All workers are away for so long."""
        for number in range(_WORKERS):
            self._cluster.kill(f"worker-{number}")
        time.sleep(seconds)
        for number in range(_WORKERS):
            self._cluster.start_worker(number)

    def lose_master(self, seconds: float) -> None:
        """The master is away for so long, and has forgotten everything then."""
        self._cluster.kill("master")
        time.sleep(seconds)
        self._cluster.start_master()

    def close(self) -> None:
        """Ends what runs."""
        self._over.set()
        self._watch.join()
        self._cluster.stop()

    def _look(self) -> None:
        while not self._over.wait(_LOOK_SECONDS):
            found = [item["id"] for item in self._cluster.said().get("activeapps", [])]
            self.seen.update(found)
            if len(found) > 1:
                self.doubled.append(" and ".join(sorted(found)))
