"""The port of object storage: what the client of one bucket offers. Raises ``OSError`` for every failure."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from flareiac.kernel.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """An object's content, and the revision that the next conditional write must name."""

    content: bytes
    revision: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One object. The key of a folder, or of the marker of an empty one, ends with a slash.

    ``size`` is in bytes, ``modified`` in UTC seconds since 1970 by the clock of the storage; of a folder both
    are 0. ``revision`` as in ``Version``.
    """

    key: str
    size: int = 0
    modified: float = 0.0
    revision: str = ""


class ObjectStore(Protocol):
    """One bucket."""

    @property
    def address(self) -> str:
        """``s3://BUCKET``."""
        ...

    def get(self, key: str) -> Version | None:
        """None where there is no such object."""
        ...

    def look(self, key: str) -> Listed | None:
        """The entry that a listing would have for one object, None without one."""
        ...

    def list(self, prefix: str, *, deep: bool) -> Iterator[Listed]:
        """The entries below ``prefix`` (empty, or with a slash at its end): all objects, or one level of
        objects and folders. The marker of this folder itself comes, too, where there is one; other markers
        may.
        """
        ...

    def put(self, key: str, content: bytes) -> None:
        """Replaces the object, whatever is there."""
        ...

    def swap(self, key: str, content: bytes, revision: str | None) -> str | None:
        """Replaces the object that has this revision (None: there must be none); returns the new revision, or
        None where something else is there. A request that is repeated recognises its own content.
        """
        ...

    def delete(self, keys: Sequence[str]) -> None:
        """Deletes objects, those that are not there too."""
        ...
