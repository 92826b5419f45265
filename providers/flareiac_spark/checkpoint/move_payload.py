"""The payload that a plan hands to the apply of a move. Pure."""

from collections.abc import Mapping

from flareiac.kernel.data import Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import decode, encode


@dataclass(frozen=True, slots=True, kw_only=True)
class MovePayload:
    """``controls``: the control directories in which jobs on the checkpoint are looked for."""

    controls: tuple[str, ...] = ()

    @classmethod
    def of(cls, payload: Data) -> "MovePayload":
        """That of a plan; nothing for a change that is no move."""
        return decode(cls, payload) if isinstance(payload, Mapping) else cls()

    @property
    def data(self) -> Data:
        return encode(self)
