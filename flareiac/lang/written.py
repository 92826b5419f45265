"""The records of a schema that say how HCL's JSON form spells a value. Native syntax needs none of it: an
address is no text there.
"""

from enum import Enum, auto

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.schema import Attribute, Block


class Reading(Enum):
    """The meaning of a text in JSON."""

    TEMPLATE = auto()
    """A template, which may hold ``${...}``."""
    LITERAL = auto()
    """The text itself: the value is needed before anything is evaluated."""
    CODE = auto()
    """An expression, such as the address ``table.orders`` or the type ``list(string)``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenAttribute(Attribute):
    """An attribute whose texts are no templates in JSON."""

    reading: Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBlock(Block):
    """A block that takes any attribute beside those of its schema."""

    others: Reading = Reading.TEMPLATE
