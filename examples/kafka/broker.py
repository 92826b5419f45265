"""A Kafka broker and a schema registry on the loopback, for the examples. The broker is kept running as a
service manager would: when it dies, it is started again on the same port and data.

    python broker.py DIRECTORY

Writes ``registry`` and ``bootstrap`` (their addresses) and ``pid`` (the broker's process) into DIRECTORY once
both serve clients. SIGTERM ends both.
"""

import signal
import sys
import time
from pathlib import Path

from flareiac_spark.runtime.java import find_java
from tests.support.kafka_broker import Broker
from tests.support.schema_registry import SchemaRegistry


def main() -> None:
    """Runs until it is asked to end."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    directory = Path(sys.argv[1])
    java = find_java()
    if java is None:
        raise SystemExit("a broker needs Java")
    with SchemaRegistry() as registry, Broker(directory, Path(java.home)) as broker:
        (directory / "registry").write_text(registry.url)
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
