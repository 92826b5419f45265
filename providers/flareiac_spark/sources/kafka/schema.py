"""The schema of the ``kafka`` block of a stream."""

from typing import Final

from flareiac.kernel.types import ANY, BOOL, NUMBER, STRING, ListType, RefType
from flareiac.sdk.on_change import ChangeClass, OnChange
from flareiac.sdk.schema import Attribute, Block
from flareiac.sdk.secret_settings import SETTINGS
from flareiac.sdk.validators import LARGEST_LONG, not_empty, one_of, whole
from flareiac_spark_runtime.sources.kafka.formats import FORMATS

ISOLATION_LEVELS: Final = ("read_committed", "read_uncommitted")
KEYS: Final = ("string", "binary")
_TOPIC: Final = RefType(("topic",), or_string=True)

BLOCK: Final = Block(
    description="Reads the records of Kafka topics.",
    attributes={
        "topic": Attribute(
            type=_TOPIC,
            description="The topic that is read: topic.orders, or a name.",
            on_change=OnChange(ChangeClass.NEW_GENERATION),
        ),
        "topics": Attribute(
            type=ListType(_TOPIC),
            description="Several topics that are read together, each like topic.",
            validators=(not_empty,),
            on_change=OnChange(
                ChangeClass.NEW_GENERATION,
                note="where topics are only added: restart, or results change over state",
            ),
        ),
        "topic_pattern": Attribute(
            type=STRING,
            description="A regular expression of Java. Every topic whose whole name matches is read; one "
            "that is created later is read from its first record on.",
            validators=(not_empty,),
            on_change=OnChange(
                ChangeClass.NEW_GENERATION,
                note="in place of a topic that it matches: restart, or results change over state",
            ),
        ),
        "connection": Attribute(
            type=RefType(("kafka",)),
            description="The cluster. Default: that of the topic, or the only kafka block.",
            on_change=OnChange(ChangeClass.RESTART, note="a stream never continues on another cluster"),
        ),
        "starting_offsets": Attribute(
            type=ANY,
            description='Where the first start begins: "earliest" (the oldest records that are left), '
            '"latest" (new records only), a time with offset ("2026-01-31T00:00:00Z": records whose '
            'timestamp is not earlier), or an offset for each partition: { "0" = 12, "1" = 7 } for one '
            'topic, { orders = { "0" = 12 } } for several.',
            default="earliest",
            on_change=OnChange(
                ChangeClass.NO_EFFECT,
                note="only the first start of a checkpoint takes it, a later generation follows start_from",
            ),
        ),
        "fail_on_data_loss": Attribute(
            type=BOOL,
            description="Only true: records that were deleted before they were read stop the job.",
            default=True,
        ),
        "isolation_level": Attribute(
            type=STRING,
            description="read_committed reads no record of a transaction that is open or was aborted; "
            "read_uncommitted reads all.",
            default="read_committed",
            validators=(one_of(*ISOLATION_LEVELS),),
            on_change=OnChange(ChangeClass.RESTART, over_state=ChangeClass.RESULTS_CHANGE),
        ),
        "group_id_prefix": Attribute(
            type=STRING,
            description="Prefix of the consumer groups that Spark makes up, for the cluster's access rules.",
            validators=(not_empty,),
            on_change=OnChange(ChangeClass.RESTART),
        ),
        "max_offsets_per_trigger": Attribute(
            type=NUMBER,
            description="Maximum number of offsets per batch, over all partitions.",
            validators=(whole(1, LARGEST_LONG),),
            on_change=OnChange(ChangeClass.RESTART),
        ),
        "min_partitions": Attribute(
            type=NUMBER,
            description="Minimum number of tasks per batch: large partitions are split.",
            validators=(whole(),),
            on_change=OnChange(ChangeClass.RESTART),
        ),
        "format": Attribute(
            type=STRING,
            description=f"How values are read: {', '.join(FORMATS[:-1])} or {FORMATS[-1]}. text gives a "
            "column value of type string, raw one of type binary. debezium_json and debezium_avro read "
            "change events: the columns are those of the captured table, and change_op, change_time and "
            "change_position.",
            required=True,
            validators=(one_of(*FORMATS),),
            on_change=OnChange(ChangeClass.RESTART, over_state=ChangeClass.RESULTS_CHANGE),
        ),
        "options": Attribute(
            type=SETTINGS,
            description="Options of Spark's from_json or from_csv, by Spark's names. Of change events: "
            "settings of the Debezium connector that decide how values are written (decimal.handling.mode, "
            "time.precision.mode, binary.handling.mode, schemas.enable, unavailable.value.placeholder).",
            on_change=OnChange(ChangeClass.RESTART, over_state=ChangeClass.RESULTS_CHANGE),
        ),
        "schema": Attribute(
            type=STRING,
            description='The Avro schema of values that carry no id of a registry: file("order.avsc"). '
            "Without column blocks the columns are those of the schema.",
            validators=(not_empty,),
            on_change=OnChange(ChangeClass.RESTART, over_state=ChangeClass.RESULTS_CHANGE),
        ),
        "subject": Attribute(
            type=STRING,
            description="The subject in the schema registry of the connection. Each Avro value carries the "
            'id of its schema. Default: the name of the topic and "-value".',
            validators=(not_empty,),
            on_change=OnChange(ChangeClass.RESTART),
        ),
        "key": Attribute(
            type=STRING,
            description='Type of an additional column kafka_key with the key: "string" or "binary".',
            validators=(one_of(*KEYS),),
            on_change=OnChange(ChangeClass.RESTART),
        ),
        "include_headers": Attribute(
            type=BOOL,
            description="Adds kafka_headers, a list<struct<key: string, value: binary>>.",
            default=False,
            on_change=OnChange(ChangeClass.RESTART),
        ),
        "include_metadata": Attribute(
            type=BOOL,
            description="Adds kafka_topic, kafka_partition, kafka_offset and kafka_timestamp.",
            default=False,
            on_change=OnChange(ChangeClass.RESTART),
        ),
    },
    exactly_one_of=(("topic", "topics", "topic_pattern"),),
)
