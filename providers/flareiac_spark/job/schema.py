"""What users may write in a ``job`` block."""

from collections.abc import Mapping
from typing import Final

from flareiac.kernel.types import ANY, BOOL, NUMBER, STRING, ListType, MapType, ObjectType, RefType, Type
from flareiac.sdk.schema import Attribute, Block, NestedBlock, Nesting
from flareiac.sdk.validators import one_of
from flareiac_spark.engine.schema import SETTINGS
from flareiac_spark.stream.schema import COLUMN, FORMATS, FORMATS_SHOWN

_TRIGGERS: Final[Mapping[str, Type]] = {
    "processing_time": STRING,
    "available_now": BOOL,
    "once": BOOL,
    "continuous": STRING,
    "real_time": STRING,
}
_DEDUP: Final = ObjectType({"keys": ListType(STRING), "within_watermark": BOOL}, frozenset({"within_watermark"}))
_STATEFUL: Final = ObjectType({"state_version": NUMBER, "ttl": STRING}, frozenset({"state_version", "ttl"}))
_MERGE: Final = ObjectType(
    {"on": ListType(STRING), "latest_by": STRING, "update_if": STRING, "delete_if": STRING},
    frozenset({"latest_by", "update_if", "delete_if"}),
)
_WATERMARK: Final = ObjectType({"column": STRING, "delay": STRING})

INPUT_FILES: Final = Block(
    description="Files, read as they are when the job runs.",
    attributes={
        "path": Attribute(type=STRING, description="The folder or file, relative to the root module.", required=True, effect="runs again"),
        "format": Attribute(
            type=STRING,
            description=f"The files' format: {FORMATS_SHOWN}.",
            required=True,
            validators=(one_of(*FORMATS),),
        ),
        "options": Attribute(type=SETTINGS, description="Options of Spark's reader for this format."),
        "columns": Attribute(
            type=MapType(STRING),
            description='Columns by name: { carrier = "string" }. Where their order counts (csv), write column blocks.',
        ),
    },
    blocks={"column": NestedBlock(nesting=Nesting.MAP, block=COLUMN, any_label=True)},
)
INPUT: Final = Block(
    description="Something that the steps read by this name.",
    attributes={
        "stream": Attribute(type=RefType(("stream",)), description="A stream: new data in each batch.", effect="blocked on a checkpoint"),
        "table": Attribute(type=RefType(("table", "data.table")), description="A table, as it is at each batch.", effect="restart"),
    },
    blocks={"files": NestedBlock(nesting=Nesting.SINGLE, block=INPUT_FILES)},
    exactly_one_of=(("stream", "table", "files"),),
)
STEP: Final = Block(
    description="A query over inputs and earlier steps; later ones read its result by this name.",
    attributes={
        "sql": Attribute(type=STRING, description="Spark SQL.", effect="restart, or blocked where a checkpoint holds state"),
        "python": Attribute(
            type=STRING,
            description="module:function under code, called with (spark, inputs, params) at each start, and with empty inputs when an "
            "apply asks Spark whether it understands the job; it returns a DataFrame.",
            effect="restart, or an accepted change of results where a checkpoint holds state",
        ),
        "params": Attribute(type=ANY, description="What the function gets as params, values of any type by name.", effect="as python"),
        "stateful": Attribute(
            type=_STATEFUL,
            description="The function keeps state of its own: { state_version = 1 }. Raise state_version when its shape changes.",
            effect="new generation",
        ),
        "dedup": Attribute(
            type=_DEDUP,
            description='One row for each value of the keys: { keys = ["id"], within_watermark = true }.',
            effect="new generation",
        ),
        "watermark": Attribute(
            type=_WATERMARK, description='How late rows of the result may be: { column = "ts", delay = "10m" }.', effect="restart"
        ),
    },
)
OUTPUT: Final = Block(
    description="Where a step's rows go.",
    attributes={
        "table": Attribute(type=RefType(("table",)), description="The table that is written.", required=True, effect="restart"),
        "from": Attribute(type=STRING, description="The step (or input) that is written. Default: the last step.", effect="restart"),
        "mode": Attribute(
            type=STRING,
            description="append (adds rows), merge (by keys), complete (a streaming aggregate replaces all rows), overwrite (replaces all "
            "rows with each run or batch) or overwrite_partitions (replaces the partitions that it writes).",
            default="append",
            validators=(one_of("append", "merge", "complete", "overwrite", "overwrite_partitions", explained=("update",)),),
            effect="restart",
        ),
        "merge": Attribute(
            type=_MERGE,
            description='With mode = "merge": { on = ["id"], latest_by = "ts" }; update_if and delete_if are conditions on s (new) and t.',
            effect="restart",
        ),
        "branch": Attribute(type=STRING, description="The branch of the table that is written. Default: main.", effect="restart"),
        "rebuild": Attribute(
            type=STRING,
            description="What a new generation that reads again does with rows that are there: keep or truncate.",
            default="keep",
            validators=(one_of("keep", "truncate"),),
            effect="takes effect with the next generation",
        ),
        "options": Attribute(type=SETTINGS, description="Options of Iceberg's writer.", effect="restart"),
    },
)
_HEALTH: Final = ObjectType(
    {"max_lag": STRING, "max_batch_duration": STRING, "max_idle": STRING}, frozenset({"max_lag", "max_batch_duration", "max_idle"})
)
_RESTART: Final = ObjectType(
    {"max_failures": NUMBER, "within": STRING, "backoff": STRING}, frozenset({"max_failures", "within", "backoff"})
)
_STABILITY: Final = ObjectType({"within": STRING, "on_failure": STRING}, frozenset({"within", "on_failure"}))

SCHEMA: Final = Block(
    description="A query that runs: inputs, steps, outputs.",
    attributes={
        "engine": Attribute(type=RefType(("engine",)), description="Where it runs. Default: the only engine.", effect="restart"),
        "checkpoint": Attribute(
            type=RefType(("checkpoint",)), description="Where a streaming job keeps offsets and state.", effect="blocked once it has run"
        ),
        "mode": Attribute(
            type=STRING,
            description="stream or batch.",
            default="stream",
            validators=(one_of("stream", "batch", explained=("incremental",)),),
            effect="restart",
        ),
        "trigger": Attribute(
            type=ObjectType(_TRIGGERS, frozenset(_TRIGGERS)),
            description='When a batch begins: { processing_time = "30s" }, { available_now = true } or { once = true }. Default: at once.',
            effect="restart",
        ),
        "conf": Attribute(type=SETTINGS, description="Spark settings of this job's session.", effect="restart"),
        "restart": Attribute(
            type=_RESTART,
            description='After failures: { max_failures = 3, within = "1h", backoff = "10s" }.',
            effect="live",
        ),
        "stability": Attribute(
            type=_STABILITY,
            description='When an apply calls it stable, and what becomes of it otherwise: { within = "2m", on_failure = "leave" }, or '
            '"rollback" to the last stable definition. A query that is at work on its first batch after within counts as applied, '
            "with a warning.",
            effect="state only",
        ),
        "health": Attribute(
            type=_HEALTH,
            description='When it is unhealthy, for drift and status: { max_lag = "10m", max_batch_duration = "5m", max_idle = "1h" }. '
            "max_lag: it has not caught up with its sources for so long (it has when they hold nothing that it has not read); "
            "max_batch_duration: a batch takes or took longer; max_idle: it commits no batch for so long. Each counts from the start "
            "of the query; what is left out is not looked at.",
            effect="state only",
        ),
        "foreach_batch": Attribute(
            type=BOOL, description="One query, one micro-batch, all outputs.", default=False, effect="blocked on a checkpoint"
        ),
        "accept_result_change": Attribute(
            type=STRING,
            description="The token that plan printed for one definite change of results. That change uses it up; afterwards the line "
            "may be removed.",
            effect="state only",
        ),
        "run": Attribute(
            type=STRING,
            description="When a finite job (a batch, or a stream that ends) runs: on_change (an apply runs it when its definition "
            "changes) or manual (flareiac start ADDRESS runs it; until then status shows it as stopped).",
            default="on_change",
            validators=(one_of("on_change", "manual", explained=("on_input", "every_apply")),),
            effect="state only",
        ),
        "stopped": Attribute(type=BOOL, description="Keeps the job stopped.", default=False, effect="stops or starts"),
        "restart_nonce": Attribute(
            type=NUMBER, description="Another number restarts the job (or runs it again).", default=0, effect="restart"
        ),
        "comment": Attribute(type=STRING, description="What the job is for.", effect="state only"),
        "tags": Attribute(type=ListType(STRING), description="Words kept with the job.", effect="state only"),
        "code": Attribute(
            type=STRING,
            description="The folder with the Python modules of its steps, relative to the root module; of its files only *.py count.",
            effect="restart, or an accepted change of results where a checkpoint holds state",
        ),
    },
    blocks={
        "input": NestedBlock(nesting=Nesting.MAP, block=INPUT, required=True),
        "step": NestedBlock(nesting=Nesting.MAP, block=STEP),
        "output": NestedBlock(nesting=Nesting.MAP, block=OUTPUT, required=True),
    },
)
