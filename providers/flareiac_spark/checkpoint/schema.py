"""The schema of the ``checkpoint`` block."""

from typing import Final

from flareiac.kernel.types import BOOL, NUMBER, STRING, ObjectType
from flareiac.sdk.on_change import ChangeClass, OnChange
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
            on_change=OnChange(ChangeClass.MOVES_FILES),
        ),
        "generation": Attribute(
            type=NUMBER,
            description=(
                "Raise it to continue in a new folder without the old state, from the position "
                "that start_from names."
            ),
            default=1,
            validators=(whole(1, 9999),),
            on_change=OnChange(ChangeClass.NEW_GENERATION),
        ),
        "start_from": Attribute(
            type=STRING,
            description="Where a new generation begins: carry_over (after the last committed batch), "
            "earliest (all rows; blocked if live snapshots of a table no longer add some of them), "
            "oldest_snapshot (from the oldest live snapshot on, without those rows), latest (new rows only) "
            "or a time with offset. Tables support all of them, files carry_over (for queries without state) "
            "and earliest, rate streams only earliest.",
            default="carry_over",
            on_change=OnChange(ChangeClass.NEXT_GENERATION),
        ),
        "keep_generations": Attribute(
            type=NUMBER,
            description="Number of generations that are kept.",
            default=2,
            validators=(whole(),),
            on_change=OnChange(ChangeClass.STATE_ONLY),
        ),
        "min_batches_to_retain": Attribute(
            type=NUMBER,
            description="Number of batches that Spark keeps for recovery.",
            default=100,
            validators=(whole(),),
            on_change=OnChange(ChangeClass.RESTART),
        ),
        "state_store": Attribute(
            type=_STORE,
            description=(
                'State store of the query: { provider = "rocksdb", changelog = true, partitions = 8 }.'
            ),
            validators=(fields(partitions=whole()),),
            on_change=OnChange(
                ChangeClass.NO_EFFECT, note="a generation keeps the store that it was started with"
            ),
        ),
        "on_destroy": Attribute(
            type=STRING,
            description=(
                "What happens when the block is removed: retain (the state forgets it, its files stay) or "
                "delete (its files)."
            ),
            default="retain",
            validators=(one_of("retain", "delete"),),
            on_change=OnChange(ChangeClass.STATE_ONLY),
        ),
    },
)
