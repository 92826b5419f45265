"""The meaning of a job block, as records: the one place that knows the shape of its canonical attributes.
Pure.

Attributes stay what the core compares, records and shows. ``JobDefinition.of`` reads them, ``attributes``
writes the same ones. Durations are milliseconds; columns are types as Iceberg writes them, with ``not null``
where a value is required, by name.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, ClassVar, Literal, TypeAlias

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import IMPLIED, OPTIONAL, SPARSE, Form, Mismatch, decode, encode, named
from flareiac.sdk.definitions import Flag, Number, Plain, Ref, Text, Whole, definition_of
from flareiac_spark.engine.engine_definition import EngineDefinition
from flareiac_spark.sources.source import AnySource
from flareiac_spark.stream.stream_definition import Watermark
from flareiac_spark_runtime.control import ALL
from flareiac_spark_runtime.sources.avro.registry import RegistryAccess


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationDefinition(EngineDefinition):
    """The engine that the job runs in, and digests of the settings of its catalogs, by name."""

    catalogs: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """``processing_time``: each ``interval_ms``."""

    kind: Literal["default", "processing_time", "available_now", "once"]
    interval_ms: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamInput:
    """``columns`` are those that steps read, and all where each record is judged by them; ``column_order``
    names all of the stream, where their order counts. ``bad_records``: the action, empty where they fail the
    job.
    """

    kind: Literal["stream"] = "stream"
    stream: Ref
    source: AnySource
    columns: Mapping[str, str]
    watermark: Watermark | None
    column_order: tuple[str, ...] | None = field(default=None, metadata=OPTIONAL)
    bad_records: str = field(default="", metadata=SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableInput:
    """A table as it is at each batch. ``columns`` and ``column_order`` as in ``StreamInput``."""

    kind: Literal["table"] = "table"
    table: Ref
    columns: Mapping[str, str]
    column_order: tuple[str, ...] | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesInput:
    """Files as they are when the job runs, with all their columns."""

    kind: Literal["files"] = "files"
    path: str
    format: Text
    options: Mapping[str, Text]
    columns: Mapping[str, str]
    column_order: tuple[str, ...]


Input: TypeAlias = StreamInput | TableInput | FilesInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Dedup:
    """One row for each value of the keys. ``within_watermark``: keys that the watermark has passed are
    forgotten.
    """

    keys: tuple[Text, ...]
    within_watermark: Flag


@dataclass(frozen=True, slots=True, kw_only=True)
class Stateful:
    """A Python function keeps state; the version is raised with its shape. ``ttl`` is always None."""

    state_version: int
    ttl: None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """In SQL, or in Python (``module:function``): then ``sql`` is empty, which reads as a query of which
    nothing can be determined.
    """

    sql: str
    python: Text | None
    params: Plain
    stateful: Stateful | None
    dedup: Dedup | None
    watermark: Watermark | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """Rows meet by ``on``. Of rows with equal keys in a batch the greatest by ``latest_by`` counts."""

    on: tuple[Text, ...]
    latest_by: Text | None
    update_if: Text | None
    delete_if: Text | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOutput:
    """``source`` names the step or input whose rows are written; ``columns`` are those of the table that it
    fills. ``branch`` None means main. ``rebuild`` (``keep``, ``truncate``): what a new generation does with
    rows that are there. ``bad_records``: it writes those of the input ``source`` that cannot be read, in a
    query of its own. ``tombstones_of`` names the output whose deletes it keeps, in that output's query; empty
    for every other.
    """

    kind: Literal["table"] = field(default="table", metadata=IMPLIED)
    table: Ref
    source: Text = field(metadata=named("from"))
    mode: Literal["append", "complete", "overwrite", "overwrite_partitions", "merge"]
    merge: Merge | None
    branch: Text | None
    rebuild: Text
    options: Mapping[str, Text]
    columns: Mapping[str, str]
    bad_records: bool = field(default=False, metadata=SPARSE)
    tombstones_of: Text = field(default="", metadata=SPARSE)

    @property
    def place(self) -> str:
        """The table that it writes, for people."""
        return f"{self.table}"


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaOutput:
    """``source`` as in ``TableOutput``. ``topic`` is the name in Kafka; ``resource`` is what declares it, if
    anything does. ``client`` are the settings of the connection, by the names of Kafka's Java client.

    ``key`` is the column of the records' keys; ``headers_column`` a column of headers as Kafka has them,
    ``headers`` the columns of single ones, by the headers' names. Of Avro alone: ``subject``, ``registry``,
    and ``schema``, the text that is declared, None for the newest version of the subject.
    """

    bad_records: ClassVar = False
    tombstones_of: ClassVar = ""

    kind: Literal["kafka"] = "kafka"
    topic: Text
    resource: Ref | None
    connection: Ref | None
    client: Mapping[str, Text]
    source: Text = field(metadata=named("from"))
    mode: Literal["append", "update", "complete"]
    key: Text | None
    headers_column: Text | None
    headers: Mapping[str, Text]
    format: Literal["json", "text", "raw", "avro"]
    options: Mapping[str, Text]
    subject: Text = field(default="", metadata=SPARSE)
    schema: Text | None = field(default=None, metadata=OPTIONAL)
    registry: RegistryAccess | None = field(default=None, metadata=OPTIONAL)

    @property
    def place(self) -> str:
        """The topic that it writes, for people."""
        return f"{self.resource}" if self.resource is not None else f"the topic {self.topic}"


Output: TypeAlias = TableOutput | KafkaOutput


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenSchema:
    """The Avro schema of an output's values in one spelling. ``id`` None: apply registers it."""

    schema: Text
    id: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeFolder:
    """``path`` as it is recorded, empty for the root; ``digest`` of its modules, None where they cannot be
    read.
    """

    path: str
    digest: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    max_failures: Number
    within_ms: int
    backoff_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """``on_failure``: ``leave`` or ``rollback``."""

    within_ms: int
    on_failure: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """Limits; None: not checked."""

    max_lag_ms: int | None
    max_batch_duration_ms: int | None
    max_idle_ms: int | None
    max_bad_records: int | None = field(default=None, metadata=OPTIONAL)
    max_late_rows: int | None = field(default=None, metadata=OPTIONAL)


def _encode_application(application: ApplicationDefinition | None) -> Attributes:
    return {} if application is None else encode(application)


def _decode_application(data: Data) -> ApplicationDefinition | None:
    return None if data == {} else decode(ApplicationDefinition, data, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDefinition:
    """Everything that runs, and what is said about it. ``application`` None: its engine is not declared.

    ``checkpoint_location`` and ``generation`` are those of ``checkpoint``,
    None for a batch. ``step_order`` names the steps as they are written. ``avro``: by output, what the schema
    registry says of its schema; a plan adds it to what is declared. ``pool``: the scheduler pool, None for
    one of its own.
    """

    engine: Ref | None
    application: Annotated[ApplicationDefinition | None, Form(_encode_application, _decode_application)]
    checkpoint: Ref | None
    checkpoint_location: str | None
    generation: Whole | None
    mode: Literal["stream", "batch"]
    trigger: Trigger
    inputs: Mapping[str, Input]
    steps: Mapping[str, Step]
    step_order: tuple[str, ...]
    code: CodeFolder | None
    outputs: Mapping[str, Output]
    conf: Mapping[str, Text]
    restart: Restart
    stability: Stability
    health: Health | None
    foreach_batch: bool
    accept_result_change: Text | None
    run: Text
    stopped: bool
    restart_nonce: Number
    comment: Text | None
    tags: Plain
    avro: Mapping[str, WrittenSchema] = field(default_factory=dict, metadata=SPARSE)
    pool: Text | None = field(default=None, metadata=OPTIONAL)

    @classmethod
    def of(cls, attributes: Attributes) -> "JobDefinition":
        """The definition that attributes say. Raises ``Mismatch`` for attributes of another shape."""
        definition = definition_of(cls, attributes)
        if sorted(definition.step_order) != sorted(definition.steps):
            raise Mismatch("attributes.step_order", "names other steps than there are")
        return definition

    @property
    def attributes(self) -> Attributes:
        """The canonical attributes."""
        found: Attributes = encode(self)
        return found

    @property
    def is_finite(self) -> bool:
        """Returns True if the job ends by itself."""
        return self.mode == "batch" or self.trigger.kind in ("once", "available_now")

    @property
    def starts_by_itself(self) -> bool:
        """Returns True if the job is to run, and not only to be declared."""
        return not self.stopped and not (self.is_finite and self.run == "manual")

    def moves_to(self, other: "JobDefinition") -> bool:
        """Returns True if another application runs ``other``."""
        return _location(self) != _location(other)

    @property
    def runs_in(self) -> ApplicationDefinition:
        """The application that runs it. Only what is planned without a declared engine has none."""
        assert self.application is not None, "a job of no declared engine is never applied"
        return self.application

    def is_in_folders_of(self, other: "JobDefinition") -> bool:
        """Returns True if its queries go on in the folders of ``other``."""
        places = {(job.checkpoint_location, job.generation) for job in (self, other)}
        return len(places) == 1

    @property
    def catalogs(self) -> Mapping[str, str] | None:
        """Digests of the settings of its catalogs, by name."""
        return self.application.catalogs if self.application is not None else None

    @property
    def query_names(self) -> list[str]:
        """Its queries, each named like the folder of its checkpoint: one for each output, or one for all of
        them, and one for the bad records of each input that quarantines them.
        """
        declared = {self.query_of(name) for name in self.declared_outputs}
        return [
            *sorted(declared),
            *sorted(name for name, output in self.outputs.items() if output.bad_records),
        ]

    def query_of(self, output: str) -> str:
        """The name of the query that feeds an output."""
        written = self.outputs.get(output)
        if written is not None and written.bad_records:
            return output
        if self.foreach_batch:
            return ALL
        return (written.tombstones_of if written is not None else "") or output

    @property
    def declared_outputs(self) -> dict[str, Output]:
        """The outputs that are written down: without those of bad records and of tombstones."""
        return {
            name: output
            for name, output in self.outputs.items()
            if not output.bad_records and not output.tombstones_of
        }

    @property
    def table_outputs(self) -> dict[str, TableOutput]:
        """The outputs that write tables."""
        return {name: item for name, item in self.outputs.items() if isinstance(item, TableOutput)}

    @property
    def kafka_outputs(self) -> dict[str, KafkaOutput]:
        """The outputs that write topics."""
        return {name: item for name, item in self.outputs.items() if isinstance(item, KafkaOutput)}

    @property
    def avro_outputs(self) -> dict[str, KafkaOutput]:
        """The outputs that write Avro to topics."""
        return {name: item for name, item in self.kafka_outputs.items() if item.format == "avro"}

    @property
    def ordered_steps(self) -> dict[str, Step]:
        """The steps as they are written."""
        return {name: self.steps[name] for name in self.step_order}

    @property
    def queries(self) -> dict[str, str]:
        """The SQL of the steps, in order, without those in Python."""
        return {name: step.sql for name, step in self.ordered_steps.items() if step.sql}

    @property
    def streams(self) -> dict[str, StreamInput]:
        """The inputs that are streams."""
        return {name: item for name, item in self.inputs.items() if isinstance(item, StreamInput)}

    @property
    def python_steps(self) -> list[str]:
        """The names of the steps in Python."""
        return [name for name, step in self.steps.items() if step.python]


def _location(job: JobDefinition) -> str | None:
    return job.application.runtime_location if job.application is not None else None
