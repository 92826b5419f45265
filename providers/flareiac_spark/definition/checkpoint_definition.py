"""The meaning of a checkpoint block, as records: the canonical attributes of a checkpoint. Pure."""

from dataclasses import field
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.types import BOOL, NUMBER, STRING, ObjectType
from flareiac.sdk.declared import declared
from flareiac.sdk.definitions import Flag, Number, Text, Whole, definition_of
from flareiac.sdk.on_change import ChangeClass, OnChange
from flareiac.sdk.references import References
from flareiac.sdk.schema import Attribute
from flareiac.sdk.validators import fields, one_of, whole
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.start_from import CARRY_OVER

_STORE: Final = ObjectType(
    {"provider": STRING, "changelog": BOOL, "partitions": NUMBER},
    frozenset({"provider", "changelog", "partitions"}),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StateStore:
    """The way Spark keeps state; None: Spark's own default. ``partitions`` are those of a shuffle."""

    provider: Text | None
    changelog: Flag | None
    partitions: Number | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointDefinition:
    """``location`` is relative to the root where it lies below it. ``start_from`` None: not said, which means
    ``carry_over``. ``on_destroy``: ``retain`` or ``delete``.
    """

    location: str = field(
        metadata=declared(
            Attribute(
                type=STRING,
                description=(
                    "The folder of the checkpoint: a path, or s3://BUCKET/PREFIX. Its generations are "
                    "subfolders. Where it changes, jobs stop, every file is copied and compared, and they go "
                    "on at the new place; flareiac checkpoint gc deletes the old folder."
                ),
                default=".flareiac/checkpoints/WORKSPACE/NAME",
                on_change=OnChange(ChangeClass.MOVES_FILES),
            )
        )
    )
    generation: Whole = field(
        metadata=declared(
            Attribute(
                type=NUMBER,
                description=(
                    "Raise it to continue in a new folder without the old state, from the position "
                    "that start_from names."
                ),
                default=1,
                validators=(whole(1, 9999),),
                on_change=OnChange(ChangeClass.NEW_GENERATION),
            )
        )
    )
    start_from: Text | None = field(
        metadata=declared(
            Attribute(
                type=STRING,
                description=(
                    "Where a new generation begins: carry_over (after the last committed batch), earliest "
                    "(all rows; blocked if live snapshots of a table no longer add some of them), "
                    "oldest_snapshot (from the oldest live snapshot on, without those rows), latest (new "
                    "rows only) or a time with offset. Tables support all of them, files carry_over (for "
                    "queries without state) and earliest, rate streams only earliest."
                ),
                default="carry_over",
                on_change=OnChange(ChangeClass.NEXT_GENERATION),
            )
        )
    )
    keep_generations: Number = field(
        metadata=declared(
            Attribute(
                type=NUMBER,
                description="Number of generations that are kept.",
                default=2,
                validators=(whole(),),
                on_change=OnChange(ChangeClass.RECORDED),
            )
        )
    )
    min_batches_to_retain: Number = field(
        metadata=declared(
            Attribute(
                type=NUMBER,
                description="Number of batches that Spark keeps for recovery.",
                default=100,
                validators=(whole(),),
                on_change=OnChange(ChangeClass.RESTART),
            )
        )
    )
    state_store: StateStore | None = field(
        metadata=declared(
            Attribute(
                type=_STORE,
                description=(
                    'State store of the query: { provider = "rocksdb", changelog = true, partitions = 8 }.'
                ),
                validators=(fields(partitions=whole()),),
                on_change=OnChange(
                    ChangeClass.NO_EFFECT, note="a generation keeps the store that it was started with"
                ),
            )
        )
    )
    on_destroy: Text = field(
        metadata=declared(
            Attribute(
                type=STRING,
                description=(
                    "What happens when the block is removed: retain (the state forgets it, its files stay) "
                    "or delete (its files)."
                ),
                default="retain",
                validators=(one_of("retain", "delete"),),
                on_change=OnChange(ChangeClass.RECORDED),
            )
        )
    )

    @classmethod
    def of(cls, attributes: Attributes) -> "CheckpointDefinition":
        """The definition that attributes say. Raises ``Mismatch`` for attributes of another shape."""
        return definition_of(cls, attributes)


def start_of(job: JobDefinition, references: References) -> str:
    """The beginning of the next generation: ``carry_over``, ``earliest``, ``oldest_snapshot``, ``latest`` or
    a time.
    """
    checkpoint = references.get(job.checkpoint.address) if job.checkpoint is not None else None
    return (CheckpointDefinition.of(checkpoint.attributes).start_from if checkpoint else None) or CARRY_OVER
