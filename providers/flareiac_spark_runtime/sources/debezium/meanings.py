"""The names that Debezium and Kafka Connect give the meaning of a value, and the declared types that take it.
Pure.
"""

from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.sources.debezium.leaves import (
    date_text,
    days,
    instant,
    local_text,
    local_time,
    small,
    zoned_text,
)

Template: TypeAlias = Callable[[str], str]
"""An expression of a value, made of that of the number or text that holds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """``held_as``: what holds the value. ``takes``: a template for each declared type by its name, the
    natural one first.
    """

    held_as: Literal["number", "text"]
    takes: Mapping[str, Template]

    @property
    def natural(self) -> str:
        """The type of the column that holds such values as they are."""
        return next(iter(self.takes))


def _times(per_second: int) -> Meaning:
    return Meaning(
        held_as="number",
        takes={
            "timestamp_ntz": lambda number: local_time(number, per_second),
            "timestamptz": lambda number: instant(number, per_second),
        },
    )


def _same(value: str) -> str:
    return value


def _long(number: str) -> str:
    return f"CAST({number} AS BIGINT)"


UNITS: Final[Mapping[str, int]] = {"connect": 1_000, "microseconds": 1_000_000, "nanoseconds": 1_000_000_000}
"""Units a second of numbers, by ``time.precision.mode``."""
_DAYS: Final = Meaning(held_as="number", takes={"date": days})
_SMALL: Final = Meaning(held_as="number", takes={"int": small, "long": _long})
_LARGE: Final = Meaning(held_as="number", takes={"long": _long})
_TEXT: Final = Meaning(held_as="text", takes={"string": _same})
_OF_DEBEZIUM: Final[Mapping[str, Meaning]] = {
    "Date": _DAYS,
    "IsoDate": Meaning(held_as="text", takes={"date": date_text, "string": _same}),
    "Timestamp": _times(1_000),
    "MicroTimestamp": _times(1_000_000),
    "NanoTimestamp": _times(1_000_000_000),
    "IsoTimestamp": Meaning(
        held_as="text", takes={"timestamp_ntz": local_text, "timestamptz": zoned_text, "string": _same}
    ),
    "ZonedTimestamp": Meaning(held_as="text", takes={"timestamptz": zoned_text, "string": _same}),
    "Time": _SMALL,
    "MicroTime": _LARGE,
    "NanoTime": _LARGE,
    "IsoTime": _TEXT,
    "ZonedTime": _TEXT,
    "Year": _SMALL,
    "MicroDuration": _LARGE,
    "NanoDuration": _LARGE,
    "Interval": _TEXT,
}
_OF_CONNECT: Final[Mapping[str, Meaning]] = {"Date": _DAYS, "Time": _SMALL, "Timestamp": _times(1_000)}
DEBEZIUM_TIME: Final = "io.debezium.time."
CONNECT_DATA: Final = "org.apache.kafka.connect.data."
MEANINGS: Final[Mapping[str, Meaning]] = {
    **{f"{DEBEZIUM_TIME}{name}": meaning for name, meaning in _OF_DEBEZIUM.items()},
    **{f"{CONNECT_DATA}{name}": meaning for name, meaning in _OF_CONNECT.items()},
}
DECIMAL: Final = f"{CONNECT_DATA}Decimal"
VARIABLE_SCALE: Final = "io.debezium.data.VariableScaleDecimal"


def is_meant(name: str | None) -> bool:
    """Returns True if a value of this name means something else than its plain type."""
    return name is not None and (
        name in (DECIMAL, VARIABLE_SCALE) or name.startswith((DEBEZIUM_TIME, CONNECT_DATA))
    )
