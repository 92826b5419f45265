"""The place of a query's folder below the location of a checkpoint. Pure."""

from dataclasses import field, replace
from typing import Final, Literal

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import SPARSE, decode
from flareiac_spark_runtime.storage import Place

SINGLE: Final = "single"
"""The layout of an imported folder: it is itself the checkpoint of one query, and stays its first
generation.
"""
GENERATIONS: Final = "generations"
_MOMENTARY: Final = frozenset({"used", "observed"})
"""The facts of a single observation that release 0.1.0 recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointLayout:
    """The identity of a checkpoint: how its folders are laid out, None where that was never recorded.

    ``location``: where it was recorded to be after its last move, None where it never moved; ``left``: where
    it was before, oldest first. Both are spelled as in its attributes.
    """

    layout: Literal["single", "generations"] | None = None
    layout_generation: int | None = None
    location: str | None = field(default=None, metadata=SPARSE)
    left: tuple[str, ...] = field(default=(), metadata=SPARSE)

    @property
    def single(self) -> int | None:
        """The generation that is the imported folder itself."""
        return self.layout_generation if self.layout == SINGLE else None

    def has_left(self, location: str) -> bool:
        """Returns True where the checkpoint was at this place, and is at another one now."""
        return location in self.left and location != self.location

    def moved(self, old: str, new: str) -> "CheckpointLayout":
        """The identity after a move."""
        left = (*(place for place in self.left if place not in (old, new)), old)
        return replace(self, location=new, left=left)


def recorded_layout(identity: Attributes) -> CheckpointLayout:
    """The layout that was recorded."""
    lasting = {name: value for name, value in identity.items() if name not in _MOMENTARY}
    return decode(CheckpointLayout, lasting, "identity")


def folder_of(location: Place, layout: CheckpointLayout, output: str, generation: int) -> Place:
    """The folder of one query in a generation of the checkpoint at this place."""
    return location if layout.single == generation else location / output / f"g{generation:04d}"
