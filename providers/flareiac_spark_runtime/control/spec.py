"""A job as the application runs it. Everything is resolved: absolute paths, table identities, types as
Iceberg spells them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, ClassVar, Final, Literal, TypeAlias

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import IMPLIED, OPTIONAL, SPARSE, Mismatch, decode, encode, named
from flareiac_spark_runtime.control.errors import ControlError, ErrorKind
from flareiac_spark_runtime.sources.resolved import Source, SpecColumn

ALL: Final = "all"
"""The name of a query that feeds all outputs of a job, and of its folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watermark:
    """``delay`` as Spark reads intervals: ``10 minutes``."""

    column: str
    delay: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamInput:
    """``bad_records``: what becomes of records that cannot be read, empty where they fail the job."""

    name: str
    source: Source
    kind: Literal["stream"] = "stream"
    watermark: Watermark | None = None
    bad_records: str = field(default="", metadata=SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableInput:
    """A table read as it is at each batch (the static side of a join, or the input of a batch job)."""

    name: str
    identifier: tuple[str, ...]
    kind: Literal["table"] = "table"
    uuid: str | None = None
    columns: tuple[SpecColumn, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesInput:
    name: str
    path: str
    format: str
    kind: Literal["files"] = "files"
    options: Mapping[str, str] = field(default_factory=dict)
    columns: tuple[SpecColumn, ...] = ()


Input: TypeAlias = StreamInput | TableInput | FilesInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Dedup:
    """One row for each value of the keys. ``within_watermark``: keys are forgotten when the watermark has
    passed them.
    """

    keys: tuple[str, ...]
    within_watermark: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Its result is a temporary view of its name: of ``sql``, or of ``python`` (``module:function`` under the
    job's code).
    """

    name: str
    sql: str | None = None
    python: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    dedup: Dedup | None = None
    watermark: Watermark | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """Rows meet by ``on``. ``latest_by``: of rows with equal keys in a batch the greatest counts. The rest
    are conditions on s and t.
    """

    on: tuple[str, ...]
    latest_by: str | None = None
    update_if: str | None = None
    delete_if: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOutput:
    """``columns`` are the target's, in its order. ``checkpoint`` is the directory of the generation in use;
    None for batch.

    With ``foreach_batch`` of its job all outputs share one checkpoint. ``branch`` None means main.
    ``bad_records``: it writes those of the input ``source``, in a query of its own. ``tombstones_of``: it
    keeps the deletes of the output of this name, in the query of that one.
    """

    kind: Literal["table"] = field(default="table", metadata=IMPLIED)
    name: str
    source: str = field(metadata=named("from"))
    identifier: tuple[str, ...]
    mode: Literal["append", "complete", "overwrite", "overwrite_partitions", "merge"]
    columns: tuple[SpecColumn, ...]
    uuid: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    checkpoint: str | None = None
    branch: str | None = None
    merge: Merge | None = None
    bad_records: bool = field(default=False, metadata=SPARSE)
    tombstones_of: str = field(default="", metadata=SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """A header of each record: its name, and the column that gives its value."""

    name: str
    column: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AvroValue:
    """The schema of the values that an output writes, and its id in the schema registry."""

    id: int
    schema: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaOutput:
    """A topic. ``client`` are settings of Kafka's Java client, ``options`` those of its producer, by Kafka's
    names; secrets among them are references. ``checkpoint`` as in ``TableOutput``.

    ``key`` is a column. ``headers`` is a column of headers as Kafka has them, or single headers.
    ``topic_id`` None: whichever topic has that name. ``avro`` with that format alone.
    """

    bad_records: ClassVar = False
    tombstones_of: ClassVar = ""

    kind: Literal["kafka"] = "kafka"
    name: str
    source: str = field(metadata=named("from"))
    topic: str
    topic_id: str | None = None
    client: Mapping[str, str]
    mode: Literal["append", "update", "complete"]
    format: Literal["json", "text", "raw", "avro"]
    key: str | None = None
    headers_column: str | None = None
    headers: tuple[Header, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    checkpoint: str | None = None
    avro: AvroValue | None = field(default=None, metadata=OPTIONAL)


Output: TypeAlias = TableOutput | KafkaOutput


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    kind: Literal["default", "processing_time", "available_now", "once"] = "default"
    interval_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """More than ``max_failures`` within ``within_ms`` is failed; ``backoff_ms`` is the first pause and
    doubles.
    """

    max_failures: int = 3
    within_ms: int = 3_600_000
    backoff_ms: int = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSpec:
    """One job. ``run_id`` (batch) is carried by its commits, so that a run is never done twice.

    ``foreach_batch``: one query feeds all outputs, each micro-batch into all of them. ``code``: the directory
    of its Python modules, named by their digest. ``pool``: the scheduler pool, empty for one of its own.
    """

    address: str
    mode: Literal["stream", "batch"]
    inputs: tuple[Input, ...]
    steps: tuple[Step, ...]
    outputs: tuple[Output, ...]
    trigger: Trigger = field(default_factory=Trigger)
    run_id: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    restart: Restart = field(default_factory=Restart)
    foreach_batch: bool = False
    code: str | None = None
    pool: str = field(default="", metadata=SPARSE)

    def stream(self, name: str) -> StreamInput:
        """The stream of an input, by its name."""
        return next(
            job_input
            for job_input in self.inputs
            if isinstance(job_input, StreamInput) and job_input.name == name
        )

    def query_of(self, output: str) -> str:
        """The name of the query that feeds an output."""
        written = next((job_output for job_output in self.outputs if job_output.name == output), None)
        if written is not None and written.bad_records:
            return output
        if self.foreach_batch:
            return ALL
        return (written.tombstones_of if written is not None else "") or output

    def tombstones(self, output: str) -> TableOutput | None:
        """The output that keeps the deletes of an output, None if there is none."""
        return next(
            (table_output for table_output in self.table_outputs if table_output.tombstones_of == output),
            None,
        )

    @property
    def table_outputs(self) -> tuple[TableOutput, ...]:
        """The outputs that write tables."""
        return tables_among(self.outputs)

    @property
    def query_names(self) -> dict[str, str]:
        """Its queries by the checkpoint that each uses."""
        return {
            output.checkpoint: self.query_of(output.name)
            for output in self.outputs
            if output.checkpoint is not None
        }


def tables_among(outputs: Iterable[Output]) -> tuple[TableOutput, ...]:
    """The outputs that write tables."""
    return tuple(output for output in outputs if isinstance(output, TableOutput))


def job_spec_from_json(data: Any) -> JobSpec:
    """Raises ``ControlError`` (damaged) that names the field."""
    try:
        return decode(JobSpec, data, "spec")
    except Mismatch as mismatch:
        raise ControlError(ErrorKind.DAMAGED, f"the spec of {address_in(data, '?')}", str(mismatch)) from None


def address_in(data: Any, otherwise: str) -> str:
    """The address in what may be a spec."""
    return str(data.get("address", otherwise)) if isinstance(data, Mapping) else otherwise


def job_spec_to_json(spec: JobSpec) -> dict[str, Any]:
    """The JSON form of a spec, as ``DesiredJob.spec`` and an operation carry it."""
    data: dict[str, Any] = encode(spec)
    return data
