"""The meaning of a checkpoint block, as records: the canonical attributes of a checkpoint. Pure."""

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.definitions import Flag, Number, Text, Whole, definition_of
from flareiac.sdk.references import References
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.start_from import CARRY_OVER


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

    location: str
    generation: Whole
    start_from: Text | None
    keep_generations: Number
    min_batches_to_retain: Number
    state_store: StateStore | None
    on_destroy: Text

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
