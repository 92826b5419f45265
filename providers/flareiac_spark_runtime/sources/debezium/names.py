"""Names of change events: columns beside those of the row, settings of Debezium's connectors."""

from collections.abc import Mapping
from typing import Final

OP: Final = "change_op"
TIME: Final = "change_time"
POSITION: Final = "change_position"
CHANGE: Final[Mapping[str, str]] = {OP: "string", TIME: "timestamptz", POSITION: "string"}
"""Columns that every stream of change events has after those of the row, and their types."""

DECIMALS: Final = "decimal.handling.mode"
TIMES: Final = "time.precision.mode"
BINARIES: Final = "binary.handling.mode"
PLACEHOLDER: Final = "unavailable.value.placeholder"
SCHEMAS: Final = "schemas.enable"
OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    DECIMALS: ("precise", "double", "string"),
    TIMES: ("adaptive", "adaptive_time_microseconds", "connect", "isostring", "microseconds", "nanoseconds"),
    BINARIES: ("bytes", "base64", "base64-url-safe", "hex"),
    SCHEMAS: ("true", "false"),
    PLACEHOLDER: (),
}
"""Settings of Debezium that a stream may repeat, and the values of each; none where any text is one."""
UNIT_OF_TIMES: Final = ("connect", "microseconds", "nanoseconds")
"""Values of ``TIMES`` that say what a number means; under others it depends on the column of the source."""

OPERATIONS: Final = ("c", "u", "d", "r")
DELETE: Final = "d"
SNAPSHOT: Final = "r"
TRUNCATE: Final = "t"
MESSAGE: Final = "m"
MONGODB: Final = "mongodb"


def placeholder(options: Mapping[str, str]) -> str:
    """The text that Debezium writes for a value of PostgreSQL that is stored apart from its row and did not
    change.
    """
    return options.get(PLACEHOLDER, "__debezium_unavailable_value")
