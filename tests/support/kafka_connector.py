"""The jars with which Spark reads and writes Kafka, and with which it reads and writes Avro."""

import sys
from functools import cache
from pathlib import Path
from typing import Final

from flareiac.sdk.versions import KAFKA_CONNECTOR, SPARK_AVRO

CONNECTOR: Final = tuple(sorted((*KAFKA_CONNECTOR, SPARK_AVRO)))


@cache
def connector_jars() -> tuple[Path, ...]:
    """The jars in the user's cache, fetched where they are not there yet."""
    from flareiac_spark.runtime.coordinates import parse_coordinates
    from flareiac_spark.runtime.jars import fetch_jars

    found = fetch_jars(parse_coordinates(CONNECTOR), lambda text: print(text, file=sys.stderr), locked={})
    return tuple(jar.path for jar in found)


def make_archives() -> None:
    """Makes the class-data archives with which the drivers of the tests start, without Avro and with it."""
    from flareiac_spark.runtime.archive import make_archive
    from flareiac_spark.runtime.coordinates import parse_coordinates
    from flareiac_spark.runtime.jars import fetch_jars
    from flareiac_spark.runtime.java import require_java
    from flareiac_spark.runtime.versions import default_packages

    for connector in (CONNECTOR, [item for item in CONNECTOR if "avro" not in item]):
        wanted = parse_coordinates(tuple(sorted((*default_packages(), *connector))))
        make_archive(require_java(), [jar.path for jar in fetch_jars(wanted, print, locked={})])


if __name__ == "__main__":
    make_archives()
