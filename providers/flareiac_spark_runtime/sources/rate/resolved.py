"""A rate as the driver opens it."""

from typing import Any, Final, Literal

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.sources.resolved import Opening, ResolvedSource, SpecColumn

_COLUMNS: Final = (SpecColumn(name="timestamp", type="timestamptz"), SpecColumn(name="value", type="long"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedRate(ResolvedSource):
    """``ramp_up`` in seconds or as Spark reads it; columns are ``timestamp`` and ``value``."""

    kind: Literal["rate"] = "rate"
    rows_per_second: int = 1
    ramp_up: str | None = None
    partitions: int | None = None
    columns: tuple[SpecColumn, ...] = ()

    @property
    def frame_columns(self) -> tuple[SpecColumn, ...]:
        return _COLUMNS

    def open(self, opening: Opening, start: int | None) -> Any:
        del start
        reader = opening.session.readStream.format("rate").option("rowsPerSecond", self.rows_per_second)
        if self.ramp_up is not None:
            reader = reader.option("rampUpTime", self.ramp_up)
        if self.partitions is not None:
            reader = reader.option("numPartitions", self.partitions)
        return reader.load()


KIND: Final = ResolvedRate
