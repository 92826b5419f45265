"""Control files in object storage: replaced by conditional writes, which the server compares."""

import contextlib
import uuid
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager

from flareiac_spark_runtime.control.control_files import ControlFile, Glance
from flareiac_spark_runtime.control.errors import ControlError, ErrorKind
from flareiac_spark_runtime.control.rhythm import OBJECTS
from flareiac_spark_runtime.storage import ObjectPath


class ObjectFiles:
    """See ``ControlFiles``."""

    rhythm = OBJECTS

    def __init__(self, place: ObjectPath) -> None:
        self.place = place

    def prepare(self) -> None:
        """A folder comes with its first object."""

    def is_used(self) -> bool:
        with self._named("", "listed"):
            return self.place.is_dir()

    def prove(self) -> None:
        name = f"probe-{uuid.uuid4().hex}"
        try:
            first = self.swap(name, b"1", None)
            if first is None:
                raise ControlError(
                    ErrorKind.UNCONDITIONAL, str(self.place), "it refuses to create a file that is not there"
                )
            if self.swap(name, b"2", None) is not None or self._ignores_revisions(name, first):
                raise ControlError(
                    ErrorKind.UNCONDITIONAL,
                    str(self.place),
                    "it ignores the conditions of a write (If-None-Match, If-Match), so that two drivers "
                    "could run at the same time",
                )
        finally:
            self.remove(name)

    def _ignores_revisions(self, name: str, first: str) -> bool:
        """Returns True if a write with an old revision replaces a newer one, or if one with the right
        revision replaces nothing.
        """
        return self.swap(name, b"3", first) is None or self.swap(name, b"4", first) is not None

    def read(self, name: str) -> ControlFile | None:
        with self._named(name, "read"):
            version = self.place.store.get(self._key(name))
            return (
                None if version is None else ControlFile(content=version.content, revision=version.revision)
            )

    def stamp(self, name: str) -> Hashable:
        try:
            seen = self.place.store.look(self._key(name))
        except OSError:
            return None
        return None if seen is None else seen.revision

    def glance(self) -> Glance | None:
        """One request: the top of the directory is never empty while it is used."""
        try:
            level = {entry.key: entry for entry in self.place.store.list(self.place.prefix, deep=False)}
        except OSError:
            return None
        desired = level.get(self._key("desired.json"))
        return Glance(
            desired=None if desired is None else desired.revision,
            asked=self._key("operations") + "/" in level,
        )

    def write(self, name: str, content: bytes) -> None:
        with self._named(name, "written"):
            self.place.store.put(self._key(name), content)

    def swap(self, name: str, content: bytes, revision: str | None) -> str | None:
        with self._named(name, "written"):
            return self.place.store.swap(self._key(name), content, revision)

    def names(self, folder: str) -> Mapping[str, float]:
        place = self.place / folder
        with self._named(folder, "listed"):
            listed = place.store.list(place.prefix, deep=False)
            return {
                entry.key.removeprefix(place.prefix): entry.modified
                for entry in listed
                if not entry.key.endswith("/")
            }

    def remove(self, name: str) -> None:
        with contextlib.suppress(OSError):
            self.place.store.delete([self._key(name)])

    def _key(self, name: str) -> str:
        return f"{self.place.prefix}{name}"

    @contextmanager
    def _named(self, name: str, done: str) -> Iterator[None]:
        try:
            yield
        except OSError as failure:
            raise ControlError(
                ErrorKind.UNREACHABLE, f"{self.place}/{name}", f"it cannot be {done}: {failure}"
            ) from failure
