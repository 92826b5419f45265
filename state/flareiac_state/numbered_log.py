"""The one thing that the protocol of remote states asks of a place: numbered records that are created once.

Every moment is in UTC seconds by the clock of the place, never by that of a host: moments of two hosts are
not comparable, those that one place tells are.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from flareiac.kernel.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Newest:
    """The highest number there is, when it was written, and what time it is now."""

    number: int
    written: float
    now: float


class NumberedLog(Protocol):
    """The log of one workspace. Every method raises ``OSError`` where the place fails; each may be
    repeated when its outcome is unknown.
    """

    def append(self, number: int, content: bytes) -> float | None:
        """Creates the record if there is none of this number, durably, and tells when. None when there is
        one, which may be this one: the client repeats requests whose answer it lost.
        """
        ...

    def newest(self) -> Newest | None: ...

    def name(self, number: int) -> str:
        """The name of a record at the place, for people who have to look it up there."""
        ...

    def read(self, numbers: Sequence[int]) -> Mapping[int, bytes]:
        """The records that there are."""
        ...

    def collect(self, *, before: int, keep: Collection[int], age: float) -> None:
        """Deletes the records below a number, but for some and for those written in the last ``age``
        seconds.
        """
        ...

    def beat(self, epoch: int) -> None:
        """A sign of life of the holder of this epoch."""
        ...

    def beaten(self, epoch: int) -> float | None:
        """The time at which the holder of this epoch gave its last sign of life of this kind, None without
        one.
        """
        ...

    def forget_beat(self, epoch: int) -> None: ...


class LogPlace(Protocol):
    """The place of the logs of all workspaces of a project."""

    def describe(self, workspace: str) -> str: ...

    def log(self, workspace: str) -> NumberedLog:
        """Touches nothing yet."""
        ...

    def workspaces(self) -> Sequence[str]:
        """The workspaces that have a record."""
        ...

    def prepare(self) -> None:
        """Creates what is missing there."""
        ...

    def prove(self) -> None:
        """Proves by doing it that a number is created once and all else that a lock needs. Raises
        ``Failure``.
        """
        ...
