"""Control files in a local directory: replaced atomically, compared under a lock that the system frees."""

import contextlib
from collections.abc import Hashable, Mapping
from hashlib import sha256
from pathlib import Path

from flareiac.kernel.durable_files import make_directory
from flareiac_spark_runtime.control.atomic_files import locked
from flareiac_spark_runtime.control.control_files import ControlFile, Glance
from flareiac_spark_runtime.control.errors import ControlError, ErrorKind
from flareiac_spark_runtime.control.rhythm import LOCAL
from flareiac_spark_runtime.storage import replace_whole

_FOLDERS = ("operations", "results", "logs", "code")


class LocalFiles:
    """See ``ControlFiles``. Making one touches nothing."""

    rhythm = LOCAL

    def __init__(self, place: Path) -> None:
        self.place = place

    def prepare(self) -> None:
        try:
            for folder in _FOLDERS:
                make_directory(self.place / folder)
        except OSError as failure:
            raise _unreachable(self.place, "made", failure) from failure

    def is_used(self) -> bool:
        return any((self.place / name).exists() for name in ("desired.json", "operations"))

    def prove(self) -> None:
        """The lock does it."""

    def read(self, name: str) -> ControlFile | None:
        try:
            content = (self.place / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as failure:
            raise _unreachable(self.place / name, "read", failure) from failure
        return ControlFile(content=content, revision=sha256(content).hexdigest())

    def stamp(self, name: str) -> Hashable:
        try:
            seen = (self.place / name).stat()
        except OSError:
            return None
        return (seen.st_mtime_ns, seen.st_ino, seen.st_size)

    def glance(self) -> Glance | None:
        try:
            return Glance(desired=self.stamp("desired.json"), asked=bool(self.names("operations")))
        except ControlError:
            return None

    def write(self, name: str, content: bytes) -> None:
        try:
            replace_whole(self.place / name, content)
        except OSError as failure:
            raise _unreachable(self.place / name, "written", failure) from failure

    def swap(self, name: str, content: bytes, revision: str | None) -> str | None:
        with locked(self.place / f".{Path(name).stem}.lock"):
            there = self.read(name)
            if (there.revision if there is not None else None) != revision:
                return None
            self.write(name, content)
        return sha256(content).hexdigest()

    def names(self, folder: str) -> Mapping[str, float]:
        times = {}
        try:
            for path in (self.place / folder).iterdir():
                with contextlib.suppress(FileNotFoundError):  # another process removes it
                    times[path.name] = path.stat().st_mtime
        except FileNotFoundError:
            return {}
        except OSError as failure:
            raise _unreachable(self.place / folder, "read", failure) from failure
        return times

    def remove(self, name: str) -> None:
        with contextlib.suppress(OSError):
            (self.place / name).unlink(missing_ok=True)


def _unreachable(path: Path, done: str, failure: OSError) -> ControlError:
    return ControlError(
        ErrorKind.UNREACHABLE, str(path), f"it cannot be {done}: {failure.strerror or failure}"
    )
