"""A Kafka broker and a schema registry on the loopback, until SIGTERM.

    python services.py DIRECTORY

Writes ``bootstrap`` and ``registry`` (their addresses) into DIRECTORY once both serve clients.
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
        (directory / "bootstrap").write_text(broker.bootstrap)
        (directory / "registry").write_text(registry.url)
        while True:
            time.sleep(1)


if __name__ == "__main__":
    main()
