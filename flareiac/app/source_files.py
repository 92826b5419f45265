"""Writes new texts of the files of a project: each whole or not at all. Touches the file system."""

import errno
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.kernel.durable_files import replace_file
from flareiac.kernel.sources import Source

_BOM: Final = "\ufeff".encode()


def write_texts(root: Path, before: Mapping[str, Source], texts: Mapping[str, str]) -> None:
    """Writes new texts of files that still have the text of ``before``, each whole or not at all, with the
    mode and the byte order mark that it had. Raises ``Failure``.
    """
    contents: dict[Path, tuple[bytes, int]] = {}
    for name, text in texts.items():
        path = (root / name).resolve()
        try:
            content, mode = path.read_bytes(), path.stat().st_mode & 0o7777
        except OSError as problem:
            raise _not_written(name, problem) from problem
        if not os.access(path, os.W_OK):
            raise _not_written(name, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
        mark = _BOM if content.startswith(_BOM) else b""
        if content.removeprefix(mark) != before[name].text.encode():
            why = f"{name} was changed while this command ran. Nothing was written; run it again."
            raise Failure(error(codes.FILE_NOT_WRITTEN, why))
        contents[path] = mark + text.encode(), mode
    for path, (content, mode) in contents.items():
        try:
            replace_file(path, content, mode)
            path.chmod(mode)
        except OSError as problem:
            raise _not_written(path.name, problem) from problem


def _not_written(name: str, problem: OSError) -> Failure:
    way_out = "Make it writable, and run it again."
    return Failure(error(codes.FILE_NOT_WRITTEN, f"{name}: {problem.strerror or problem}. {way_out}"))
