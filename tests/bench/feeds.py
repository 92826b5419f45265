"""The feed that both sides of a throughput figure read: the same flights as files, or as records of a
topic.
"""

import os
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final, Protocol

from tests.support.kafka_connector import connector_jars
from tests.support.kafka_topics import Record, Topics

FLIGHTS: Final = (("ts", "timestamptz"), ("carrier", "string"), ("delay", "long"))
PARTITIONS: Final = 2
_SPARK_SCHEMA: Final = "ts timestamp, carrier string, delay bigint"


class Feed(Protocol):
    """``batches`` of ``rows`` each. ``jars``: what Spark needs beside Iceberg."""

    rows: int
    batches: int
    jars: tuple[Path, ...]

    def source(self) -> Mapping[str, Any]:
        """As a job's spec names it."""
        ...

    def settings(self) -> Mapping[str, Any]:
        """As the hand-written programs are given it."""
        ...


class Files:
    """JSON files, one per batch."""

    jars: tuple[Path, ...] = ()

    def __init__(self, folder: Path, rows: int, batches: int) -> None:
        self.folder, self.rows, self.batches = folder, rows, batches
        folder.mkdir(parents=True)
        for number in range(batches):
            file = folder / f"{number:04d}.json"
            file.write_text("".join(f"{line}\n" for line in _lines(number, rows)))
            # The order in which Spark reads
            os.utime(file, (1_700_000_000 + number, 1_700_000_000 + number))

    def source(self) -> Mapping[str, Any]:
        return {
            "kind": "files",
            "path": str(self.folder),
            "format": "json",
            "columns": _spelled(FLIGHTS),
            "max_files_per_trigger": 1,
        }

    def settings(self) -> Mapping[str, Any]:
        return {"schema": _SPARK_SCHEMA, "path": str(self.folder)}


class Records:
    """JSON values of a topic with two partitions, as many per batch as a file has lines."""

    def __init__(self, bootstrap: str, rows: int, batches: int) -> None:
        self._bootstrap, self.rows, self.batches = bootstrap, rows, batches
        self.jars = connector_jars()
        topics = Topics(bootstrap)
        self._topic = topics.create("flights", partitions=PARTITIONS)
        for number in range(batches):
            lines = enumerate(_lines(number, rows))
            topics.produce(self._topic, (Record(value=line, partition=at % PARTITIONS) for at, line in lines))

    def source(self) -> Mapping[str, Any]:
        return {
            "kind": "kafka",
            "client": {"bootstrap.servers": self._bootstrap, "security.protocol": "PLAINTEXT"},
            "topics": [self._topic],
            "format": "json",
            "columns": _spelled(FLIGHTS),
            "max_offsets_per_trigger": self.rows,
        }

    def settings(self) -> Mapping[str, Any]:
        reader = {
            "kafka.bootstrap.servers": self._bootstrap,
            "kafka.isolation.level": "read_committed",
            "subscribe": self._topic,
            "startingOffsets": "earliest",
            "maxOffsetsPerTrigger": str(self.rows),
        }
        return {"schema": _SPARK_SCHEMA, "kafka": reader}


def _lines(batch: int, rows: int) -> Iterator[str]:
    day = (date(2026, 1, 1) + timedelta(days=batch)).isoformat()
    for row in range(rows):
        yield (
            f'{{"ts": "{day}T{row // 60 % 24:02d}:{row % 60:02d}:00Z", "carrier": "c{row % 16}", "delay": '
            f"{row % 97}}}"
        )


def _spelled(columns: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    return [{"name": name, "type": kind} for name, kind in columns]
