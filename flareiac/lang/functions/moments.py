"""Functions whose result no plan repeats: the time, and random names."""

from datetime import UTC, datetime
from typing import Final

from flareiac.kernel.types import STRING
from flareiac.lang.functions.define import function
from flareiac.lang.functions.signature import Builtin
from flareiac.lang.values import string, unknown

NEVER_KNOWN: Final = frozenset({"timestamp", "uuid"})
"""Functions that give something else each time, so that no plan knows what."""


def functions_of_moments(began: datetime | None) -> tuple[Builtin, ...]:
    """The functions of a plan that began at a time (None: now)."""
    time = string(f"{began or datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
    return (
        function(
            "plantimestamp",
            (),
            STRING,
            lambda: time,
            "The time of the plan in UTC, the same at each place: each plan changes what it is written to.",
        ),
        function(
            "timestamp",
            (),
            STRING,
            lambda: unknown(STRING),
            "The time of the apply, which no plan knows. plantimestamp() is known.",
        ),
        function(
            "uuid",
            (),
            STRING,
            lambda: unknown(STRING),
            "A random UUID, which no plan knows. uuidv5() gives one that stays.",
        ),
    )
