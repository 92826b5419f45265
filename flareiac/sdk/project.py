"""The project that a command runs in."""

from collections.abc import Callable
from dataclasses import field
from pathlib import Path as FilePath

from flareiac.kernel.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """The project that a command runs in. Paths in attributes are relative to ``root``; ``workspace`` is part
    of default locations.

    ``resolve`` follows the links in a place (see ``sdk.locations``); without a disk to look at, a place is
    what it is called.
    """

    root: FilePath
    workspace: str = "default"
    lineage: str = ""
    resolve: Callable[[str], str] = field(default=lambda place: place, compare=False, repr=False)

    @property
    def data_dir(self) -> FilePath:
        """The project's own files (``.flareiac``)."""
        return self.root / ".flareiac"
