"""The meaning of a ``kafka`` block of a stream. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final, Literal

from flareiac.kernel.codes import Code
from flareiac.kernel.data import UNKNOWN, Attributes, Data, Reference, is_known
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import Foreign, decode
from flareiac.sdk import name_patterns
from flareiac.sdk.brokers import BrokerWords, TopicSelection
from flareiac.sdk.dataset_names import DatasetName, topic_dataset
from flareiac.sdk.definitions import Flag, Number, Plain, Ref, Text
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.secret_settings import checked_settings
from flareiac.sdk.versions import SPARK_AVRO
from flareiac_spark import codes
from flareiac_spark.column_types import Column
from flareiac_spark.settings import BATCH_SIZE, PARALLELISM, all_of
from flareiac_spark.sources.avro.latest import SchemaRead
from flareiac_spark.sources.changes import Meaning
from flareiac_spark.sources.kafka.avro_block import AvroBlock, derived_columns
from flareiac_spark.sources.kafka.debezium_block import DebeziumBlock, change_columns
from flareiac_spark.sources.kafka.offsets import KafkaOffsets
from flareiac_spark.sources.kafka.schema import BLOCK
from flareiac_spark.sources.samples import SampleRead
from flareiac_spark.sources.source import ChangeColumns, Places, Source, Surroundings, TopicRead
from flareiac_spark_runtime.sources.avro.registry import RegistryAccess
from flareiac_spark_runtime.sources.debezium.avro_rows import row_read
from flareiac_spark_runtime.sources.debezium.names import CHANGE, OP, POSITION
from flareiac_spark_runtime.sources.kafka.avro_values import AvroValues
from flareiac_spark_runtime.sources.kafka.formats import (
    BESIDE_VALUE,
    DEBEZIUM,
    HEADERS,
    HEADERS_TYPE,
    KEY,
    METADATA,
    OF_AVRO,
    TEXTS,
    VALUE,
)
from flareiac_spark_runtime.sources.kafka.resolved import ResolvedKafka
from flareiac_spark_runtime.sources.kafka.starting import EARLIEST, NotAStart, starting_of
from flareiac_spark_runtime.sources.kafka_client import SERVERS
from flareiac_spark_runtime.sources.resolved import SpecColumn

WORDS: Final = BrokerWords(system="Kafka", keeping="retention (retention.ms)")
_FIRST_START: Final = ("starting_offsets",)
_NAMES: Final = ("connection", "topic_blocks")
_READING: Final = Meaning(
    attributes=("format", "options", "schema", "isolation_level"),
    text="how the records of {} are read",
    why=(
        "The same records may give other values, or be others, under another format, other options or "
        "another isolation level; what the state holds was read the old way."
    ),
    undo="write the old format, options, schema and isolation_level again",
    of_state=True,
)
_HARMLESS: Final = (
    *all_of(BATCH_SIZE, "max_offsets_per_trigger"),
    *all_of(PARALLELISM, "min_partitions"),
    *all_of("which consumer groups Spark makes up", "group_id_prefix"),
    *all_of("where a first start begins", *_FIRST_START),
    *all_of("what the same records are called in the configuration", *_NAMES),
    *all_of("how clients reach the cluster; the driver refuses another cluster at every start", "client"),
    *all_of("which schemas are known from the start; a record names its own", "subjects"),
    *all_of("how the schema registry is reached", "registry"),
    *all_of("which columns there are beside the value", "key", "include_headers", "include_metadata"),
)
_POSITIONAL: Final = ("csv",)


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaSource(Source):
    """Records of topics. ``topics`` are names as the cluster knows them, sorted, none with a
    ``topic_pattern``; ``topic_blocks`` the blocks that declare some of them.

    ``client`` holds settings of Kafka's Java client by their own names, secrets as the texts that stand for
    them. ``starting_offsets`` is a ``Starting``; only a first start looks at it.
    """

    block: ClassVar = BLOCK
    offsets: ClassVar = KafkaOffsets()
    meaning: ClassVar = _READING
    harmless: ClassVar = _HARMLESS
    first_start: ClassVar = _FIRST_START
    first_start_again: ClassVar = "is of no effect on a checkpoint that has begun"
    names: ClassVar = _NAMES
    held_by_brokers: ClassVar = True
    beside: ClassVar = BESIDE_VALUE
    elsewhere: ClassVar = "kafka.topic-removed"
    widened: ClassVar = "kafka.topic-added"

    kind: Literal["kafka"] = "kafka"
    connection: Ref
    client: Mapping[str, Text]
    topics: tuple[Text, ...]
    topic_blocks: tuple[Ref, ...]
    topic_pattern: Text | None
    starting_offsets: Plain
    isolation_level: Text
    group_id_prefix: Text | None
    max_offsets_per_trigger: Number | None
    min_partitions: Number | None
    format: Text
    options: Mapping[str, Text]
    key: Text | None
    include_headers: Flag
    include_metadata: Flag
    schema: Text | None = None
    subjects: tuple[Text, ...] = ()
    registry: RegistryAccess | None = None

    @classmethod
    def read(
        cls, block: Attributes, columns: list[Column], around: Surroundings
    ) -> tuple[Source, list[Column]]:
        return _Reading(decode(WrittenKafka, _with_defaults(block), "kafka"), columns, around).done()

    def resolve(
        self, columns: tuple[SpecColumn, ...], order: Sequence[str] | None, places: Places
    ) -> ResolvedKafka:
        del places
        if order is not None:
            columns = tuple(sorted(columns, key=lambda column: order.index(column.name)))
        return ResolvedKafka(
            client=self.client,
            topics=self.topics,
            topic_pattern=self.topic_pattern,
            starting_offsets=self.starting_offsets,
            isolation_level=self.isolation_level,
            group_id_prefix=self.group_id_prefix,
            max_offsets_per_trigger=self.max_offsets_per_trigger,
            min_partitions=self.min_partitions,
            format=self.format,
            options=self.options,
            key=self.key,
            avro=self._avro,
            columns=columns,
        )

    @property
    def always_judges(self) -> bool:
        return True

    @property
    def change_columns(self) -> ChangeColumns | None:
        return ChangeColumns(operation=OP, position=POSITION) if self.format in DEBEZIUM else None

    @property
    def blocks_read(self) -> tuple[Reference, ...]:
        return self.topic_blocks

    def lineage_parts(self, references: References, project: Project) -> tuple[str | DatasetName, ...]:
        """A pattern of names is a dataset of its own: only brokers know the topics that match."""
        del project
        blocks = (references.get(block.address) for block in self.topic_blocks)
        declared = {decode(_Topic, topic.attributes).name for topic in blocks if topic is not None}
        names = self.topics if self.topic_pattern is None else (self.topic_pattern,)
        servers = self.client.get(SERVERS, "")
        others = (topic_dataset(servers, name) for name in names if name not in declared)
        return (*(block.address for block in self.topic_blocks), *others)

    def schema_read(self, columns: Sequence[Column]) -> SchemaRead | None:
        if self.registry is None or not is_known(list(self.subjects)):
            return None
        of_value = _of_value(columns, self.format)
        read = SchemaRead(registry=self.registry, subjects=self.subjects, columns=of_value)
        return replace(read, row=row_read(of_value, self.options)) if self.format in DEBEZIUM else read

    def sample_read(self, columns: Sequence[Column]) -> SampleRead | None:
        match self.format:
            case "json":
                return SampleRead(format="json", columns=_of_value(columns, self.format))
            case "avro" if self.registry is not None or self.schema is not None:
                return SampleRead(format="avro", columns=_of_value(columns, self.format), schema=self.schema)
            case _:
                return None

    @property
    def packages(self) -> tuple[str, ...]:
        return (SPARK_AVRO,) if self.format in OF_AVRO else ()

    @property
    def _avro(self) -> AvroValues | None:
        if self.format not in OF_AVRO:
            return None
        return AvroValues(schema=self.schema, registry=self.registry, subjects=self.subjects)

    @property
    def shown(self) -> str:
        if self.topic_pattern is not None:
            return f"topics that match {self.topic_pattern}"
        return f"topic{'s' * (len(self.topics) > 1)} {', '.join(map(str, self.topics))}"

    @property
    def place(self) -> str:
        return encode_place(self.topics, self.topic_pattern)

    def topic_read(self, references: References) -> TopicRead | None:
        connection = references.get(self.connection.address)
        if connection is None or not is_known([*self.topics, self.topic_pattern]):
            return None
        declared = (references.get(topic_block.address) for topic_block in self.topic_blocks)
        return TopicRead(
            connection=connection,
            selection=TopicSelection(names=self.topics, pattern=self.topic_pattern),
            expected=tuple(decode(_Topic, topic.attributes).name for topic in declared if topic is not None),
            words=WORDS,
        )

    def reads_topic(self, topic: str, client: Mapping[str, str]) -> bool:
        if not _servers(self.client) & _servers(client):
            return False
        if self.topic_pattern is not None:
            return name_patterns.matches(self.topic_pattern, topic) is not False
        return topic in self.topics

    def goes_on_in(self, new: Source) -> bool:
        if not isinstance(new, KafkaSource) or self.shown == new.shown:
            return self.shown == new.shown
        # Which topics a pattern has matched only a checkpoint tells.
        return self.topic_pattern is None and all(new.reads(topic) for topic in self.topics)

    def addition(self, old: Source) -> str | None:
        if not isinstance(old, KafkaSource) or self.shown == old.shown:
            return None
        return "topics that are added are read from the oldest records that are left"

    def reads(self, topic: str) -> bool:
        """Returns True if a topic is among those that it names, or that its pattern certainly matches."""
        if self.topic_pattern is None:
            return topic in self.topics
        return name_patterns.matches(self.topic_pattern, topic) is True

    @property
    def bad_record_fields(self) -> tuple[str, ...]:
        return () if self.format in VALUE else ("raw", "error", "topic", "partition", "offset")

    @property
    def tells_columns_by_place(self) -> bool:
        return self.format in _POSITIONAL


def _of_value(
    columns: Sequence[Column],
    format: str,  # noqa: A002 - the word of the attribute
) -> tuple[SpecColumn, ...]:
    """The columns of the value."""
    return tuple(
        SpecColumn(name=column.name, type=column.type, required=column.required)
        for column in columns
        if column.name not in reserved_names(format)
    )


def _servers(client: Mapping[str, str]) -> set[str]:
    return {server for server in client.get(SERVERS, "").split(",") if server}


def encode_place(topics: Iterable[str], pattern: str | None) -> str:
    """The text that tells streams of Kafka apart, for ``KafkaOffsets.carried``."""
    return f"~{pattern}" if pattern is not None else ",".join(topics)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Topic(Foreign):
    """The parts of a topic block that are read, in canonical form."""

    name: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cluster(Foreign):
    """The parts of a kafka block that are read, in canonical form."""

    client: Mapping[str, Text]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenKafka:
    """A block as it is decoded from HCL, with the schema's defaults."""

    topic: Plain
    topics: Plain
    topic_pattern: Text | None
    connection: Plain
    starting_offsets: Plain
    fail_on_data_loss: Flag
    isolation_level: Text
    group_id_prefix: Text | None
    max_offsets_per_trigger: Number | None
    min_partitions: Number | None
    format: Text
    options: Plain
    schema: Text | None
    subject: Text | None
    key: Text | None
    include_headers: Flag
    include_metadata: Flag


class _Reading:
    """One block, on its way to a source; what is wrong is reported."""

    def __init__(self, block: WrittenKafka, columns: list[Column], around: Surroundings) -> None:
        self._block, self._declared, self._around = block, columns, around

    def done(self) -> tuple[KafkaSource, list[Column]]:
        block = self._block
        self._check_data_loss()
        topics = tuple(dict.fromkeys(sorted(map(self._name, self._written_topics()))))
        connection = self._connection()
        options = checked_settings(
            block.options, ("kafka", "options"), self._around.references, self._around.diagnostics
        )
        source = KafkaSource(
            connection=connection,
            client=self._client(connection),
            topics=topics,
            topic_blocks=tuple(
                written_topic
                for written_topic in self._written_topics()
                if isinstance(written_topic, Reference)
            ),
            topic_pattern=self._pattern(),
            starting_offsets=self._starting(topics),
            isolation_level=block.isolation_level,
            group_id_prefix=block.group_id_prefix,
            max_offsets_per_trigger=block.max_offsets_per_trigger,
            min_partitions=block.min_partitions,
            format=block.format,
            options=options,
            key=block.key,
            include_headers=block.include_headers,
            include_metadata=block.include_metadata,
            **self._avro(connection, topics, options),
        )
        return source, self._columns(source)

    def _avro(
        self, connection: Reference, topics: tuple[str, ...], options: Mapping[str, str]
    ) -> dict[str, Any]:
        avro = AvroBlock(
            format=self._block.format,
            schema=self._block.schema,
            subject=self._block.subject,
            options=options,
            declared=self._declared,
            diagnostics=self._around.diagnostics,
        )
        cluster = self._around.references.get(connection.address)
        return avro.settings(cluster, topics)

    def _written_topics(self) -> list[Data]:
        one = self._block.topic
        return [one] if one is not None else list(self._block.topics or ())

    def _name(self, topic: Data) -> str:
        if not isinstance(topic, Reference):
            return str(topic)
        declared = self._around.references.get(topic.address)
        return decode(_Topic, declared.attributes).name if declared is not None else topic.address

    def _connection(self) -> Reference:
        """The connection that is written or filled in; else that of the only topic block."""
        written = self._block.connection
        if isinstance(written, Reference):
            return written
        known = [
            attribute
            for written_topic in self._written_topics()
            if isinstance(written_topic, Reference)
            and (topic := self._around.references.get(written_topic.address))
            for attribute in topic.attributes.values()
            if isinstance(attribute, Reference) and self._is_cluster(attribute)
        ]
        if known:
            return known[0]
        self._error(
            codes.NO_KAFKA_CONNECTION,
            'Declare the cluster, kafka "main" { bootstrap_servers = "host:9092" }, and name it where there '
            "are several: connection = kafka.main.",
            "connection",
        )
        return Reference("kafka.main")

    def _is_cluster(self, reference: Reference) -> bool:
        cluster = self._around.references.get(reference.address)
        return cluster is not None and cluster.type == "kafka"

    def _client(self, connection: Reference) -> dict[str, str]:
        declared = self._around.references.get(connection.address)
        return dict(decode(_Cluster, declared.attributes).client) if declared is not None else {}

    def _pattern(self) -> str | None:
        pattern = self._block.topic_pattern
        if isinstance(pattern, str) and (error := name_patterns.fault(pattern)) is not None:
            self._error(
                codes.INVALID_TOPIC_PATTERN,
                f"{pattern!r} is not a regular expression: {error}.",
                "topic_pattern",
            )
        return pattern

    def _starting(self, topics: tuple[str, ...]) -> Data:
        written = self._block.starting_offsets
        if written is UNKNOWN:
            return written
        try:
            return starting_of(written, topics)
        except NotAStart as error:
            self._error(codes.INVALID_STARTING_OFFSETS, str(error), "starting_offsets")
            return EARLIEST

    def _check_data_loss(self) -> None:
        if self._block.fail_on_data_loss is False:
            self._error(
                codes.DATA_LOSS_UNSUPPORTED,
                "With fail_on_data_loss = false Spark passes over records that were deleted before they were "
                "read, and over a topic that was deleted and created again, without a message. Remove it. "
                "After a loss the plan names the ways out: one of them is a new generation of the checkpoint "
                'with start_from = "earliest", which begins with the oldest records that are left.',
                "fail_on_data_loss",
            )

    def _columns(self, source: KafkaSource) -> list[Column]:
        columns = self._of_value(source)
        if source.format in DEBEZIUM:
            self._check_changes(source, columns)
            columns += change_columns()
        if source.key is not None:
            columns.append(Column(name=KEY, type=source.key))
        if source.include_headers is True:
            columns.append(Column(name=HEADERS, type=HEADERS_TYPE))
        if source.include_metadata is True:
            columns += [Column(name=name, type=kind) for name, kind in METADATA.items()]
        return columns

    def _of_value(self, source: KafkaSource) -> list[Column]:
        diagnostics = self._around.diagnostics
        if source.format in VALUE:
            if self._declared:
                diagnostics.error(
                    codes.COLUMNS_OF_ONE_VALUE,
                    f"Values of format {source.format} give one column, value. Remove the column blocks, or "
                    "read another format.",
                    attribute=("column",),
                )
            return [Column(name="value", type=VALUE[source.format])]
        if source.format in OF_AVRO and not self._declared and source.schema is not None:
            return derived_columns(source.schema, source.format)
        if not self._declared and source.format in (*TEXTS, *OF_AVRO):
            self._error(
                codes.RECORD_COLUMNS_MISSING,
                f'Values of format {source.format} do not name their types. Write column "name" '
                '{ type = "..." } for each.',
                "format",
            )
        reserved = reserved_names(source.format)
        for column in self._declared:
            if (adding := reserved.get(column.name.lower())) is not None:
                diagnostics.error(
                    codes.RESERVED_COLUMN,
                    f"{column.name} is the name of a column that {adding} adds. Call the declared one "
                    "otherwise.",
                    attribute=("column", column.name),
                )
        return [column for column in self._declared if column.name.lower() not in reserved]

    def _check_changes(self, source: KafkaSource, columns: list[Column]) -> None:
        DebeziumBlock(
            format=source.format,
            options=source.options,
            columns=columns,
            diagnostics=self._around.diagnostics,
        ).check()

    def _error(self, code: Code, detail: str, name: str) -> None:
        self._around.diagnostics.error(code, detail, attribute=("kafka", name))


def reserved_names(format: str) -> dict[str, str]:  # noqa: A002 - the word of the attribute
    """Names of columns that a stream adds, and what adds each."""
    reserved = dict.fromkeys(BESIDE_VALUE, "key, include_headers or include_metadata")
    return {**reserved, **dict.fromkeys(CHANGE, f"the format {format}")} if format in DEBEZIUM else reserved


def _with_defaults(block: Attributes) -> Attributes:
    schema = BLOCK.attributes
    return {name: schema[name].default if block.get(name) is None else block[name] for name in schema}


KIND: Final = KafkaSource
