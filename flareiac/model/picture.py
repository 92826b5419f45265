"""A picture of resources: nodes, arrows, and of which columns each column is made. Records."""

from typing import Final, Literal

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.data_flow import ColumnFlow
from flareiac.sdk.owner import Owner

FORMAT_VERSION: Final = 1
"""Of the JSON of a picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureNode:
    """A declared resource."""

    address: str
    type: str
    owner: Owner | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrow:
    """``label``: the relation in words; empty where there is one relation alone."""

    source: str
    target: str
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """In ``lineage`` the arrows follow the data; in ``dependencies`` each points from what refers to
    something to that. ``columns``: in lineage alone.
    """

    format_version: int = FORMAT_VERSION
    kind: Literal["dependencies", "lineage"]
    nodes: tuple[PictureNode, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    columns: tuple[ColumnFlow, ...] = ()

    @property
    def direction(self) -> str:
        """The way that its arrows go when it is drawn: from left to right, or back."""
        return "LR" if self.kind == "lineage" else "RL"
