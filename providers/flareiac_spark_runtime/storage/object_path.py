"""A place in object storage, with the reading names of ``pathlib.Path``, so that what reads a folder reads
both.

A folder is there while an object below it is, or its marker: an empty object whose key ends with a slash, as
Hadoop leaves them.
"""

import errno
import os
from collections.abc import Iterator
from typing import Any

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.storage.object_store import Listed, ObjectStore


@dataclass(frozen=True, slots=True)
class FileStat:
    """The known facts of an object: size in bytes, time of the last write in UTC."""

    st_size: int
    st_mtime: float

    @property
    def st_mtime_ns(self) -> int:
        """Nanoseconds since 1970."""
        return int(self.st_mtime * 1e9)


class ObjectPath:
    """A key, or what keys of a folder begin with. Two of one address are equal, whichever client answers."""

    __slots__ = ("key", "store")

    def __init__(self, store: ObjectStore, key: str) -> None:
        self.store, self.key = store, key.strip("/")

    def __str__(self) -> str:
        return f"{self.store.address}/{self.key}" if self.key else self.store.address

    def __repr__(self) -> str:
        return f"ObjectPath({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectPath) and str(self) == str(other)

    def __lt__(self, other: "ObjectPath") -> bool:
        return str(self) < str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __truediv__(self, name: str) -> "ObjectPath":
        return ObjectPath(self.store, f"{self.key}/{name}")

    @property
    def name(self) -> str:
        return self.key.rpartition("/")[2]

    @property
    def suffix(self) -> str:
        stem, dot, last = self.name.rpartition(".")
        return dot + last if stem and last else ""

    @property
    def parent(self) -> "ObjectPath":
        return ObjectPath(self.store, self.key.rpartition("/")[0])

    def with_name(self, name: str) -> "ObjectPath":
        return self.parent / name

    def resolve(self) -> "ObjectPath":
        """Itself: there are no links."""
        return self

    def exists(self) -> bool:
        return self.is_file() or self.is_dir()

    def is_file(self) -> bool:
        return self.store.look(self.key) is not None

    def is_dir(self) -> bool:
        return next(iter(self.store.list(self.prefix, deep=False)), None) is not None

    def iterdir(self) -> "Iterator[ObjectPath]":
        """Raises ``FileNotFoundError`` at once where there is no folder."""
        keys = [listed.key for listed in self.store.list(self.prefix, deep=False)]
        if not keys:
            raise _missing(self)
        return iter([ObjectPath(self.store, key) for key in keys if key != self.prefix])

    def read_bytes(self) -> bytes:
        """Raises ``FileNotFoundError``."""
        version = self.store.get(self.key)
        if version is None:
            raise (
                IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
                if self.is_dir()
                else _missing(self)
            )
        return version.content

    def read_text(self, encoding: str = "utf-8") -> str:
        """Raises ``FileNotFoundError``, and ``ValueError`` for what is not text."""
        return self.read_bytes().decode(encoding)

    def stat(self) -> FileStat:
        """Raises ``FileNotFoundError``."""
        listed = self.store.look(self.key)
        if listed is None:
            raise _missing(self)
        return FileStat(listed.size, listed.modified)

    def below(self) -> Iterator[Listed]:
        """Every object below this folder."""
        return self.store.list(self.prefix, deep=True)

    def unlink(self, missing_ok: bool = False) -> None:
        """Raises ``FileNotFoundError`` unless ``missing_ok``."""
        if not missing_ok and not self.is_file():
            raise _missing(self)
        self.store.delete([self.key])

    @property
    def prefix(self) -> str:
        """The beginning of the keys below this folder."""
        return f"{self.key}/" if self.key else ""

    def __reduce__(self) -> Any:
        raise TypeError("a place in object storage has a client of this process")


def _missing(path: ObjectPath) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
