"""Writes the emergency file of an apply: the journal records that the state could not take. Touches files."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostic, error
from flareiac.kernel.durable_files import append_at, make_directory
from flareiac.model.emergency import START, EmergencyHeader, encode_header, encode_lines
from flareiac.sdk.state import LockLost

FOLDER = ".flareiac"


class EmergencyFile:
    """One file below the root module, made when the first record comes.

    ``seal`` encrypts a line where the state is encrypted.
    """

    def __init__(self, root: Path, apply_id: str, seal: Callable[[bytes], bytes]) -> None:
        self._root, self._apply_id, self._seal = root, apply_id, seal
        self._path: Path | None = None
        self._offset, self._chain = 0, START

    @property
    def name(self) -> str | None:
        """The file's name relative to the root module, None while there is none."""
        return None if self._path is None else str(self._path.relative_to(self._root))

    def append(self, header: EmergencyHeader, records: Sequence[bytes]) -> None:
        """Durable when it returns; the header is written once. Raises OSError."""
        path = self._path
        if path is None:
            make_directory(self._root / FOLDER)
            path = _free(self._root / FOLDER, self._apply_id)
            records = (encode_header(header), *records)
        content, chain = encode_lines(map(self._seal, records), self._chain)
        try:
            append_at(path, self._offset, content)
        except OSError:
            if self._path is None:  # an empty file would look as if something had to be recovered
                with suppress(OSError):
                    path.unlink(missing_ok=True)
            raise
        self._path, self._offset, self._chain = path, self._offset + len(content), chain


def waiting_files(root: Path, apply_id: str = "") -> list[str]:
    """The emergency files of an apply, or of all, that have not been recovered, relative to the root
    module.
    """
    paths = sorted((root / FOLDER).glob(f"emergency-{apply_id}*.journal"))
    return [str(path.relative_to(root)) for path in paths]


def results_in_file(file: str, failure: OSError | LockLost) -> Diagnostic:
    """Builds the diagnostic for a state that could no longer be written after operations had begun."""
    why = failure.strerror or failure if isinstance(failure, OSError) else failure
    return error(
        codes.RESULTS_IN_EMERGENCY_FILE,
        f"{why}. Nothing more was started, and what had ended is in {file}. Restore access, then run "
        f"flareiac state recover {file}; an apply in this checkout does it by itself.",
    )


def _free(folder: Path, apply_id: str) -> Path:
    """A name that no file has: an apply that is resumed keeps its id."""
    path, number = folder / f"emergency-{apply_id}.journal", 1
    while path.exists():
        number += 1
        path = folder / f"emergency-{apply_id}-{number}.journal"
    return path
