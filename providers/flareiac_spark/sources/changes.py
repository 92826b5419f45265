"""The effect of a change of a source on a running query. Pure."""

from collections.abc import Mapping

from flareiac.kernel.data import Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.settings import Harmless, harmless


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """Attributes that decide which values come out of a source: under others, values of two kinds mix.

    ``options``: those among them that leave every value as it is. ``of_state``: the values mix in state
    alone; else as soon as a batch was begun. ``text`` names what changed, with {} for the input; ``part`` is
    its path.
    """

    attributes: tuple[str, ...]
    options: tuple[Harmless, ...] = ()
    text: str
    why: str
    undo: str
    of_state: bool
    part: tuple[str, ...] = ()

    def values(self, source: object) -> list[Data]:
        """The values that are compared."""
        return [self._value(getattr(source, name)) for name in self.attributes]

    def _value(self, value: Data) -> Data:
        if not isinstance(value, Mapping):
            return value
        return {name: given for name, given in value.items() if harmless(name, self.options) is None}
