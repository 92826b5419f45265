"""Keeps one Kafka broker running on the loopback, as a service manager would: when it dies, it is started
again on the same port and data.

    python broker.py DIRECTORY

Writes ``bootstrap`` (the address) and ``pid`` (the broker's process) into DIRECTORY once it serves clients.
SIGTERM ends both.
"""

import signal
import sys
import time
from pathlib import Path

from flareiac_spark.runtime.java import find_java
from tests.support.kafka_broker import Broker


def main() -> None:
    """Runs until it is asked to end."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    directory = Path(sys.argv[1])
    java = find_java()
    if java is None:
        raise SystemExit("a broker needs Java")
    with Broker(directory, Path(java.home)) as broker:
        while True:
            (directory / "bootstrap").write_text(broker.bootstrap)
            (directory / "pid").write_text(str(broker.pid))
            while broker.is_running:
                time.sleep(0.3)
            broker.kill()  # its process is gone: this only forgets it
            time.sleep(5)
            broker.start()


if __name__ == "__main__":
    main()
