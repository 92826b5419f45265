"""One lake seen from both sides: pyiceberg here and Spark on the same SQLite catalog, with folders of JSON
files to stream from.
"""

import itertools
import json
import os
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import (
    DoubleType,
    IcebergType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
    TimestampType,
    TimestamptzType,
)

CATALOG = "lake"
SECONDS = 120
"""The seconds that anything may take before a test calls it hung."""
TYPES: dict[str, IcebergType] = {
    "int": IntegerType(),
    "long": LongType(),
    "double": DoubleType(),
    "string": StringType(),
    "timestamp": TimestampType(),
    "timestamptz": TimestamptzType(),
}
EVENT = "k STRING, m STRING, n BIGINT, at TIMESTAMP"
"""Columns of the files that tests stream from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """The place where the catalog of a session of tests lives."""

    root: Path

    @property
    def database(self) -> Path:
        return self.root / "catalog.db"

    @property
    def warehouse(self) -> str:
        return f"file://{self.root / 'warehouse'}"

    def spark_conf(self) -> dict[str, str]:
        prefix = f"spark.sql.catalog.{CATALOG}"
        return {
            "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
            prefix: "org.apache.iceberg.spark.SparkCatalog",
            f"{prefix}.type": "jdbc",
            f"{prefix}.uri": f"jdbc:sqlite:{self.database}?journal_mode=WAL&busy_timeout=30000",
            f"{prefix}.jdbc.schema-version": "V1",
            f"{prefix}.warehouse": self.warehouse,
            f"{prefix}.cache-enabled": "false",
        }

    def catalog(self) -> SqlCatalog:
        return SqlCatalog(CATALOG, uri=f"sqlite:///{self.database}?timeout=30", warehouse=self.warehouse)


def schema_of(columns: Mapping[str, str]) -> Schema:
    """``{"k": "string", "n": "long!"}``, where ``!`` stands for required."""
    fields = [
        NestedField(at, name, TYPES[kind.removesuffix("!")], required=kind.endswith("!"))
        for at, (name, kind) in enumerate(columns.items(), 1)
    ]
    return Schema(*fields)


@dataclass(slots=True, kw_only=True)
class Lake:
    """A namespace, a Spark session and folders of one test's own."""

    spark: Any
    catalog: SqlCatalog
    namespace: str
    folder: Path
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def create(
        self, name: str, columns: Mapping[str, str], *, spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC
    ) -> Table:
        """A table made by pyiceberg."""
        return self.catalog.create_table(f"{self.namespace}.{name}", schema_of(columns), partition_spec=spec)

    def load(self, name: str) -> Table:
        return self.catalog.load_table(f"{self.namespace}.{name}")

    def name(self, table: str) -> str:
        """A table as Spark spells it."""
        return f"{CATALOG}.{self.namespace}.{table}"

    def rows(self, name: str) -> list[tuple[Any, ...]]:
        """Rows as pyiceberg reads them, sorted."""
        return sorted(
            (tuple(row.values()) for row in self.load(name).scan().to_arrow().to_pylist()), key=repr
        )

    def summaries(self, name: str) -> list[dict[str, str]]:
        """Snapshot summaries, oldest first."""
        return [
            dict(item.summary.additional_properties) if item.summary else {}
            for item in self.load(name).snapshots()
        ]

    def land(self, folder: str, rows: Iterable[Mapping[str, object]]) -> Path:
        """One more JSON file in a folder, complete when it appears, newer than those before it; returns the
        folder.
        """
        into = self.folder / folder
        into.mkdir(exist_ok=True)
        number = next(self._numbers)
        hidden = into / f".{number}.json"
        hidden.write_text("".join(json.dumps(row) + "\n" for row in rows))
        os.utime(hidden, (1_700_000_000 + number, 1_700_000_000 + number))
        hidden.rename(into / f"{number:04}.json")
        return into

    def files(self, folder: str, columns: str = EVENT, **options: object) -> Any:
        """A stream of the files of a folder."""
        into = self.folder / folder
        into.mkdir(exist_ok=True)
        return self.spark.readStream.format("json").schema(columns).options(**options).load(str(into))

    def checkpoint(self, name: str = "checkpoint") -> Path:
        return self.folder / name

    def start(
        self, frame: Any, table: str, *, mode: str = "append", checkpoint: str = "checkpoint", **options: str
    ) -> Any:
        """A query that runs until it is stopped."""
        writer = (
            frame.writeStream.outputMode(mode)
            .options(**options)
            .option("checkpointLocation", str(self.checkpoint(checkpoint)))
        )
        return writer.trigger(processingTime="0 seconds").toTable(self.name(table))

    def run(
        self, frame: Any, table: str, *, mode: str = "append", checkpoint: str = "checkpoint", **options: str
    ) -> Any:
        """A query that ends once everything that is there was read. Raises what ended it otherwise."""
        writer = (
            frame.writeStream.outputMode(mode)
            .options(**options)
            .option("checkpointLocation", str(self.checkpoint(checkpoint)))
        )
        query = writer.trigger(availableNow=True).toTable(self.name(table))
        try:
            assert query.awaitTermination(SECONDS), "the query did not end"
        finally:
            query.stop()
        return query


def drain(query: Any) -> None:
    """Waits until a running query has read everything; one that never gets there is stopped. Raises what
    ended the query.
    """
    limit = threading.Timer(SECONDS, query.stop)
    limit.start()
    try:
        query.processAllAvailable()
        assert limit.is_alive(), "the query did not get to the end"
    finally:
        limit.cancel()
        limit.join()


def make_active(spark: Any) -> None:
    """Makes a session the active one of this thread."""
    spark._jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(spark._jsparkSession)


def collected(frame: Any) -> list[tuple[Any, ...]]:
    """Rows of a frame, sorted. pyspark leaves its socket to the garbage collector, which warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        return sorted((tuple(row) for row in frame.collect()), key=repr)


def batches(checkpoint: Path, log: str) -> list[int]:
    """Numbers of the entries of ``offsets`` or ``commits``."""
    return sorted(int(item.name) for item in (checkpoint / log).iterdir() if item.name.isdigit())


def entry(checkpoint: Path, log: str, batch: int) -> list[str]:
    """Lines of one entry of a log of Spark's; the first is its version."""
    return (checkpoint / log / str(batch)).read_text().splitlines()


def forget(checkpoint: Path, log: str, batch: int) -> None:
    """Takes one entry out of a log, as if the driver had died before it was written."""
    (checkpoint / log / str(batch)).unlink()
    (checkpoint / log / f".{batch}.crc").unlink(missing_ok=True)


def why(failure: Exception) -> str:
    """The reason that ended a query, in Spark's or Iceberg's first words."""
    return str(failure).rpartition("terminated with exception: ")[2].splitlines()[0]


def agrees(found: str, outcome: str) -> bool:
    """Returns True if an outcome is the expected one. Refusals begin with ``!``, and of those some words are
    expected, or others after ``|``.
    """
    if not outcome.startswith("!"):
        return found == outcome
    return found.startswith("!") and any(words in found for words in outcome[1:].split(" | "))
