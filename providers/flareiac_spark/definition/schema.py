"""The schema of the ``job`` block."""

from collections.abc import Mapping
from typing import Final

from flareiac.kernel.types import ANY, BOOL, NUMBER, STRING, ListType, MapType, ObjectType, RefType, Type
from flareiac.sdk.on_change import ChangeClass, OnChange
from flareiac.sdk.schema import Attribute, Block, NestedBlock, Nesting
from flareiac.sdk.secret_settings import SETTINGS
from flareiac.sdk.validators import fields, one_of, whole
from flareiac_spark.sources.file_formats import FORMAT, OPTIONS
from flareiac_spark.stream.schema import COLUMN

_TRIGGERS: Final[Mapping[str, Type]] = {
    "processing_time": STRING,
    "available_now": BOOL,
    "once": BOOL,
    "continuous": STRING,
    "real_time": STRING,
}
_DEDUP: Final = ObjectType(
    {"keys": ListType(STRING), "within_watermark": BOOL}, frozenset({"within_watermark"})
)
_STATEFUL: Final = ObjectType({"state_version": NUMBER, "ttl": STRING}, frozenset({"state_version", "ttl"}))
_MERGE: Final = ObjectType(
    {
        "on": ListType(STRING),
        "latest_by": STRING,
        "update_if": STRING,
        "delete_if": STRING,
        "tombstones": RefType(("table",)),
    },
    frozenset({"latest_by", "update_if", "delete_if", "tombstones"}),
)
_WATERMARK: Final = ObjectType({"column": STRING, "delay": STRING})

INPUT_FILES: Final = Block(
    description="Reads files as they are when the job runs.",
    attributes={
        "path": Attribute(
            type=STRING,
            description="Folder or file, relative to the root module.",
            required=True,
            on_change=OnChange(ChangeClass.RESTART),
        ),
        "format": FORMAT,
        "options": OPTIONS,
        "columns": Attribute(
            type=MapType(STRING),
            description=(
                'Columns by name: { carrier = "string" }. Where the order counts (csv), use column blocks.'
            ),
            on_change=OnChange(ChangeClass.RESTART),
        ),
    },
    blocks={"column": NestedBlock(nesting=Nesting.MAP, block=COLUMN, any_label=True)},
)
INPUT: Final = Block(
    description="A source that the steps read by the label of the block.",
    attributes={
        "stream": Attribute(
            type=RefType(("stream",)),
            description="A stream: each batch reads new data.",
            on_change=OnChange(ChangeClass.NEW_GENERATION),
        ),
        "table": Attribute(
            type=RefType(("table", "data.table")),
            description="A table: each batch reads its current rows.",
            on_change=OnChange(ChangeClass.RESTART, over_state=ChangeClass.RESULTS_CHANGE),
        ),
    },
    blocks={"files": NestedBlock(nesting=Nesting.SINGLE, block=INPUT_FILES)},
    exactly_one_of=(("stream", "table", "files"),),
)
STEP: Final = Block(
    description=(
        "A query over inputs and earlier steps. Later steps read its result by the label of the block."
    ),
    attributes={
        "sql": Attribute(
            type=STRING,
            description="Spark SQL.",
            on_change=OnChange(
                ChangeClass.RESTART,
                over_state=ChangeClass.RESULTS_CHANGE,
                note="over state another grouping key or one more aggregate needs a new generation",
            ),
        ),
        "python": Attribute(
            type=STRING,
            description="module:function below code. It is called with (spark, inputs, params) at each "
            "start and returns a "
            "DataFrame. When apply has Spark analyze the job, it is called with empty inputs.",
            on_change=OnChange(ChangeClass.RESTART, over_state=ChangeClass.RESULTS_CHANGE),
        ),
        "params": Attribute(
            type=ANY,
            description="Values of any type by name, passed to the function as params.",
            on_change=OnChange(ChangeClass.RESTART, over_state=ChangeClass.RESULTS_CHANGE),
        ),
        "stateful": Attribute(
            type=_STATEFUL,
            description="Declares that the function keeps state: { state_version = 1 }. Raise "
            "state_version when the schema "
            "of the state changes.",
            on_change=OnChange(ChangeClass.NEW_GENERATION),
        ),
        "dedup": Attribute(
            type=_DEDUP,
            description='Keeps one row per key: { keys = ["id"], within_watermark = true }.',
            on_change=OnChange(ChangeClass.NEW_GENERATION),
        ),
        "watermark": Attribute(
            type=_WATERMARK,
            description='How late rows of the result may arrive: { column = "ts", delay = "10m" }.',
            on_change=OnChange(ChangeClass.RESTART, over_state=ChangeClass.RESULTS_CHANGE),
        ),
    },
)
OUTPUT_KAFKA: Final = Block(
    description="Writes each row as a record of a Kafka topic, at least once: a batch that is done again "
    "after a failure writes its records again.",
    attributes={
        "topic": Attribute(
            type=RefType(("topic",), or_string=True),
            description="The topic that is written: topic.alerts, or a name. It must exist before the job "
            "starts; a topic block creates it.",
            required=True,
            on_change=OnChange(ChangeClass.RESULTS_CHANGE),
        ),
        "connection": Attribute(
            type=RefType(("kafka",)),
            description="The cluster. Default: that of the topic, or the only kafka block.",
            on_change=OnChange(ChangeClass.RESTART),
        ),
        "key": Attribute(
            type=STRING,
            description="The column whose value is the key of a record: a string or binary as it is, any "
            "other simple type as a string. Records of one key stay in order in one partition. Default: no "
            "key.",
            on_change=OnChange(ChangeClass.RESTART),
        ),
        "headers": Attribute(
            type=ANY,
            description='Headers of a record: { "name" = "column" } for each, or the name of a column of '
            "type list<struct<key: string, value: binary>>.",
            on_change=OnChange(ChangeClass.RESTART),
        ),
        "format": Attribute(
            type=STRING,
            description="The value of a record. json: an object of all columns but those of headers; nulls "
            "are written, timestamps in UTC as ISO 8601 with microseconds, binary as Base64. text: the "
            "column value, a string. raw: the column value, binary. With text and raw a null is a tombstone. "
            "avro: the id of a schema in the connection's schema_registry in five bytes, then a record of "
            "that schema; columns of key and headers are fields of it where the schema has them.",
            default="json",
            validators=(one_of("json", "text", "raw", "avro"),),
            on_change=OnChange(ChangeClass.RESTART),
        ),
        "schema": Attribute(
            type=STRING,
            description='With avro: the schema that is written, for instance file("order.avsc"). Plan asks '
            "the registry whether the subject has it or accepts it, and apply registers it. Default: the "
            "newest version of the subject.",
            on_change=OnChange(ChangeClass.RESTART),
        ),
        "subject": Attribute(
            type=STRING,
            description="With avro: the subject of the schema. Default: the topic's name with -value.",
            on_change=OnChange(ChangeClass.RESTART),
        ),
        "options": Attribute(
            type=SETTINGS,
            description="Settings of Kafka's producer by their own names (compression.type, linger.ms, "
            "max.request.size, ...).",
            on_change=OnChange(ChangeClass.RESTART),
        ),
    },
)
OUTPUT: Final = Block(
    description="A table or a topic that the rows of a step are written to.",
    attributes={
        "table": Attribute(
            type=RefType(("table",)),
            description="The table that is written.",
            on_change=OnChange(
                ChangeClass.RESULTS_CHANGE, note="a restart where each batch replaces all rows"
            ),
        ),
        "from": Attribute(
            type=STRING,
            description="The step or input whose rows are written. Default: the last step.",
            on_change=OnChange(
                ChangeClass.RESTART,
                over_state=ChangeClass.NEW_GENERATION,
                note="what the query means decides",
            ),
        ),
        "mode": Attribute(
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
                    "append", "merge", "complete", "overwrite", "overwrite_partitions", explained=("update",)
                ),
            ),
            on_change=OnChange(ChangeClass.RESTART, over_state=ChangeClass.NEW_GENERATION),
        ),
        "merge": Attribute(
            type=_MERGE,
            description='For mode = "merge": { on = ["id"], latest_by = "ts" }. update_if and delete_if '
            "are conditions on s "
            "(the new row) and t (the row of the table). tombstones = table.NAME keeps the deleted keys, so "
            "that an older row which arrives later does not bring one back.",
            on_change=OnChange(ChangeClass.RESTART),
        ),
        "branch": Attribute(
            type=STRING,
            description="The branch of the table that is written. Default: main.",
            on_change=OnChange(
                ChangeClass.RESULTS_CHANGE, note="a restart where each batch replaces all rows"
            ),
        ),
        "rebuild": Attribute(
            type=STRING,
            description=(
                "What a new generation does with existing rows when it reads everything again: "
                "keep or truncate."
            ),
            default="keep",
            validators=(one_of("keep", "truncate"),),
            on_change=OnChange(ChangeClass.NEXT_GENERATION),
        ),
        "options": Attribute(
            type=SETTINGS,
            description="Options of Iceberg's writer, by Iceberg's names.",
            on_change=OnChange(ChangeClass.RESTART),
        ),
    },
    blocks={"kafka": NestedBlock(nesting=Nesting.SINGLE, block=OUTPUT_KAFKA)},
    exactly_one_of=(("table", "kafka"),),
)
_HEALTH: Final = ObjectType(
    {
        "max_lag": STRING,
        "max_batch_duration": STRING,
        "max_idle": STRING,
        "max_bad_records": NUMBER,
        "max_late_rows": NUMBER,
    },
    frozenset({"max_lag", "max_batch_duration", "max_idle", "max_bad_records", "max_late_rows"}),
)
_RESTART: Final = ObjectType(
    {"max_failures": NUMBER, "within": STRING, "backoff": STRING},
    frozenset({"max_failures", "within", "backoff"}),
)
_STABILITY: Final = ObjectType({"within": STRING, "on_failure": STRING}, frozenset({"within", "on_failure"}))

SCHEDULES: Final = dict.fromkeys(
    ("schedule", "cron", "crontab"),
    "cron or a timer of systemd runs flareiac restart or apply (flareiac explain service).",
)
"""Words for a time table, which a job does not have."""

SCHEMA: Final = Block(
    description="A streaming or batch query: inputs, steps, outputs.",
    attributes={
        "engine": Attribute(
            type=RefType(("engine",)),
            description="The engine that runs the job. Default: the only one declared.",
            on_change=OnChange(ChangeClass.RESTART),
        ),
        "checkpoint": Attribute(
            type=RefType(("checkpoint",)),
            description="The checkpoint of a streaming job. Each job needs one of its own.",
            on_change=OnChange(ChangeClass.REFUSED, note="once the job has run"),
        ),
        "mode": Attribute(
            type=STRING,
            description="Kind of query: stream or batch.",
            default="stream",
            validators=(one_of("stream", "batch", explained=("incremental",)),),
            on_change=OnChange(ChangeClass.REFUSED, note="once the job has run"),
        ),
        "trigger": Attribute(
            type=ObjectType(_TRIGGERS, frozenset(_TRIGGERS)),
            description='When a batch starts: { processing_time = "30s" }, { available_now = true } or { '
            "once = true }. "
            "Default: as soon as the last one has ended.",
            on_change=OnChange(ChangeClass.RESTART),
            instead=SCHEDULES | {"interval": "It is called processing_time here."},
        ),
        "conf": Attribute(
            type=SETTINGS,
            description="Spark settings of the session of this job.",
            on_change=OnChange(
                ChangeClass.RESTART,
                over_state=ChangeClass.RESULTS_CHANGE,
                note="flareiac explain settings lists what only restarts and what is pinned",
            ),
        ),
        "pool": Attribute(
            type=STRING,
            description="The scheduler pool that the job's tasks run in, one of pools in its engine: its "
            "priority. Default: a pool of its own, of weight 1.",
            on_change=OnChange(ChangeClass.RESTART),
        ),
        "restart": Attribute(
            type=_RESTART,
            description=(
                'Restart policy after failures: { max_failures = 3, within = "1h", backoff = "10s" }.'
            ),
            validators=(fields(max_failures=whole(0)),),
            on_change=OnChange(ChangeClass.LIVE),
        ),
        "stability": Attribute(
            type=_STABILITY,
            description="When apply regards the job as stable, and what happens otherwise: { within = "
            '"2m", on_failure = '
            '"leave" }, or "rollback" to the last stable definition. A query that still works on its first '
            "batch "
            "after this time counts as applied, with a warning.",
            on_change=OnChange(ChangeClass.STATE_ONLY),
        ),
        "health": Attribute(
            type=_HEALTH,
            description='Limits that drift and status check: { max_lag = "10m", max_batch_duration = "5m", '
            'max_idle = "1h", max_bad_records = 100 }. max_lag: longest time without having read everything '
            "that the sources hold; max_batch_duration: longest batch; max_idle: longest time without a "
            "committed batch. Each is measured from the start of the query. max_bad_records: most records "
            "that could not be read, of all inputs, as in flareiac status from the start of the query on. "
            "max_late_rows: most rows that were dropped because the watermark had passed them, since the "
            "first start on the checkpoint; Spark counts rows that an aggregation has combined as one. "
            "A limit that is left out is not checked.",
            on_change=OnChange(ChangeClass.STATE_ONLY),
        ),
        "foreach_batch": Attribute(
            type=BOOL,
            description="Writes all outputs in one query, from the same micro-batch.",
            default=False,
            on_change=OnChange(ChangeClass.NEW_GENERATION),
        ),
        "accept_result_change": Attribute(
            type=STRING,
            description="The token that a plan prints for one change of results. It fits that change only; "
            "after the apply "
            "the line can be removed.",
            on_change=OnChange(ChangeClass.STATE_ONLY),
        ),
        "run": Attribute(
            type=STRING,
            description="When a finite job (a batch, or a stream that ends) runs: on_change (apply runs it "
            "when its "
            "definition changes) or manual (flareiac start ADDRESS runs it; until then its status is "
            "stopped).",
            default="on_change",
            validators=(one_of("on_change", "manual", explained=("on_input", "every_apply")),),
            on_change=OnChange(ChangeClass.NEXT_RUN),
        ),
        "stopped": Attribute(
            type=BOOL,
            description="Keeps the job stopped while it stays declared.",
            default=False,
            on_change=OnChange(ChangeClass.STOPS),
        ),
        "restart_nonce": Attribute(
            type=NUMBER,
            description="Change the number to restart the job, or to run a finite job again.",
            default=0,
            on_change=OnChange(ChangeClass.RESTART),
        ),
        "comment": Attribute(
            type=STRING, description="Purpose of the job.", on_change=OnChange(ChangeClass.STATE_ONLY)
        ),
        "tags": Attribute(
            type=ListType(STRING),
            description="Labels of the job.",
            on_change=OnChange(ChangeClass.STATE_ONLY),
        ),
        "code": Attribute(
            type=STRING,
            description=(
                "Folder with the Python modules of the steps, relative to the root module. Only "
                "*.py files count."
            ),
            on_change=OnChange(ChangeClass.RESTART, over_state=ChangeClass.RESULTS_CHANGE),
        ),
    },
    blocks={
        "input": NestedBlock(nesting=Nesting.MAP, block=INPUT, required=True),
        "step": NestedBlock(nesting=Nesting.MAP, block=STEP),
        "output": NestedBlock(nesting=Nesting.MAP, block=OUTPUT, required=True),
    },
    instead=SCHEDULES
    | {
        "sql": 'A query stands in a step block: step "NAME" { sql = "..." }.',
        "source": 'What a job reads stands in input blocks: input "NAME" { stream = stream.NAME }.',
        "sink": 'What a job writes to stands in output blocks: output "NAME" { table = table.NAME }.',
        "target": 'What a job writes to stands in output blocks: output "NAME" { table = table.NAME }.',
        "merge": "merge is an attribute of an output block.",
        "watermark": "watermark is an attribute of a stream or of a step.",
        "checkpoint_location": "A checkpoint is a block of its own: checkpoint = checkpoint.NAME.",
        "enabled": "stopped = true keeps a job stopped.",
        "paused": "stopped = true keeps a job stopped.",
    },
)
