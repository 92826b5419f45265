"""The writers of the Avro values that a stream reads."""

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.sources.avro.registry import RegistryAccess


@dataclass(frozen=True, slots=True, kw_only=True)
class AvroValues:
    """Either ``schema``, a text that all values are written with, or ``registry``, in which they name their
    schemas; ``subjects`` are those whose versions are known from the start.
    """

    schema: str | None = None
    registry: RegistryAccess | None = None
    subjects: tuple[str, ...] = ()
