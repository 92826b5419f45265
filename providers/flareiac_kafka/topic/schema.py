"""The schema of the ``topic`` block."""

from typing import Final

from flareiac.kernel.types import NUMBER, STRING, MapType, RefType
from flareiac.sdk.on_change import ChangeClass, OnChange
from flareiac.sdk.schema import Attribute, Block
from flareiac.sdk.validators import not_empty, one_of, whole

_MOST_REPLICAS: Final = 2**15 - 1


SCHEMA: Final = Block(
    description="A topic of a Kafka cluster.",
    attributes={
        "kafka": Attribute(
            type=RefType(("kafka",)),
            description="The cluster of the topic. Default: the only kafka block that is declared.",
            on_change=OnChange(ChangeClass.REFUSED),
        ),
        "name": Attribute(
            type=STRING,
            description="Name of the topic. Default: the label of the block.",
            validators=(not_empty,),
            on_change=OnChange(ChangeClass.REFUSED),
        ),
        "partitions": Attribute(
            type=NUMBER,
            description="Number of partitions; it can only grow. Left out: the default of the cluster, and "
            "not managed.",
            validators=(whole(),),
            on_change=OnChange(
                ChangeClass.IRREVERSIBLE, note="records of a key may go to another partition than before"
            ),
        ),
        "replication_factor": Attribute(
            type=NUMBER,
            description="Number of copies of each partition. Left out: the default of the cluster, and not "
            "managed. It is set when the topic is created.",
            validators=(whole(1, _MOST_REPLICAS),),
            on_change=OnChange(ChangeClass.REFUSED),
        ),
        "config": Attribute(
            type=MapType(STRING),
            description="Settings of the topic by Kafka's names (retention.ms, cleanup.policy, ...). One "
            "that is removed here gets the default of the cluster again. Left out: not managed.",
            on_change=OnChange(
                ChangeClass.METADATA_ONLY, note="settings that let Kafka delete records lose data"
            ),
        ),
        "on_destroy": Attribute(
            type=STRING,
            description="What happens when the block is removed: retain (forget the topic) or delete (with "
            "all its records).",
            default="retain",
            validators=(one_of("retain", "delete"),),
            on_change=OnChange(ChangeClass.RECORDED),
        ),
    },
)
