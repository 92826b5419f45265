"""What users may write in a ``checkpoint`` block."""

from typing import Final

from flareiac.kernel.types import BOOL, NUMBER, STRING, ObjectType
from flareiac.sdk.schema import Attribute, Block
from flareiac.sdk.validators import fields, one_of, whole

_STORE: Final = ObjectType(
    {"provider": STRING, "changelog": BOOL, "partitions": NUMBER},
    frozenset({"provider", "changelog", "partitions"}),
)

SCHEMA: Final = Block(
    description="The offsets and state of a streaming job.",
    attributes={
        "location": Attribute(
            type=STRING,
            description=(
                "The folder of the checkpoint: a path, or s3://BUCKET/PREFIX. Its generations are "
                "subfolders. Where it changes, jobs stop, every file is copied and compared, and they go "
                "on at the new place; flareiac checkpoint gc deletes the old folder."
            ),
            default=".flareiac/checkpoints/WORKSPACE/NAME",
            effect="moves files, restart",
        ),
        "generation": Attribute(
            type=NUMBER,
            description=(
                "Raise it to continue in a new folder without the old state, from the position "
                "that start_from names."
            ),
            default=1,
            validators=(whole(1, 9999),),
            effect="new generation",
        ),
        "start_from": Attribute(
            type=STRING,
            description="Where a new generation begins: carry_over (after the last committed batch), "
            "earliest (all rows; blocked if live snapshots of a table no longer add some of them), "
            "oldest_snapshot (from the oldest live snapshot on, without those rows), latest (new rows only) "
            "or a time with offset. Tables support all of them, files carry_over (for queries without state) "
            "and earliest, rate streams only earliest.",
            default="carry_over",
            effect="takes effect with the next generation",
        ),
        "keep_generations": Attribute(
            type=NUMBER,
            description="Number of generations that are kept.",
            default=2,
            validators=(whole(),),
            effect="state only",
        ),
        "min_batches_to_retain": Attribute(
            type=NUMBER,
            description="Number of batches that Spark keeps for recovery.",
            default=100,
            validators=(whole(),),
            effect="restart",
        ),
        "state_store": Attribute(
            type=_STORE,
            description=(
                'State store of the query: { provider = "rocksdb", changelog = true, partitions = 8 }.'
            ),
            validators=(fields(partitions=whole()),),
            effect="pinned by the first start of a generation",
        ),
        "on_destroy": Attribute(
            type=STRING,
            description=(
                "What happens when the block is removed: retain (the state forgets it, its files stay) or "
                "delete (its files)."
            ),
            default="retain",
            validators=(one_of("retain", "delete"),),
            effect="state only",
        ),
    },
)
