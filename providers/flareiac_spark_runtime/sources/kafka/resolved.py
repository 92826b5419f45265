"""Topics as the driver reads them."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import field
from typing import Any, Final, Literal

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk import name_patterns
from flareiac.sdk.dataset_names import DatasetName, topic_dataset
from flareiac_spark_runtime.sources.avro.known import new_id_in
from flareiac_spark_runtime.sources.avro.notes import known_schemas, want
from flareiac_spark_runtime.sources.avro.registry import RegistryProblem
from flareiac_spark_runtime.sources.bad_records import GOOD
from flareiac_spark_runtime.sources.decoding import ERROR, NO_FIT, ONCE, complaint, literal, marker, quote
from flareiac_spark_runtime.sources.kafka.avro_values import AvroValues
from flareiac_spark_runtime.sources.kafka.cluster import (
    TIMEOUTS,
    Cluster,
    ClusterTopics,
    NotAnswered,
    TopicIds,
)
from flareiac_spark_runtime.sources.kafka.decoders import VALUE_BYTES, Decoding, decoded
from flareiac_spark_runtime.sources.kafka.first_starts import (
    Beginning,
    FirstStart,
    forget,
    has_begun,
)
from flareiac_spark_runtime.sources.kafka.first_starts import note as note_start
from flareiac_spark_runtime.sources.kafka.first_starts import noted as noted_start
from flareiac_spark_runtime.sources.kafka.formats import BESIDE_VALUE, HEADERS, KEY, METADATA, VALUE
from flareiac_spark_runtime.sources.kafka.start_check import (
    Asked,
    deleted_since,
    ids_of,
    missing_topics,
    noted,
    other_topic,
    problems,
    reaches,
    topics_not_read,
    topics_of,
)
from flareiac_spark_runtime.sources.kafka.starting import (
    EARLIEST,
    LATEST,
    OF_EARLIEST,
    OF_LATEST,
    ByPartition,
    Starting,
    begin_of,
)
from flareiac_spark_runtime.sources.kafka.topic_notes import TopicNotes, read_notes, write_notes
from flareiac_spark_runtime.sources.kafka_client import SERVERS, java_settings
from flareiac_spark_runtime.sources.kept import Kept
from flareiac_spark_runtime.sources.resolved import (
    Opening,
    ResolvedSource,
    SpecColumn,
    StartProblem,
    StartRefused,
)
from flareiac_spark_runtime.storage import Place

_NUMBERS: Final = ("partition AS __flareiac_partition", "offset AS __flareiac_offset")
_KNOWN: Final = {
    "raw": VALUE_BYTES,
    "error": ERROR,
    "topic": "__flareiac_topic",
    "partition": "__flareiac_partition",
    "offset": "__flareiac_offset",
}
"""The columns of the known facts of a record that cannot be read."""
_PLACE_TEXT: Final = (
    "concat('topic ', __flareiac_topic, ', partition ', __flareiac_partition, ', offset ', __flareiac_offset)"
)
_UNEXPLAINED: Final = re.compile(rf"{re.escape(NO_FIT)}; in topic (\S+), partition (\d+), offset (\d+)")
"""The message about a record that was not explained."""
_ASKS: Final = {"fetchOffset.numRetries": "9"}
"""The number of times that Spark asks for offsets before it gives up."""
_ASKED_ONCE: Final = {"fetchOffset.numRetries": "1"}
_REPORTED: Final = "KafkaV2["
"""The beginning of Spark's description of a stream of topics."""
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

    @property
    def datasets(self) -> tuple[DatasetName, ...]:
        """A pattern of names is one dataset, as it is where it is declared."""
        names = self.topics if self.topic_pattern is None else (self.topic_pattern,)
        return tuple(topic_dataset(self.client.get(SERVERS, ""), name) for name in names)

    def is_reported(self, description: str, end: Any) -> bool | None:
        if not description.startswith(_REPORTED):
            return False
        return (isinstance(end, Mapping) and set(end) == set(self.topics)) or None

    def prove_start(
        self, jvm: Callable[[], Any], checkpoints: Sequence[Place], others: Sequence[ResolvedSource]
    ) -> StartProblem | None:
        forget(checkpoints)
        try:
            topics = self._ask(jvm())
        except NotAnswered as error:
            return error.problem
        asked, notes = self._asked(others, jvm), {}
        for checkpoint in checkpoints:
            notes[checkpoint] = known = read_notes(checkpoint)
            begun = reaches(checkpoint)
            read = {topic for reach in begun for topic in reach.begins}
            unread = sorted(topic for topic in read if not self._names(topic, jvm))
            if unread and not others:
                return topics_not_read(unread)
            for problem in problems(begun, known, topics, asked):
                return problem
        for checkpoint, known in notes.items():
            _note(checkpoint, known, ids_of(topics))
        return self._schemas_missing(checkpoints)

    def prove_running(
        self, jvm: Callable[[], Any], checkpoints: Sequence[Place], kept: Kept
    ) -> StartProblem | None:
        cluster = "kafka", tuple(sorted(self.client.items()))
        try:
            client = kept.get(cluster, lambda: Cluster(jvm(), java_settings(self.client)))
            ids = client.ids(self.topics, self.topic_pattern)
        except NotAnswered:
            kept.drop(cluster)
            raise
        for checkpoint in checkpoints:
            known = read_notes(checkpoint)
            read = {topic for reach in reaches(checkpoint) for topic in topics_of(reach)}
            for topic in sorted(topic for topic in read if self._names(topic, jvm)):
                problem = other_topic(topic, known, ids, self.client.get(SERVERS, ""))
                if problem is not None:
                    return problem
            # A pattern matches topics that are created later
            _note(checkpoint, known, ids)
        return None

    def _schemas_missing(self, checkpoints: Sequence[Place]) -> StartProblem | None:
        """The reason that the start waits for the schema registry, None where it does not."""
        if self.avro is None or self.avro.registry is None:
            return None
        try:
            known_schemas(checkpoints, self.avro.registry, self.avro.subjects)
        except RegistryProblem as error:
            why = f"{str(error)[:1].upper()}{str(error)[1:]}. The job starts when it answers."
            return StartProblem(error_class="SCHEMA_REGISTRY_UNAVAILABLE", why=why, permanent=False)
        return None

    def _ask(self, jvm: Any) -> ClusterTopics:
        """Raises ``NotAnswered``."""
        with closing(Cluster(jvm, java_settings(self.client))) as cluster:
            return self._existing_topics(cluster)

    def _existing_topics(self, cluster: Cluster) -> ClusterTopics:
        """Raises ``NotAnswered``."""
        stable = self.isolation_level == "read_committed"
        topics = cluster.topics(self.topics, self.topic_pattern, stable=stable)
        missing = [name for name in self.topics if name not in topics.topics]
        if missing:
            raise NotAnswered(missing_topics(missing, self.client.get(SERVERS, "")))
        return topics

    def _asked(self, others: Sequence[ResolvedSource], jvm: Callable[[], Any]) -> Asked:
        """A checkpoint does not say which stream a position is of."""
        kafka = [other for other in others if isinstance(other, ResolvedKafka)]
        elsewhere = [other for other in kafka if other.client != self.client]
        return Asked(
            servers=self.client.get(SERVERS, ""),
            reads=lambda topic: not kafka or self._names(topic, jvm),
            shared=lambda topic: any(other._names(topic, jvm) for other in elsewhere),
        )

    def _names(self, topic: str, jvm: Callable[[], Any]) -> bool:
        if self.topic_pattern is None:
            return topic in self.topics
        is_match = name_patterns.matches(self.topic_pattern, topic)
        if is_match is None:
            is_match = bool(jvm().java.util.regex.Pattern.matches(self.topic_pattern, topic))
        return is_match

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
        read = self._decoded(records, opening)
        names = [quote(column.name) for column in self.columns]
        if self.format in VALUE:
            return read.selectExpr(*names)
        good = GOOD if GOOD in read.columns else f"{ERROR} IS NULL"
        return read.selectExpr(*names, f"{good} AND {ONCE} AS {GOOD}", *_said(opening))

    def _decoded(self, records: Any, opening: Opening) -> Any:
        """The frame that the format's decoder makes of the records of Spark's reader, with the columns beside
        their values.
        """
        names = {column.name for column in self.columns}
        beside = [f"{of} AS {name}" for name, of in self._beside.items() if name in names]
        frame = records.selectExpr(f"value AS {VALUE_BYTES}", *self._place, *beside)
        decoding = Decoding(
            opening=opening, columns=self.judged_columns, options=self.options, avro=self.avro
        )
        return decoded(frame, self.format, decoding)

    @property
    def _place(self) -> tuple[str, ...]:
        """The columns that say where a record is."""
        topic = literal(self.topics[0]) if len(self.topics) == 1 else "topic"
        return f"{topic} AS __flareiac_topic", *_NUMBERS

    def explained(self, complaint: str, opening: Opening) -> str:
        match = _UNEXPLAINED.search(complaint)
        if match is None:
            return complaint
        topic, partition, offset = match.group(1), match.group(2), int(match.group(3))
        options = {
            "assign": json.dumps({topic: [int(partition)]}),
            "startingOffsets": json.dumps({topic: {partition: offset}}),
            "endingOffsets": json.dumps({topic: {partition: offset + 1}}),
            "includeHeaders": "true",
            **self._client,
            **_ASKED_ONCE,
        }
        # Of a topic that was created again, the same offset is another record
        if not self._is_the_noted_one(topic, opening):
            return complaint
        record = opening.session.read.format("kafka").options(**options).load()
        said = [row[ERROR] for row in self._decoded(record, opening).select(ERROR).collect()]
        if not said or not said[0] or not self._is_the_noted_one(topic, opening):
            return complaint
        return complaint.replace(NO_FIT, said[0], 1)

    def _is_the_noted_one(self, topic: str, opening: Opening) -> bool:
        """Returns True if a topic is certainly the one that the queries have read."""
        try:
            with closing(self._cluster(opening)) as cluster:
                ids = cluster.ids((topic,), None)
        except NotAnswered:
            return False
        notes = [known for known in map(read_notes, opening.checkpoints) if known.of(topic)]
        return bool(notes) and all(other_topic(topic, known, ids, "") is None for known in notes)

    @property
    def judged_columns(self) -> tuple[SpecColumn, ...]:
        return tuple(column for column in self.columns if column.name not in BESIDE_VALUE)

    def learns(self, message: str, checkpoints: Sequence[Place]) -> bool:
        registry = self.avro.registry if self.avro is not None else None
        new = new_id_in(message)
        if registry is None or new is None or new[0] != registry.url:
            return False
        return want(checkpoints, registry.url, new[1])

    @property
    def _client(self) -> dict[str, str]:
        """A client that asks a dead node may learn only after its time limit that another one leads
        (measured). The limit is a third of Kafka's own, and Spark asks three times as often.
        """
        given = java_settings(self.client)
        limits, asks = ({}, {}) if set(TIMEOUTS) & set(given) else (TIMEOUTS, _ASKS)
        settings = {**limits, **given, "isolation.level": self.isolation_level}
        return {**asks, **{f"kafka.{name}": text for name, text in settings.items()}}

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
        written = self.starting_offsets
        if start is None and not isinstance(written, str):
            with closing(self._cluster(opening)) as cluster:
                return _at_offsets(written, self._existing_topics(cluster))
        match begin_of(str(written)) if start is None else start:
            case int(at) if at == OF_EARLIEST:
                return {"startingOffsets": EARLIEST}
            case at:
                return self._common_start(at, opening) or _at(at)

    def _common_start(self, at: int, opening: Opening) -> dict[str, str] | None:
        """The offsets at which queries begin that have not begun, so that all of them read the same records;
        None where there is at most one.
        """
        fresh = [checkpoint for checkpoint in opening.checkpoints if not has_begun(checkpoint)]
        if not fresh or len(opening.checkpoints) == 1:
            return None
        with closing(self._cluster(opening)) as cluster:
            topics = self._existing_topics(cluster)
            beginning = Beginning(
                cluster=topics.cluster, topics=self.topics, topic_pattern=self.topic_pattern, at=at
            )
            offsets = noted_start(fresh, beginning)
            if offsets is None and len(fresh) > 1:
                offsets = cluster.offsets_at(topics, at, self.isolation_level)
                note_start(fresh, FirstStart(beginning=beginning, offsets=offsets))
        if offsets is None:
            return None
        if (problem := deleted_since(offsets, topics)) is not None:
            raise StartRefused(problem)
        return _at_offsets(offsets, topics)

    def _cluster(self, opening: Opening) -> Cluster:
        return Cluster(opening.session._jvm, java_settings(self.client))

    @property
    def _beside(self) -> dict[str, str]:
        own = {name: name.removeprefix("kafka_") for name in METADATA}
        return {KEY: _KEYS[self.key or "binary"], HEADERS: "headers", **own}


def _note(checkpoint: Place, known: TopicNotes, ids: TopicIds) -> None:
    """Adds what is not noted yet."""
    if (joined := known.joined(noted(ids))) != known:
        write_notes(checkpoint, joined)


def _said(opening: Opening) -> tuple[str, ...]:
    """The columns that report a bad record: where one ends the job, or is kept."""
    if opening.explains:
        return (marker(_KNOWN),)
    return () if opening.bad_records else (complaint(_PLACE_TEXT),)


def _at(moment: int) -> dict[str, str]:
    if moment == OF_LATEST:
        return {"startingOffsets": LATEST}
    # A partition without a record of that time or later has nothing to read yet.
    return {"startingTimestamp": str(moment), "startingOffsetsByTimestampStrategy": LATEST}


def _at_offsets(offsets: ByPartition, topics: ClusterTopics) -> dict[str, str]:
    """Spark wants an offset of every partition: one that is not written begins at its oldest record."""
    if not topics.topics:
        return {"startingOffsets": EARLIEST}
    every = {
        topic.name: {
            str(number): offsets.get(topic.name, {}).get(str(number), OF_EARLIEST)
            for number in sorted(topic.partitions)
        }
        for topic in topics.topics.values()
    }
    return {"startingOffsets": json.dumps(every)}


KIND: Final = ResolvedKafka
