"""A bucket in memory, for tests that read many small folders of objects."""

import hashlib
from collections.abc import Iterator, Sequence

from flareiac_spark_runtime.storage import Listed, Version


class MemoryObjects:
    """See ``flareiac_spark_runtime.storage.ObjectStore``."""

    address = "s3://memory"

    def __init__(self) -> None:
        self._objects: dict[str, bytes] = {}

    def get(self, key: str) -> Version | None:
        content = self._objects.get(key)
        return None if content is None else Version(content=content, revision=_revision(content))

    def look(self, key: str) -> Listed | None:
        return self._listed(key) if key in self._objects else None

    def list(self, prefix: str, *, deep: bool) -> Iterator[Listed]:
        below = sorted(key for key in self._objects if key.startswith(prefix))
        folders = dict.fromkeys(
            prefix + key.removeprefix(prefix).partition("/")[0] + "/"
            for key in below
            if "/" in key.removeprefix(prefix)
        )
        plain = below if deep else [key for key in below if "/" not in key.removeprefix(prefix)]
        yield from (self._listed(key) for key in plain)
        if not deep:
            yield from (Listed(key=folder) for folder in folders)

    def put(self, key: str, content: bytes) -> None:
        self._objects[key] = content

    def swap(self, key: str, content: bytes, revision: str | None) -> str | None:
        found = self.get(key)
        if found is None or found.content != content:
            if (None if found is None else found.revision) != revision:
                return None
            self.put(key, content)
        return _revision(content)

    def delete(self, keys: Sequence[str]) -> None:
        for key in keys:
            self._objects.pop(key, None)

    def _listed(self, key: str) -> Listed:
        return Listed(key=key, size=len(self._objects[key]), modified=1.0)


def _revision(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
