"""The place that a text names, and the client by which this process reaches object storage."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Final, Protocol

from flareiac_spark_runtime.storage.listed_store import ListedStore
from flareiac_spark_runtime.storage.object_path import ObjectPath
from flareiac_spark_runtime.storage.object_store import ObjectStore


class FileFacts(Protocol):
    """Size in bytes, and the time of the last write in UTC."""

    @property
    def st_size(self) -> int: ...
    @property
    def st_mtime(self) -> float: ...
    @property
    def st_mtime_ns(self) -> int: ...


class Place(Protocol):
    """A file or a folder, local (``Path``) or in object storage (``ObjectPath``): what both can be asked."""

    @property
    def name(self) -> str: ...
    @property
    def suffix(self) -> str: ...
    @property
    def parent(self) -> "Place": ...
    def __truediv__(self, name: str, /) -> "Place": ...
    def with_name(self, name: str, /) -> "Place": ...
    def resolve(self) -> "Place": ...
    def exists(self) -> bool: ...
    def is_file(self) -> bool: ...
    def is_dir(self) -> bool: ...
    def iterdir(self) -> "Iterator[Place]": ...
    def read_bytes(self) -> bytes: ...
    def read_text(self, encoding: str = "utf-8") -> str: ...
    def stat(self) -> FileFacts: ...
    def unlink(self, missing_ok: bool = False) -> None: ...


_URI: Final = re.compile(r"s3[an]?://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])/(.+)")
_openers: Final[list[Callable[[str], ObjectStore]]] = []


def open_with(opener: Callable[[str], ObjectStore]) -> None:
    """From now on this process opens buckets (by name) so."""
    _openers[:] = [opener]
    _store.cache_clear()


def is_object_uri(text: str) -> bool:
    """Returns True if a text names a place in object storage. A bucket as a whole is none, nor is a key that
    clients would read differently: Hadoop resolves ``..``, S3 does not.
    """
    match = _URI.fullmatch(text)
    parts = [part for part in match[2].split("/") if part] if match is not None else []
    return bool(parts) and not {".", ".."} & set(parts)


def object_uri(text: str) -> str:
    """The one spelling of a place in object storage: ``s3://BUCKET/KEY``, no empty parts."""
    if not is_object_uri(text):
        raise ValueError(f"{text!r} names no object")
    bucket, _, key = text.partition("://")[2].partition("/")
    return "/".join([f"s3://{bucket}", *(part for part in key.split("/") if part)])


def place_at(text: str) -> Place:
    """The place of an absolute path, a ``file:`` URI, or the URI of an object. Opens nothing."""
    if is_object_uri(text):
        bucket, _, key = object_uri(text).removeprefix("s3://").partition("/")
        return ObjectPath(_store(bucket), key)
    return Path("/" + text.removeprefix("file:").lstrip("/") if text.startswith("file:") else text)


def seen_at_once(folder: Place) -> Place:
    """The same folder, for reading it as it is now: object storage is asked once for all names below it.
    Raises ``OSError``.
    """
    if not isinstance(folder, ObjectPath) or isinstance(folder.store, ListedStore):
        return folder
    return ObjectPath(ListedStore(folder.store, folder.prefix), folder.key)


@cache
def _store(bucket: str) -> ObjectStore:
    if not _openers:
        raise RuntimeError("no client of object storage was set for this process")
    return _openers[0](bucket)
