"""The file that is touched while the driver makes progress, for probes that speak no HTTP."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

_MARK: Final = "flareiac driver "


class LivenessFile:
    """For the main loop alone. ``problem`` says why the file cannot be touched, None where it can."""

    def __init__(self) -> None:
        self.problem: str | None = None
        self._path: Path | None = None
        self._is_made = False

    def move_to(self, path: str) -> None:
        """The file is another one from now on (empty: none); the one before is removed."""
        wanted = Path(path) if path else None
        if wanted != self._path:
            self.remove()
            self._path, self.problem = wanted, None

    def touch(self) -> None:
        """Says that the driver makes progress. Raises nothing."""
        if self._path is None:
            return
        try:
            self._touch(self._path)
        except OSError as failure:
            self.problem = f"the liveness file {self._path} cannot be written: {failure.strerror or failure}"
        else:
            self.problem = None

    def remove(self) -> None:
        """The driver ends, or writes another file. Raises nothing."""
        if self._path is not None and self._is_made:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)
        self._is_made = False

    def _touch(self, path: Path) -> None:
        if self._is_made:
            with suppress(FileNotFoundError):  # someone removed it
                os.utime(path)
                return
        _refuse_others(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.with_name(f".{path.name}.{os.getpid()}")
        scratch.write_text(f"{_MARK}{os.getpid()}\n", encoding="utf-8")
        scratch.replace(path)
        self._is_made = True


def _refuse_others(path: Path) -> None:
    """A path that was mistyped must not cost a file. Raises ``OSError``."""
    if path.exists() and not path.is_file():
        raise OSError("it is no file")
    with suppress(FileNotFoundError), path.open("rb") as file:
        if file.read(len(_MARK)) not in (b"", _MARK.encode()):
            raise OSError("there is another file, which is left alone")
