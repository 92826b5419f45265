"""The meaning of the output blocks of a job, as records. Pure."""

from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar, Literal, TypeAlias

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import IMPLIED, OPTIONAL, SPARSE, named
from flareiac.kernel.types import ANY, STRING, ListType, RefType
from flareiac.sdk.declared import declared, object_of
from flareiac.sdk.definitions import Ref, Text
from flareiac.sdk.on_change import ChangeClass, OnChange
from flareiac.sdk.schema import Attribute
from flareiac.sdk.secret_settings import SETTINGS
from flareiac.sdk.validators import one_of
from flareiac_spark_runtime.sources.avro.registry import RegistryAccess


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """Rows meet by ``on``. Of rows with equal keys in a batch the greatest by ``latest_by`` counts."""

    on: tuple[Text, ...] = field(
        metadata=declared(
            Attribute(type=ListType(STRING), description="The columns by which rows meet.", required=True)
        )
    )
    latest_by: Text | None = field(
        metadata=declared(
            Attribute(type=STRING, description="Of rows with equal keys the greatest by this column counts.")
        )
    )
    update_if: Text | None = field(
        metadata=declared(Attribute(type=STRING, description="Condition on s and t for an update."))
    )
    delete_if: Text | None = field(
        metadata=declared(Attribute(type=STRING, description="Condition on s and t for a delete."))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOutput:
    """``source`` names the step or input whose rows are written; ``columns`` are those of the table that it
    fills. ``branch`` None means main. ``rebuild`` (``keep``, ``truncate``): what a new generation does with
    rows that are there. ``bad_records``: it writes those of the input ``source`` that cannot be read, in a
    query of its own. ``tombstones_of`` names the output whose deletes it keeps, in that output's query; empty
    for every other.
    """

    kind: Literal["table"] = field(default="table", metadata=IMPLIED)
    table: Ref = field(
        metadata=declared(
            Attribute(
                type=RefType(("table",)),
                description="The table that is written.",
                on_change=OnChange(
                    ChangeClass.RESULTS_CHANGE, note="a restart where each batch replaces all rows"
                ),
            )
        )
    )
    source: Text = field(
        metadata=named("from")
        | declared(
            Attribute(
                type=STRING,
                description="The step or input whose rows are written. Default: the last step.",
                on_change=OnChange(
                    ChangeClass.RESTART,
                    over_state=ChangeClass.NEW_GENERATION,
                    note="what the query means decides",
                ),
            ),
            name="from",
        )
    )
    mode: Literal["append", "complete", "overwrite", "overwrite_partitions", "merge"] = field(
        metadata=declared(
            Attribute(
                type=STRING,
                description="append (adds rows), merge (updates by keys), complete (a streaming aggregate "
                "replaces all rows), "
                "overwrite (each run or batch replaces all rows) or overwrite_partitions (replaces the "
                "partitions "
                "that it writes). A topic takes append, update (a streaming aggregate writes the rows that "
                "changed) and complete (all rows with each batch).",
                default="append",
                validators=(
                    one_of(
                        "append",
                        "merge",
                        "complete",
                        "overwrite",
                        "overwrite_partitions",
                        explained=("update",),
                    ),
                ),
                on_change=OnChange(ChangeClass.RESTART, over_state=ChangeClass.NEW_GENERATION),
            )
        )
    )
    merge: Merge | None = field(
        metadata=declared(
            Attribute(
                type=object_of(Merge, tombstones=RefType(("table",))),
                description=(
                    'For mode = "merge": { on = ["id"], latest_by = "ts" }. update_if and delete_if are '
                    "conditions on s (the new row) and t (the row of the table). tombstones = table.NAME "
                    "keeps the deleted keys, so that an older row which arrives later does not bring one "
                    "back."
                ),
                on_change=OnChange(ChangeClass.RESTART),
            )
        )
    )
    branch: Text | None = field(
        metadata=declared(
            Attribute(
                type=STRING,
                description="The branch of the table that is written. Default: main.",
                on_change=OnChange(
                    ChangeClass.RESULTS_CHANGE, note="a restart where each batch replaces all rows"
                ),
            )
        )
    )
    rebuild: Text = field(
        metadata=declared(
            Attribute(
                type=STRING,
                description=(
                    "What a new generation does with existing rows when it reads everything again: "
                    "keep or truncate."
                ),
                default="keep",
                validators=(one_of("keep", "truncate"),),
                on_change=OnChange(ChangeClass.NEXT_GENERATION),
            )
        )
    )
    options: Mapping[str, Text] = field(
        metadata=declared(
            Attribute(
                type=SETTINGS,
                description="Options of Iceberg's writer, by Iceberg's names.",
                on_change=OnChange(ChangeClass.RESTART),
            )
        )
    )
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
    topic: Text = field(
        metadata=declared(
            Attribute(
                type=RefType(("topic",), or_string=True),
                description=(
                    "The topic that is written: topic.alerts, or a name. It must exist before the job "
                    "starts; a topic block creates it."
                ),
                required=True,
                on_change=OnChange(ChangeClass.RESULTS_CHANGE),
            )
        )
    )
    resource: Ref | None
    connection: Ref | None = field(
        metadata=declared(
            Attribute(
                type=RefType(("kafka",)),
                description="The cluster. Default: that of the topic, or the only kafka block.",
                on_change=OnChange(ChangeClass.RESTART),
            )
        )
    )
    client: Mapping[str, Text]
    source: Text = field(metadata=named("from"))
    mode: Literal["append", "update", "complete"]
    key: Text | None = field(
        metadata=declared(
            Attribute(
                type=STRING,
                description=(
                    "The column whose value is the key of a record: a string or binary as it is, any other "
                    "simple type as a string. Records of one key stay in order in one partition. Default: "
                    "no key."
                ),
                on_change=OnChange(ChangeClass.RESTART),
            )
        )
    )
    headers_column: Text | None
    headers: Mapping[str, Text] = field(
        metadata=declared(
            Attribute(
                type=ANY,
                description='Headers of a record: { "name" = "column" } for each, or the name of a column of '
                "type list<struct<key: string, value: binary>>.",
                on_change=OnChange(ChangeClass.RESTART),
            )
        )
    )
    format: Literal["json", "text", "raw", "avro"] = field(
        metadata=declared(
            Attribute(
                type=STRING,
                description=(
                    "The value of a record. json: an object of all columns but those of headers; nulls are "
                    "written, timestamps in UTC as ISO 8601 with microseconds, binary as Base64. text: the "
                    "column value, a string. raw: the column value, binary. With text and raw a null is a "
                    "tombstone. avro: the id of a schema in the connection's schema_registry in five "
                    "bytes, then a record of that schema; columns of key and headers are fields of it "
                    "where the schema has them."
                ),
                default="json",
                validators=(one_of("json", "text", "raw", "avro"),),
                on_change=OnChange(ChangeClass.RESTART),
            )
        )
    )
    options: Mapping[str, Text] = field(
        metadata=declared(
            Attribute(
                type=SETTINGS,
                description="Settings of Kafka's producer by their own names (compression.type, linger.ms, "
                "max.request.size, ...).",
                on_change=OnChange(ChangeClass.RESTART),
            )
        )
    )
    subject: Text = field(
        default="",
        metadata=SPARSE
        | declared(
            Attribute(
                type=STRING,
                description="With avro: the subject of the schema. Default: the topic's name with -value.",
                on_change=OnChange(ChangeClass.RESTART),
            )
        ),
    )
    schema: Text | None = field(
        default=None,
        metadata=OPTIONAL
        | declared(
            Attribute(
                type=STRING,
                description=(
                    'With avro: the schema that is written, for instance file("order.avsc"). Plan asks the '
                    "registry whether the subject has it or accepts it, and apply registers it. Default: "
                    "the newest version of the subject."
                ),
                on_change=OnChange(ChangeClass.RESTART),
            )
        ),
    )
    registry: RegistryAccess | None = field(default=None, metadata=OPTIONAL)

    @property
    def place(self) -> str:
        """The topic that it writes, for people."""
        return f"{self.resource}" if self.resource is not None else f"the topic {self.topic}"


Output: TypeAlias = TableOutput | KafkaOutput
