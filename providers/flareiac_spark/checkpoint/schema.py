"""What users may write in a ``checkpoint`` block."""

from typing import Final

from flareiac.kernel.types import BOOL, NUMBER, STRING, ObjectType
from flareiac.sdk.schema import Attribute, Block
from flareiac.sdk.validators import between, one_of

_STORE: Final = ObjectType(
    {"provider": STRING, "changelog": BOOL, "partitions": NUMBER}, frozenset({"provider", "changelog", "partitions"})
)

SCHEMA: Final = Block(
    description="Where a streaming job keeps its offsets and state.",
    attributes={
        "location": Attribute(
            type=STRING,
            description="The folder; generations live below it.",
            default=".flareiac/checkpoints/WORKSPACE/NAME",
            effect="blocked once a query has started in it",
        ),
        "generation": Attribute(
            type=NUMBER,
            description="Raise it to go on in a new folder, without the state of the old one; start_from says where.",
            default=1,
            validators=(between(1, 9999),),
            effect="new generation",
        ),
        "start_from": Attribute(
            type=STRING,
            description="Where a raised generation begins: carry_over (where the last one stands), earliest (blocked where rows of a "
            "table are in no live snapshot's additions), oldest_snapshot (the same without those rows), latest or a time with offset. "
            "Tables know all of them; files know carry_over (without state) and earliest; a rate stream only earliest.",
            default="carry_over",
            effect="takes effect with the next generation",
        ),
        "keep_generations": Attribute(
            type=NUMBER, description="How many generations are kept.", default=2, validators=(between(1),), effect="state only"
        ),
        "min_batches_to_retain": Attribute(
            type=NUMBER, description="How many batches can be recovered.", default=100, validators=(between(1),), effect="restart"
        ),
        "state_store": Attribute(
            type=_STORE,
            description='How state is kept: { provider = "rocksdb", changelog = true, partitions = 8 }.',
            effect="pinned by the first start of a generation",
        ),
        "on_destroy": Attribute(
            type=STRING,
            description="What removing the block does: retain (forget it) or delete (its files).",
            default="retain",
            validators=(one_of("retain", "delete"),),
            effect="state only",
        ),
    },
)
