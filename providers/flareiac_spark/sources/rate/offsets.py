"""The offsets of a rate in a checkpoint: the seconds since its start, or rows for each micro-batch."""

from typing import Any

from flareiac.kernel.data import parse_json
from flareiac_spark.sources.offsets import CarryOver, Offsets, SourceOnDisk
from flareiac_spark_runtime.storage import Place


class RateOffsets(Offsets):
    """See ``Offsets``."""

    carry_over = CarryOver.NONE
    read_again = "counts from zero again"
    no_position = "a rate stream has no position: it counts from zero in each generation"

    def is_own(self, offset: Any) -> bool:
        match offset:
            case bool():
                return False
            case int() | {"0": {"value": _}}:
                return True
            case _:
                return False

    def describe(self, source: SourceOnDisk, log: Place) -> str:
        offset = super().describe(source, log)
        return f"up to second {offset}" if isinstance(parse_json(offset), int) else offset
