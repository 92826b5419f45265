"""The meaning of a ``rate`` block. Pure."""

from collections.abc import Sequence
from typing import ClassVar, Final, Literal

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.definitions import Number, Text
from flareiac.sdk.validators import parse_duration
from flareiac_spark import codes
from flareiac_spark.column_types import Column
from flareiac_spark.settings import PARALLELISM, all_of
from flareiac_spark.sources.changes import Meaning
from flareiac_spark.sources.rate.offsets import RateOffsets
from flareiac_spark.sources.rate.schema import BLOCK
from flareiac_spark.sources.source import Places, Source, Surroundings, without_columns
from flareiac_spark_runtime.sources.rate.resolved import ResolvedRate
from flareiac_spark_runtime.sources.resolved import SpecColumn

_COLUMNS: Final = (Column(name="timestamp", type="timestamptz"), Column(name="value", type="long"))

_PACE: Final = Meaning(
    attributes=("rows_per_second", "ramp_up"),
    text="the rate of {}",
    why=(
        "A rate stream's offsets are seconds: under another rate they stand for other numbers, some lost and "
        "some twice."
    ),
    undo="write the old rate again",
    of_state=False,
    part=("source",),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RateSource(Source):
    """Made rows, so many a second. ``ramp_up`` is a duration as it is written."""

    block: ClassVar = BLOCK
    offsets: ClassVar = RateOffsets()
    meaning: ClassVar = _PACE
    harmless: ClassVar = all_of(PARALLELISM, "partitions")

    kind: Literal["rate"] = "rate"
    rows_per_second: Number
    ramp_up: Text | None
    partitions: Number | None

    @classmethod
    def read(
        cls, block: Attributes, columns: list[Column], around: Surroundings
    ) -> tuple[Source, list[Column]]:
        without_columns(columns, around.diagnostics)
        source = cls.of_block(block)
        if source.ramp_up is not None and parse_duration(source.ramp_up) is None:
            around.diagnostics.error(
                codes.INVALID_DURATION,
                f'{source.ramp_up!r} is not a duration. Write for example "10s".',
                attribute=("rate", "ramp_up"),
            )
        return source, list(_COLUMNS)

    def resolve(
        self, columns: tuple[SpecColumn, ...], order: Sequence[str] | None, places: Places
    ) -> ResolvedRate:
        del order, places
        return ResolvedRate(
            rows_per_second=self.rows_per_second,
            ramp_up=self.ramp_up,
            partitions=self.partitions,
            columns=columns,
        )


KIND: Final = RateSource
