"""The local folder of a job's Python code. Code in object storage is fetched into the user's cache, by its
digest, and checked each time before it is used.
"""

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from flareiac.kernel.durable_files import make_directory, write_new
from flareiac.kernel.user_cache import cache_directory
from flareiac_spark_runtime.control.code_archive import archive_at, code_digest, unpacked
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.storage import is_object_uri, place_at


def code_folder(code: str | None, step: str) -> Path:
    """The folder of the code that a spec names. Raises ``Refusal``."""
    if code is None or not is_object_uri(code):
        if code is None or not Path(code).is_dir():
            raise _missing(step, str(code))
        return Path(code)
    place = place_at(code)
    folder = cache_directory() / "code" / place.name
    try:
        if not _holds(folder, place.name):
            modules = unpacked(archive_at(place).read_bytes(), place.name)
            if modules is None:
                raise _missing(step, f"{archive_at(place)} (what is there is damaged)")
            _write(folder, modules)
    except FileNotFoundError:
        raise _missing(step, str(archive_at(place))) from None
    except OSError as failure:
        why = f"The code of the step {step!r} cannot be fetched: {failure}"
        raise Refusal("CODE_NOT_FETCHED", why, permanent=False) from failure
    return folder


def _missing(step: str, place: str) -> Refusal:
    return Refusal(
        "CODE_MISSING",
        f"The code of the step {step!r} is not in {place}. Apply the job again to put it there.",
    )


def _holds(folder: Path, wanted: str) -> bool:
    if not folder.is_dir():
        return False
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
    return code_digest(files) == wanted


def _write(folder: Path, modules: dict[str, bytes]) -> None:
    """Whole or not at all. Another driver of this user may do the same at this moment."""
    make_directory(folder.parent)
    scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        for name, content in modules.items():
            path = scratch / "new" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_new(path, content)
        if folder.exists():
            folder.rename(scratch / "damaged")
        with suppress(OSError):  # the other one was first
            (scratch / "new").rename(folder)
        if not _holds(folder, folder.name):
            raise OSError(f"{folder} cannot be written")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
