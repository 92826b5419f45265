"""The owner of a resource: that of its block, or that of the project."""

from dataclasses import field

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import SPARSE


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """A team or a person, and where to reach them; ``contact`` is empty where none is written."""

    name: str
    contact: str = field(default="", metadata=SPARSE)

    @property
    def text(self) -> str:
        """``BI <bi@example.org>``."""
        return f"{self.name} <{self.contact}>" if self.contact else self.name
