"""A standalone cluster of Spark on the loopback: a master and two workers of one core each. A worker that
dies is started again, as a service manager would.

    python cluster.py DIRECTORY

Writes ``worker-0.pid`` and ``worker-1.pid`` and ``master`` (its URL) into DIRECTORY once the workers
are registered. SIGTERM ends all of them.
"""

import signal
import sys
import time
from pathlib import Path

from flareiac_spark.runtime.java import find_java
from tests.support.spark_cluster import SparkCluster

_WORKERS = 2


def main() -> None:
    """Runs until it is asked to end."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    directory = Path(sys.argv[1])
    java = find_java()
    if java is None:
        raise SystemExit("a cluster needs Java")
    with SparkCluster(directory, java.home, workers=_WORKERS, cores=1) as cluster:
        workers = [f"worker-{number}" for number in range(_WORKERS)]
        for name in workers:
            (directory / f"{name}.pid").write_text(str(cluster.pid(name)))
        (directory / "master.part").write_text(cluster.master)
        (directory / "master.part").rename(directory / "master")
        while True:
            for number, name in enumerate(workers):
                if cluster.has_ended(name):
                    cluster.kill(name)  # its process is gone: this only forgets it
                    time.sleep(5)
                    cluster.start_worker(number)
                    (directory / f"{name}.pid").write_text(str(cluster.pid(name)))
            time.sleep(0.3)


if __name__ == "__main__":
    main()
