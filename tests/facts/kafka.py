"""A query from Kafka into JSON files of each run, so that a test sees which records a run read."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest

from tests.facts.lake import SECONDS, batches, entry, why
from tests.support.kafka_broker import Broker
from tests.support.kafka_topics import Record, Topics

_RUNS: Final = count()
LOST: Final = "! Some data may have been lost because they are not available in Kafka any more;"
"""The refusal of Spark for positions that the topics do not have."""
NO_TOPIC: Final = (
    "! org.apache.kafka.common.errors.UnknownTopicOrPartitionException: "
    "This server does not host this topic-partition. SQLSTATE: XXKST"
)


@dataclass(slots=True, kw_only=True)
class Reader:
    """A query with a checkpoint of its own; each run reads what is there and ends."""

    spark: Any
    bootstrap: str
    folder: Path
    _number: int = field(default_factory=lambda: next(_RUNS))

    @property
    def checkpoint(self) -> Path:
        return self.folder / f"reader-{self._number}"

    @property
    def initial(self) -> Path:
        """The file in which the source keeps its first position."""
        return self.checkpoint / "sources" / "0" / "0"

    def frame(self, **options: str) -> Any:
        """A stream from Kafka; in options ``__`` stands for a dot."""
        dotted = {name.replace("__", "."): value for name, value in options.items()}
        source = self.spark.readStream.format("kafka").option("kafka.bootstrap.servers", self.bootstrap)
        return source.options(**dotted).load()

    def run(self, **options: str) -> list[str]:
        """The records that one run read, as ``PARTITION/OFFSET value`` in this order; where the query failed,
        its reason after a ``!``.
        """
        from pyspark.errors import StreamingQueryException

        out = self.folder / f"out-{next(_RUNS)}"
        frame = self.frame(**options).selectExpr(
            "concat_ws(' ', concat(partition, '/', offset), CAST(value AS STRING)) AS record"
        )
        writer = frame.writeStream.format("json").option("path", str(out))
        writer = writer.option("checkpointLocation", str(self.checkpoint))
        try:
            query = writer.trigger(availableNow=True).start()
            try:
                assert query.awaitTermination(SECONDS), "the query did not end"
            finally:
                query.stop()
        except StreamingQueryException as failure:
            return [f"! {why(failure)}".rstrip()]
        lines = [line for file in out.glob("part-*.json") for line in file.read_text().splitlines()]
        return sorted((json.loads(line)["record"] for line in lines), key=_place)

    def positions(self, topic: str) -> list[dict[str, int] | None]:
        """For each batch, the position in a topic that it ends at; None where it does not name the topic."""
        logged = [
            entry(self.checkpoint, "offsets", batch)[2] for batch in batches(self.checkpoint, "offsets")
        ]
        return [json.loads(line).get(topic) for line in logged]

    def committed(self) -> list[int]:
        """The batches that are done."""
        done = self.checkpoint / "commits"
        return batches(self.checkpoint, "commits") if done.is_dir() else []

    def seed(self, positions: Mapping[str, Mapping[str, int]]) -> None:
        """A checkpoint that holds nothing but a first position."""
        self.initial.parent.mkdir(parents=True)
        text = json.dumps(positions, separators=(",", ":"))
        self.initial.write_bytes(b"\0v1\n" + text.encode())


def _place(line: str) -> tuple[int, int]:
    partition, offset = line.split(" ")[0].split("/")
    return int(partition), int(offset)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kafka:
    """The broker, and readers of it."""

    spark: Any
    broker: Broker
    folder: Path

    @property
    def topics(self) -> Topics:
        return self.broker.topics

    def topic(self, *values: str | Record, partitions: int = 1, **config: str) -> str:
        """A new topic that holds these records."""
        name = self.topics.create(partitions=partitions, **config)
        self.topics.produce(name, values)
        return name

    def reader(self, **first: str) -> Reader:
        """A reader; with options, one that has run with them from the earliest records."""
        made = Reader(spark=self.spark, bootstrap=self.broker.bootstrap, folder=self.folder)
        if first:
            found = made.run(startingOffsets="earliest", **first)
            assert not any(line.startswith("!") for line in found), found
        return made


def at(partition: int, *values: str) -> list[Record]:
    """Records of one partition."""
    return [Record(value=value, partition=partition) for value in values]


BOTH = pytest.mark.parametrize("careful", ["true", "false"])
"""Both values of ``failOnDataLoss``."""
