"""The meaning of a job block, as records: the one place that knows the shape of its canonical attributes.
Pure.

Attributes stay what the core compares, records and shows. ``JobDefinition.of`` reads them, ``attributes``
writes the same ones. Durations are milliseconds; columns are types as Iceberg writes them, with ``not null``
where a value is required, by name.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Final, Literal

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import OPTIONAL, SPARSE, Form, Mismatch, decode, encode
from flareiac.kernel.types import BOOL, NUMBER, STRING, ListType, ObjectType, RefType, Type
from flareiac.sdk.declared import DURATION, declared, object_of
from flareiac.sdk.definitions import Flag, Number, Plain, Ref, Text, Whole, definition_of
from flareiac.sdk.on_change import ChangeClass, OnChange
from flareiac.sdk.schema import Attribute
from flareiac.sdk.secret_settings import SETTINGS
from flareiac.sdk.validators import fields, one_of, whole
from flareiac_spark.definition.input_definition import Input, StreamInput
from flareiac_spark.definition.output_definition import KafkaOutput, Output, TableOutput
from flareiac_spark.definition.step_definition import Step
from flareiac_spark.engine.engine_definition import EngineDefinition
from flareiac_spark_runtime.control import ALL

_TRIGGERS: Final[Mapping[str, Type]] = {
    "processing_time": STRING,
    "available_now": BOOL,
    "once": BOOL,
    "continuous": STRING,
    "real_time": STRING,
}
SCHEDULES: Final = dict.fromkeys(
    ("schedule", "cron", "crontab"),
    "cron or a timer of systemd runs flareiac restart or apply (flareiac explain service).",
)
"""Words for a time table, which a job does not have."""


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
    """The budget of failures of a query: with one more the job is failed."""

    max_failures: Number = field(
        metadata=declared(
            Attribute(
                type=NUMBER,
                description="Number of failures within the time after which the query starts again.",
                default=3,
            )
        )
    )
    within_ms: int = field(
        metadata=declared(
            Attribute(
                type=STRING, description="Time in which failures are counted.", default="1h", unit=DURATION
            )
        )
    )
    backoff_ms: int = field(
        metadata=declared(
            Attribute(
                type=STRING,
                description="First pause before a start; it doubles with each failure.",
                default="10s",
                unit=DURATION,
            )
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """The time for which a started job is watched, and what becomes of one that fails in it."""

    within_ms: int = field(
        metadata=declared(
            Attribute(
                type=STRING,
                description="Time after which the job is regarded as stable.",
                default="2m",
                unit=DURATION,
            )
        )
    )
    on_failure: Text = field(
        metadata=declared(
            Attribute(
                type=STRING,
                description="leave (it goes on trying) or rollback (to the last stable definition).",
                default="leave",
            )
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """Limits; None: not checked."""

    max_lag_ms: int | None = field(
        metadata=declared(
            Attribute(
                type=STRING,
                description="Longest time without having read all that the sources hold.",
                unit=DURATION,
            )
        )
    )
    max_batch_duration_ms: int | None = field(
        metadata=declared(Attribute(type=STRING, description="Longest batch.", unit=DURATION))
    )
    max_idle_ms: int | None = field(
        metadata=declared(
            Attribute(type=STRING, description="Longest time without a committed batch.", unit=DURATION)
        )
    )
    max_bad_records: int | None = field(
        default=None,
        metadata=OPTIONAL
        | declared(Attribute(type=NUMBER, description="Most records that could not be read.")),
    )
    max_late_rows: int | None = field(
        default=None,
        metadata=OPTIONAL
        | declared(Attribute(type=NUMBER, description="Most rows that the watermark had passed.")),
    )


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

    engine: Ref | None = field(
        metadata=declared(
            Attribute(
                type=RefType(("engine",)),
                description="The engine that runs the job. Default: the only one declared.",
                on_change=OnChange(ChangeClass.RESTART),
            )
        )
    )
    application: Annotated[
        ApplicationDefinition | None,
        Form(_encode_application, _decode_application, Mapping[str, None] | ApplicationDefinition),
    ]
    checkpoint: Ref | None = field(
        metadata=declared(
            Attribute(
                type=RefType(("checkpoint",)),
                description="The checkpoint of a streaming job. Each job needs one of its own.",
                on_change=OnChange(ChangeClass.REFUSED, note="once the job has run"),
            )
        )
    )
    checkpoint_location: str | None
    generation: Whole | None
    mode: Literal["stream", "batch"] = field(
        metadata=declared(
            Attribute(
                type=STRING,
                description="Kind of query: stream or batch.",
                default="stream",
                validators=(one_of("stream", "batch", explained=("incremental",)),),
                on_change=OnChange(ChangeClass.REFUSED, note="once the job has run"),
            )
        )
    )
    trigger: Trigger = field(
        metadata=declared(
            Attribute(
                type=ObjectType(_TRIGGERS, frozenset(_TRIGGERS)),
                description='When a batch starts: { processing_time = "30s" }, { available_now = true } or { '
                "once = true }. "
                "Default: as soon as the last one has ended.",
                on_change=OnChange(ChangeClass.RESTART, says="a trigger may change on the same checkpoint"),
                instead=SCHEDULES | {"interval": "It is called processing_time here."},
            )
        )
    )
    inputs: Mapping[str, Input]
    steps: Mapping[str, Step]
    step_order: tuple[str, ...]
    code: CodeFolder | None = field(
        metadata=declared(
            Attribute(
                type=STRING,
                description=(
                    "Folder with the Python modules of the steps, relative to the root module. Only "
                    "*.py files count."
                ),
                on_change=OnChange(ChangeClass.RESTART, over_state=ChangeClass.RESULTS_CHANGE),
            )
        )
    )
    outputs: Mapping[str, Output]
    conf: Mapping[str, Text] = field(
        metadata=declared(
            Attribute(
                type=SETTINGS,
                description="Spark settings of the session of this job.",
                on_change=OnChange(
                    ChangeClass.RESTART,
                    over_state=ChangeClass.RESULTS_CHANGE,
                    note="flareiac explain settings lists what only restarts and what is pinned",
                ),
            )
        )
    )
    restart: Restart = field(
        metadata=declared(
            Attribute(
                type=object_of(Restart),
                description=(
                    'Restart policy after failures: { max_failures = 3, within = "1h", backoff = "10s" }.'
                ),
                validators=(fields(max_failures=whole(0)),),
                on_change=OnChange(ChangeClass.LIVE, says="the new restart budget counts from now on"),
            )
        )
    )
    stability: Stability = field(
        metadata=declared(
            Attribute(
                type=object_of(Stability),
                description=(
                    'When apply regards the job as stable, and what happens otherwise: { within = "2m", '
                    'on_failure = "leave" }, or "rollback" to the last stable definition. A query that '
                    "still works on its first batch after this time counts as applied, with a warning."
                ),
                on_change=OnChange(ChangeClass.RECORDED),
            )
        )
    )
    health: Health | None = field(
        metadata=declared(
            Attribute(
                type=object_of(Health),
                description=(
                    'Limits that drift and status check: { max_lag = "10m", max_batch_duration = "5m", '
                    'max_idle = "1h", max_bad_records = 100 }. max_lag: longest time without having read '
                    "everything that the sources hold; max_batch_duration: longest batch; max_idle: "
                    "longest time without a committed batch. Each is measured from the start of the query. "
                    "max_bad_records: most records that could not be read, of all inputs, as in flareiac "
                    "status from the start of the query on. max_late_rows: most rows that were dropped "
                    "because the watermark had passed them, since the first start on the checkpoint; Spark "
                    "counts rows that an aggregation has combined as one. A limit that is left out is not "
                    "checked."
                ),
                on_change=OnChange(ChangeClass.RECORDED),
            )
        )
    )
    foreach_batch: Flag = field(
        metadata=declared(
            Attribute(
                type=BOOL,
                description="Writes all outputs in one query, from the same micro-batch.",
                default=False,
                on_change=OnChange(ChangeClass.NEW_GENERATION),
            )
        )
    )
    accept_result_change: Text | None = field(
        metadata=declared(
            Attribute(
                type=STRING,
                description=(
                    "The value that a plan prints to accept one change of results. It fits that change only; "
                    "after the apply the line can be removed."
                ),
                on_change=OnChange(
                    ChangeClass.RECORDED,
                    says="accept_result_change is used up by the change that it is given for",
                ),
            )
        )
    )
    run: Text = field(
        metadata=declared(
            Attribute(
                type=STRING,
                description=(
                    "When a finite job (a batch, or a stream that ends) runs: on_change (apply runs it "
                    "when its definition changes) or manual (flareiac start ADDRESS runs it; until then "
                    "its status is stopped)."
                ),
                default="on_change",
                validators=(one_of("on_change", "manual", explained=("on_input", "every_apply")),),
                on_change=OnChange(ChangeClass.NEXT_RUN),
            )
        )
    )
    stopped: Flag = field(
        metadata=declared(
            Attribute(
                type=BOOL,
                description="Keeps the job stopped while it stays declared.",
                default=False,
                on_change=OnChange(ChangeClass.STOPS),
            )
        )
    )
    restart_nonce: Number = field(
        metadata=declared(
            Attribute(
                type=NUMBER,
                description="Change the number to restart the job, or to run a finite job again.",
                default=0,
                on_change=OnChange(ChangeClass.RESTART, says="asked for by restart_nonce"),
            )
        )
    )
    comment: Text | None = field(
        metadata=declared(
            Attribute(
                type=STRING, description="Purpose of the job.", on_change=OnChange(ChangeClass.RECORDED)
            )
        )
    )
    tags: Plain = field(
        metadata=declared(
            Attribute(
                type=ListType(STRING),
                description="Labels of the job.",
                on_change=OnChange(ChangeClass.RECORDED),
            )
        )
    )
    avro: Mapping[str, WrittenSchema] = field(default_factory=dict, metadata=SPARSE)
    pool: Text | None = field(
        default=None,
        metadata=OPTIONAL
        | declared(
            Attribute(
                type=STRING,
                description="The scheduler pool that the job's tasks run in, one of pools in its engine: its "
                "priority. Default: a pool of its own, of weight 1.",
                on_change=OnChange(
                    ChangeClass.RESTART, says="a query keeps the scheduler pool that it was started in"
                ),
            )
        ),
    )

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
        encoded: Attributes = encode(self)
        return encoded

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
        return {name: output for name, output in self.outputs.items() if isinstance(output, TableOutput)}

    @property
    def kafka_outputs(self) -> dict[str, KafkaOutput]:
        """The outputs that write topics."""
        return {name: output for name, output in self.outputs.items() if isinstance(output, KafkaOutput)}

    @property
    def avro_outputs(self) -> dict[str, KafkaOutput]:
        """The outputs that write Avro to topics."""
        return {
            name: kafka_output
            for name, kafka_output in self.kafka_outputs.items()
            if kafka_output.format == "avro"
        }

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
        return {
            name: job_input for name, job_input in self.inputs.items() if isinstance(job_input, StreamInput)
        }

    @property
    def python_steps(self) -> list[str]:
        """The names of the steps in Python."""
        return [name for name, step in self.steps.items() if step.python]


def _location(job: JobDefinition) -> str | None:
    return job.application.runtime_location if job.application is not None else None
