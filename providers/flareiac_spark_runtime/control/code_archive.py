"""The Python code of a job as one object: its modules by name, and the digest that names them. Pure."""

import io
import zipfile
import zlib
from collections.abc import Mapping
from hashlib import sha256
from typing import Final

from flareiac.kernel.data import digest
from flareiac_spark_runtime.storage import Place

_MOST_BYTES: Final = 64 * 1024 * 1024
"""Far above what the command line packs."""


def code_digest(modules: Mapping[str, bytes]) -> str:
    """The digest of contents by name, with slashes. Times do not count: a fresh checkout is no change."""
    return digest([[name, sha256(content).hexdigest()] for name, content in sorted(modules.items())])


def archive_at(code: Place) -> Place:
    """The place of the archive of the code that a spec names by its digest."""
    return code.with_name(f"{code.name}.zip")


def packed(modules: Mapping[str, bytes]) -> bytes:
    """The archive."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(modules.items()):
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return whole.getvalue()


def unpacked(archive: bytes, wanted: str) -> dict[str, bytes] | None:
    """The modules with this digest; None where it is not their archive, or not all of it."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            if sum(member.file_size for member in opened.infolist()) > _MOST_BYTES:
                return None
            modules = {name: opened.read(name) for name in opened.namelist()}
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError):
        return None
    return modules if code_digest(modules) == wanted else None
