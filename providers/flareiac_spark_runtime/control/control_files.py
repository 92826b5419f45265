"""The port under a control directory: whole files by name, replaced where they still are what was read.

Every failure of storage is a ``ControlError`` (unreachable).
"""

from collections.abc import Hashable, Mapping
from typing import Protocol

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.control.rhythm import Rhythm
from flareiac_spark_runtime.storage import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlFile:
    """A file as it was read; ``revision`` is what the next ``swap`` must name."""

    content: bytes
    revision: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Glance:
    """The result of one cheap look: a stamp that changes with what should run (None: nothing was said yet),
    and ``asked``, true if one-shot work may be asked for.
    """

    desired: Hashable
    asked: bool


class ControlFiles(Protocol):
    """One directory. Names are relative to it; folders are separated by a slash."""

    @property
    def place(self) -> Place: ...
    @property
    def rhythm(self) -> Rhythm: ...

    def prepare(self) -> None:
        """Makes what must be there before a write."""
        ...

    def is_used(self) -> bool:
        """Returns True if someone has prepared the control directory."""
        ...

    def prove(self) -> None:
        """Proves, before the first use, that a write can be refused. Raises ``ControlError``
        (unconditional).
        """
        ...

    def read(self, name: str) -> ControlFile | None:
        """None where there is no such file."""
        ...

    def stamp(self, name: str) -> Hashable:
        """Changes whenever that file is replaced; None while there is none. Raises nothing."""
        ...

    def glance(self) -> Glance | None:
        """None where it could not be seen."""
        ...

    def write(self, name: str, content: bytes) -> None:
        """Replaces the file, whatever is there."""
        ...

    def swap(self, name: str, content: bytes, revision: str | None) -> str | None:
        """Replaces the file that has this revision (None: there must be none); the new revision, or None
        where something else is there.
        """
        ...

    def names(self, folder: str) -> Mapping[str, float]:
        """The files of a folder, with the UTC seconds of their last writes by the clock of the storage."""
        ...

    def remove(self, name: str) -> None:
        """Removes a file, if it is there. What cannot be removed stays."""
        ...
