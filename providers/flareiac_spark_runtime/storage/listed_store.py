"""A store as one listing saw it: names, sizes and times of a whole folder for the price of a few requests."""

from collections.abc import Iterator, Sequence

from flareiac_spark_runtime.storage.object_store import Listed, ObjectStore, Version


class ListedStore:
    """Answers about what is below ``prefix`` from one listing (see ``ObjectStore``). Contents are read when
    they are asked for. For reading only.
    """

    def __init__(self, store: ObjectStore, prefix: str) -> None:
        self._store, self._prefix = store, prefix
        self._objects = {listed.key: listed for listed in store.list(prefix, deep=True)}
        self._levels: dict[str, dict[str, Listed]] = {}
        for listed in self._objects.values():
            self._enter(listed)

    @property
    def address(self) -> str:
        return self._store.address

    def get(self, key: str) -> Version | None:
        if key.startswith(self._prefix) and key not in self._objects:
            return None
        return self._store.get(key)

    def look(self, key: str) -> Listed | None:
        return self._objects.get(key) if key.startswith(self._prefix) else self._store.look(key)

    def list(self, prefix: str, *, deep: bool) -> Iterator[Listed]:
        if not prefix.startswith(self._prefix):
            yield from self._store.list(prefix, deep=deep)
        elif deep:
            yield from (listed for key, listed in self._objects.items() if key.startswith(prefix))
        else:
            yield from self._levels.get(prefix, {}).values()

    def put(self, key: str, content: bytes) -> None:
        raise NotImplementedError("a listing is for reading")

    def swap(self, key: str, content: bytes, revision: str | None) -> str | None:
        raise NotImplementedError("a listing is for reading")

    def delete(self, keys: Sequence[str]) -> None:
        raise NotImplementedError("a listing is for reading")

    def _enter(self, listed: Listed) -> None:
        """Into the level of each folder above it."""
        folder = listed.key[: listed.key.rfind("/") + 1]
        # The marker of a folder is in the folder itself
        self._levels.setdefault(folder, {})[listed.key] = listed
        while len(folder) > len(self._prefix):
            above = folder[: folder.rstrip("/").rfind("/") + 1]
            level = self._levels.setdefault(above, {})
            if folder in level:
                return
            level[folder] = Listed(key=folder)
            folder = above
