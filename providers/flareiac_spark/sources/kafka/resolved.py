"""Topics as the driver reads them. Travels with it."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from flareiac_spark.sources.avro.known import new_id_in
from flareiac_spark.sources.avro.notes import known_schemas, want
from flareiac_spark.sources.avro.registry import RegistryProblem
from flareiac_spark.sources.decoding import ERROR, marker, quote
from flareiac_spark.sources.kafka.avro_values import AvroValues
from flareiac_spark.sources.kafka.cluster import FoundTopics, NotAnswered, ask_cluster
from flareiac_spark.sources.kafka.decoders import VALUE_BYTES, Decoding, decoded
from flareiac_spark.sources.kafka.formats import BESIDE_VALUE, HEADERS, KEY, METADATA, VALUE
from flareiac_spark.sources.kafka.start_check import (
    missing_topics,
    noted,
    problems,
    reaches,
    replaced,
    topics_not_read,
)
from flareiac_spark.sources.kafka.starting import (
    EARLIEST,
    LATEST,
    OF_EARLIEST,
    OF_LATEST,
    Starting,
    time_ms,
)
from flareiac_spark.sources.kafka.topic_notes import TopicNotes, read_notes, write_notes
from flareiac_spark.sources.kafka_client import SERVERS, java_settings
from flareiac_spark.sources.resolved import Opening, ResolvedSource, SpecColumn, StartProblem

_PLACE: Final = (
    "topic AS __flareiac_topic",
    "partition AS __flareiac_partition",
    "offset AS __flareiac_offset",
)
_KNOWN: Final = {
    "raw": VALUE_BYTES,
    "error": ERROR,
    "topic": "__flareiac_topic",
    "partition": "__flareiac_partition",
    "offset": "__flareiac_offset",
}
"""What is known of a record that cannot be read."""
_KEYS: Final = {"string": "CAST(key AS STRING)", "binary": "key"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedKafka(ResolvedSource):
    """``client`` holds settings of Kafka's Java client by their own names, secrets as the texts that stand
    for them. ``columns`` are those of the value that are read, and those beside it.
    """

    client: Mapping[str, str]
    format: str
    kind: Literal["kafka"] = "kafka"
    topics: tuple[str, ...] = ()
    topic_pattern: str | None = None
    starting_offsets: Starting = EARLIEST
    isolation_level: str = "read_committed"
    group_id_prefix: str | None = None
    max_offsets_per_trigger: int | None = None
    min_partitions: int | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    key: str | None = None
    avro: AvroValues | None = None
    columns: tuple[SpecColumn, ...] = ()

    def prove_start(
        self, jvm: Callable[[], Any], checkpoints: Sequence[Path], others: Sequence[ResolvedSource]
    ) -> StartProblem | None:
        try:
            found = self._ask(jvm())
        except NotAnswered as trouble:
            return trouble.problem
        servers, notes = self.client.get(SERVERS, ""), {}
        for checkpoint in checkpoints:
            notes[checkpoint] = known = read_notes(checkpoint)
            for reach in reaches(checkpoint):
                unread = sorted(topic for topic in reach.begins if not self._names(topic))
                if unread and not others:
                    return topics_not_read(unread)
                for problem in problems(reach, known, found, self._reads(others), servers):
                    return problem
        _note(notes, found)
        return self._schemas_missing(checkpoints)

    @property
    def can_be_replaced(self) -> bool:
        return True

    def prove_running(
        self, jvm: Callable[[], Any], checkpoints: Sequence[Path], others: Sequence[ResolvedSource]
    ) -> StartProblem | None:
        try:
            found = self._ask(jvm())
        except NotAnswered:
            return None  # what Spark makes of it is the query's own matter
        servers, notes = self.client.get(SERVERS, ""), {path: read_notes(path) for path in checkpoints}
        for known in notes.values():
            if (problem := replaced(known, found, self._reads(others), servers)) is not None:
                return problem
        _note(notes, found)
        return None

    def _schemas_missing(self, checkpoints: Sequence[Path]) -> StartProblem | None:
        """Why the start waits for the schema registry."""
        if self.avro is None or self.avro.registry is None:
            return None
        try:
            known_schemas(checkpoints, self.avro.registry, self.avro.subjects)
        except RegistryProblem as trouble:
            why = f"{str(trouble)[:1].upper()}{str(trouble)[1:]}. The job starts when it answers."
            return StartProblem(error_class="SCHEMA_REGISTRY_UNAVAILABLE", why=why, permanent=False)
        return None

    def _ask(self, jvm: Any) -> FoundTopics:
        """Raises ``NotAnswered``."""
        stable = self.isolation_level == "read_committed"
        settings = java_settings(self.client)
        found = ask_cluster(jvm, settings, self.topics, self.topic_pattern, stable=stable)
        missing = [name for name in self.topics if name not in found.topics]
        if missing:
            raise NotAnswered(missing_topics(missing, self.client.get(SERVERS, "")))
        return found

    def _reads(self, others: Sequence[ResolvedSource]) -> Callable[[str], bool]:
        """Which topics of a checkpoint are its own. A checkpoint does not say which stream a position is of:
        a topic that another stream reads on other servers is not looked at.
        """
        kafka = [other for other in others if isinstance(other, ResolvedKafka)]
        elsewhere = [other for other in kafka if other.client != self.client]

        def reads(topic: str) -> bool:
            return not kafka or (self._names(topic) and not any(other._names(topic) for other in elsewhere))

        return reads

    def _names(self, topic: str) -> bool:
        return topic in self.topics or (
            self.topic_pattern is not None and re.fullmatch(self.topic_pattern, topic) is not None
        )

    @property
    def begins_at_times(self) -> bool:
        return True

    def noted_start(self, start_from: str, moment: int | None) -> int | None:
        if start_from == LATEST:
            return OF_LATEST
        return OF_EARLIEST if moment is None else moment

    def open(self, opening: Opening, start: int | None) -> Any:
        options = {**self._limits, **self._subscription, **self._starting(start, opening), **self._client}
        records = opening.session.readStream.format("kafka").options(**options).load()
        names = [column.name for column in self.columns]
        beside = [f"{of} AS {name}" for name, of in self._beside.items() if name in names]
        frame = records.selectExpr(f"value AS {VALUE_BYTES}", *_PLACE, *beside)
        decoding = Decoding(
            opening=opening, columns=self.judged_columns, options=self.options, avro=self.avro
        )
        read = decoded(frame, self.format, decoding)
        marked = [] if self.format in VALUE else [marker(_KNOWN)]
        return read.selectExpr(*map(quote, names), *marked)

    @property
    def judged_columns(self) -> tuple[SpecColumn, ...]:
        return tuple(column for column in self.columns if column.name not in BESIDE_VALUE)

    def learns(self, message: str, checkpoints: Sequence[Path]) -> bool:
        registry = self.avro.registry if self.avro is not None else None
        new = new_id_in(message)
        if registry is None or new is None or new[0] != registry.url:
            return False
        return want(checkpoints, registry.url, new[1])

    @property
    def _client(self) -> dict[str, str]:
        settings = {**java_settings(self.client), "isolation.level": self.isolation_level}
        return {f"kafka.{name}": text for name, text in settings.items()}

    @property
    def _subscription(self) -> dict[str, str]:
        if self.topic_pattern is not None:
            return {"subscribePattern": self.topic_pattern}
        return {"subscribe": ",".join(self.topics)}

    @property
    def _limits(self) -> dict[str, str]:
        headers = any(column.name == HEADERS for column in self.columns)
        given = {
            "failOnDataLoss": "true",
            "includeHeaders": "true" if headers else None,
            "groupIdPrefix": self.group_id_prefix,
            "maxOffsetsPerTrigger": self.max_offsets_per_trigger,
            "minPartitions": self.min_partitions,
        }
        return {name: str(value) for name, value in given.items() if value is not None}

    def _starting(self, start: int | None, opening: Opening) -> dict[str, str]:
        """``start``: a moment at which a generation begins, or Kafka's own number for one of its ends."""
        match start if start is not None else self.starting_offsets:
            case int(at) if at == OF_EARLIEST:
                return {"startingOffsets": EARLIEST}
            case int(at) if at == OF_LATEST:
                return {"startingOffsets": LATEST}
            case int(at):
                return _at_time(at)
            case str(text) if (moment := time_ms(text)) is not None:
                return _at_time(moment)
            case str(text):
                return {"startingOffsets": text}
            case offsets:
                return {"startingOffsets": json.dumps(self._of_all_partitions(offsets, opening))}

    def _of_all_partitions(
        self, offsets: Mapping[str, Mapping[str, int]], opening: Opening
    ) -> dict[str, dict[str, int]]:
        """Spark wants an offset of every partition: one that is not written begins at its oldest record."""
        found = self._ask(opening.session._jvm)
        return {
            topic.name: {
                str(number): offsets.get(topic.name, {}).get(str(number), OF_EARLIEST)
                for number in sorted(topic.partitions)
            }
            for topic in found.topics.values()
        }

    @property
    def _beside(self) -> dict[str, str]:
        own = {name: name.removeprefix("kafka_") for name in METADATA}
        return {KEY: _KEYS[self.key or "binary"], HEADERS: "headers", **own}


def _note(notes: Mapping[Path, TopicNotes], found: FoundTopics) -> None:
    """Adds the topics that there are to the notes of each checkpoint."""
    for checkpoint, known in notes.items():
        if (joined := known.joined(noted(found))) != known:
            write_notes(checkpoint, joined)


def _at_time(moment: int) -> dict[str, str]:
    # A partition without a record of that time or later has nothing to read yet.
    return {"startingTimestamp": str(moment), "startingOffsetsByTimestampStrategy": LATEST}


KIND: Final = ResolvedKafka
