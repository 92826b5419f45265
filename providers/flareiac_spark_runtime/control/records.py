"""Reads and writes the records in a control directory, JSON files by name. Every failure is a
``ControlError``.

Of what several processes may write each change reads, decides, and replaces the file only where it still is
what was read; where it is not, the change is decided again.
"""

import random
import time
from collections.abc import Hashable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, TypeVar

from flareiac import __version__
from flareiac.kernel.records import Mismatch, decode, encode
from flareiac.kernel.user_cache import cache_directory
from flareiac_spark_runtime.control.atomic_files import RELEASE, from_json, to_json
from flareiac_spark_runtime.control.control_files import ControlFile, ControlFiles
from flareiac_spark_runtime.control.errors import ControlError, ErrorKind
from flareiac_spark_runtime.control.local_files import LocalFiles
from flareiac_spark_runtime.control.object_files import ObjectFiles
from flareiac_spark_runtime.control.rhythm import Rhythm
from flareiac_spark_runtime.storage import ObjectPath, Place, is_object_uri, object_uri, place_at

R = TypeVar("R")

_PATIENCE_SECONDS: Final = 30.0


class Records:
    """The files of one control directory. Its subclasses know one kind of file each, and share nothing but
    this.
    """

    def __init__(self, place: str | Place) -> None:
        self._files = _files_of(place)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.place)!r})"

    @property
    def place(self) -> Place:
        return self._files.place

    @property
    def rhythm(self) -> Rhythm:
        return self._files.rhythm

    @property
    def scratch(self) -> Path:
        """The local folder for what a driver and who starts it keep on one host: the directory itself where
        it is local, else one in the user's cache.
        """
        return self.place if isinstance(self.place, Path) else scratch_of(str(self.place))

    def prepare(self) -> None:
        """Makes the folders. Raises ``ControlError`` (unreachable)."""
        self._files.prepare()

    def is_used(self) -> bool:
        """Returns True if someone has prepared the directory. Raises ``ControlError``."""
        return self._files.is_used()

    def stamp(self, name: str) -> Hashable:
        """Changes whenever that file is replaced; None while there is none."""
        return self._files.stamp(name)

    def _where(self, name: str) -> str:
        return f"{self.place}/{name}"

    def _read(self, name: str, record: type[R]) -> R | None:
        return self._understood(name, self._files.read(name), record)

    def _understood(self, name: str, file: ControlFile | None, record: type[R]) -> R | None:
        if file is None:
            return None
        content = from_json(file.content, self._where(name))
        release = content.pop(RELEASE, __version__)
        try:
            # What is to be done is understood whole or refused; the rest may tell more than is known here.
            return decode(
                record,
                content,
                name.rpartition("/")[2].removesuffix(".json"),
                lenient=release != __version__ and not name.startswith("operations/"),
            )
        except Mismatch as mismatch:
            by = f" (FlareIaC {release} wrote it, this is {__version__})" if release != __version__ else ""
            raise ControlError(ErrorKind.DAMAGED, self._where(name), f"{mismatch}{by}") from None

    def _write(self, name: str, record: Any) -> None:
        self._files.write(name, _text(record))

    def _swapped(self, name: str, record: Any, over: ControlFile | None) -> str | None:
        return self._files.swap(name, _text(record), over.revision if over is not None else None)

    def _tries(self, name: str) -> Iterator[None]:
        """One turn for each attempt to replace a file; a pause between two that grows. Raises
        ``ControlError`` (busy).
        """
        deadline, pause = time.monotonic() + _PATIENCE_SECONDS, 0.01
        while True:
            yield
            if time.monotonic() > deadline:
                why = f"others have replaced it again and again for {_PATIENCE_SECONDS:.0f} s"
                raise ControlError(ErrorKind.BUSY, self._where(name), why)
            time.sleep(pause * random.random())  # noqa: S311 - keeps two writers apart
            pause = min(2 * pause, 0.5)


def scratch_of(uri: str) -> Path:
    """The local folder of a control directory in object storage."""
    return cache_directory() / "runtime" / sha256(object_uri(uri).encode()).hexdigest()[:16]


def _text(record: Any) -> bytes:
    return to_json({RELEASE: __version__, **encode(record)})


def _files_of(place: str | Place) -> ControlFiles:
    if isinstance(place, str) and is_object_uri(place):
        place = place_at(place)
    if isinstance(place, ObjectPath):
        return ObjectFiles(place)
    return LocalFiles(Path(str(place)).absolute())
