"""The Python code that a job runs: a folder's modules, their digest, and the copy that the application loads.
Touches the disk.

Only ``*.py`` files count. Their names and contents make the digest, not their times, so that a fresh checkout
is no change.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from flareiac.kernel.data import UNKNOWN, Attributes, Data, is_known, references
from flareiac.kernel.diagnostics import Diagnostics, Failure, error
from flareiac.kernel.durable_files import write_new
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.paths import Path as AttributePath
from flareiac.sdk.project import Project
from flareiac_spark import codes
from flareiac_spark.definition.code_functions import check_functions, check_modules
from flareiac_spark.definition.job_definition import CodeFolder, JobDefinition
from flareiac_spark.definition.step_definition import Stateful, Step
from flareiac_spark.engine.engine_definition import control_place
from flareiac_spark.places import absolute_place, recorded_place
from flareiac_spark_runtime.control import ControlDirectory
from flareiac_spark_runtime.control.code_archive import archive_at, code_digest, packed, unpacked
from flareiac_spark_runtime.storage import Place, replace_whole

MAX_BYTES: Final = 16 * 1024 * 1024
MAX_ENTRIES: Final = 20_000
"""The limit on the entries of the whole folder: a slip like ``code = "/"`` must not read a whole disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """The modules of one folder: contents by name relative to it, with slashes."""

    modules: Mapping[str, bytes]

    @property
    def digest(self) -> str:
        return code_digest(self.modules)


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonCall:
    """The call of a step in Python: ``module:function``, its parameters, the state that it declares."""

    function: str | None = None
    params: Data = None
    stateful: Stateful | None = None


class Unusable(Exception):
    """The folder cannot be taken as code; the text says why and what to do."""


def declared_code(
    path: Data, steps: Mapping[str, Step], project: Project, diagnostics: Diagnostics
) -> CodeFolder | None:
    """The folder and its digest; None where no step is in Python."""
    functions = {name: step.python for name, step in steps.items() if step.python is not None}
    if path is None:
        for name, function in functions.items():
            why = (
                f'The step {name} is in Python. Write the folder that has the module of "{function}": code = '
                '"jobs/", relative to the root module.'
            )
            diagnostics.error(codes.CODE_NOT_DECLARED, why, attribute=("step", name, "python"))
        return None
    place = None if path is UNKNOWN else recorded_place(str(path), project)
    if place is None:
        why = (
            f"{path!r} cannot be read as code. Write the path of a local or mounted folder. It must be "
            "known while planning."
        )
        diagnostics.error(codes.CODE_UNUSABLE, why, attribute=("code",))
        return None
    if not functions:
        why = (
            f'The code in {place or "."} is left out. Write python = "module:function" in a step, or '
            "remove code."
        )
        diagnostics.warning(codes.CODE_UNUSED, why, attribute=("code",))
        return None
    try:
        code = read_code(absolute_place(place, project))
    except Unusable as problem:
        diagnostics.error(codes.CODE_UNUSABLE, f"{place or '.'}: {problem}", attribute=("code",))
        return CodeFolder(path=place, digest=None)
    check_modules(code.modules, place, diagnostics)
    check_functions(code.modules, functions, place, diagnostics)
    return CodeFolder(path=place, digest=code.digest)


def python_call(step: Attributes, at: AttributePath, diagnostics: Diagnostics) -> PythonCall:
    """The Python call of one step as declared; empty where the step is in SQL."""
    function = step.get("python")
    params, stateful = step.get("params"), step.get("stateful")
    if function is UNKNOWN:
        return PythonCall()
    if function is None:
        for name, value in (("params", params), ("stateful", stateful)):
            if value is not None:
                why = f'{name} belongs to a step with python = "module:function". Remove it.'
                diagnostics.error(codes.PYTHON_ATTRIBUTE_IN_SQL_STEP, why, attribute=(*at, name))
        return PythonCall()
    if params is not None and not _is_plain(params):
        why = (
            "They are texts, numbers, lists and maps by name, known while planning: params = { factor = 2 }."
        )
        diagnostics.error(codes.PARAMS_NOT_PLAIN, why, attribute=(*at, "params"))
        params = None
    return PythonCall(
        function=function,
        params=params or None,
        stateful=_stateful(stateful, (*at, "stateful"), diagnostics),
    )


def _is_plain(params: Data) -> bool:
    return isinstance(params, dict) and is_known(params) and not references(params)


def _stateful(stateful: Data, at: AttributePath, diagnostics: Diagnostics) -> Stateful | None:
    if not isinstance(stateful, dict):
        return None
    version = stateful.get("state_version")
    version = 1 if version is None else version
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        diagnostics.error(
            codes.INVALID_STATE_VERSION,
            f"{version!r} is not a whole number from 1. Begin with 1 and raise it by 1.",
            attribute=at,
        )
        version = 1
    if stateful.get("ttl") is not None:
        why = (
            "The function itself says how long state lives, where it creates it: getValueState(name, "
            "schema, ttlDurationMs=...). Remove ttl."
        )
        diagnostics.error(codes.STATE_TTL_UNSUPPORTED, why, attribute=at)
    return Stateful(state_version=version, ttl=None)


def code_place(job: JobDefinition, project: Project) -> Place | None:
    """From where the application loads the code of a job; None where it has none."""
    if job.code is None or job.application is None:
        return None
    control = ControlDirectory(control_place(job.application, project))
    return control.place / "code" / str(job.code.digest)


def publish(attributes: Attributes, project: Project) -> None:
    """Copies the planned code to its place: atomically, and only if it is not there. Raises ``Failure`` if it
    is another one by now.
    """
    job = JobDefinition.of(attributes)
    code, place = job.code, code_place(job, project)
    if code is None or place is None:
        return
    try:
        if _holds(place, code.digest):
            return
        _write(_planned(code, project), place)
    except OSError as failure:
        why = (
            f"{failure.filename or place}: {failure.strerror or failure}. The application loads the code "
            f"from {place}."
        )
        raise Failure(error(codes.CODE_NOT_COPIED, why, attribute=("code",))) from failure


def _planned(code: CodeFolder, project: Project) -> Code:
    """The code of the folder, as it was planned. Raises ``Failure``."""
    source = code.path or "."
    try:
        current = read_code(absolute_place(code.path or "", project))
    except Unusable as problem:
        raise Failure(error(codes.CODE_UNUSABLE, f"{source}: {problem}", attribute=("code",))) from None
    if current.digest != code.digest:
        why = f"The code in {source} is not what was planned, and the application would run it. Plan again."
        raise Failure(error(codes.CODE_CHANGED, why, attribute=("code",)))
    return current


def read_code(folder: Path) -> Code:
    """Every module below a folder. Raises ``Unusable``."""
    modules: dict[str, bytes] = {}
    left = MAX_BYTES
    try:
        if not folder.is_dir():
            raise Unusable(
                f"{folder} is {'no folder' if folder.exists() else 'not there'}. code names the folder "
                "with the Python modules."
            )
        for name in _python_files(folder):
            left -= (folder / name).stat().st_size
            if left < 0:
                raise Unusable(
                    f"Its Python files have more than {MAX_BYTES // 1024**2} MiB. Name the folder of the "
                    "jobs' own modules."
                )
            modules[name] = (folder / name).read_bytes()
    except OSError as failure:
        raise Unusable(f"{failure.filename or folder}: {failure.strerror or failure}.") from None
    if not modules:
        raise Unusable(f"There is no Python file (*.py) in {folder}.")
    return Code(modules=dict(sorted(modules.items())))


def _python_files(folder: Path) -> Iterator[str]:
    """Their names relative to the folder. Hidden files and folders and caches are left out."""
    root, waiting, seen = folder.resolve(), [""], 0
    while waiting:
        below = waiting.pop()
        with os.scandir(folder / below) as entries:
            for entry in entries:
                if (seen := seen + 1) > MAX_ENTRIES:
                    raise Unusable(
                        f"It holds more than {MAX_ENTRIES} files. Name the folder of the jobs' own modules."
                    )
                name = f"{below}{entry.name}"
                if entry.name.startswith(".") or entry.name == "__pycache__":
                    continue
                if entry.is_symlink():
                    _refuse_odd_link(root, folder / name, name)
                if entry.is_dir():
                    waiting.append(f"{name}/")
                elif entry.name.endswith(".py") and entry.is_file():
                    yield _spelled(name)


def _refuse_odd_link(root: Path, link: Path, name: str) -> None:
    """A copy would not hold what is outside, and a link to a folder may lead round in a circle."""
    try:
        target = link.resolve()
    except RuntimeError:
        raise Unusable(f"{name} is a link that leads round in a circle. Remove it.") from None
    if (link.is_dir() or name.endswith(".py")) and not target.is_relative_to(root):
        raise Unusable(f"{name} is a link that leads out of the folder. Copy what it points to.")
    if link.is_dir():
        raise Unusable(f"{name} is a link to a folder. Write a folder of its own.")


def _spelled(name: str) -> str:
    try:
        name.encode()
    except UnicodeEncodeError:
        raise Unusable(f"The name {name!r} is no text in UTF-8. Rename the file.") from None
    return name


def _holds(place: Place, wanted: str | None) -> bool:
    """Raises ``OSError`` where object storage does not answer."""
    if not isinstance(place, Path):
        archive = archive_at(place)
        return archive.is_file() and unpacked(archive.read_bytes(), str(wanted)) is not None
    try:
        return read_code(place).digest == wanted
    except Unusable:
        return False


def _write(code: Code, place: Place) -> None:
    """Whole or not at all. Someone else may do the same at this moment: the contents are equal, so either is
    right.
    """
    if not isinstance(place, Path):
        replace_whole(archive_at(place), packed(code.modules))
        return
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    scratch = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
    try:
        for name, content in code.modules.items():
            _write_durably(scratch / "new" / name, content)
        if place.exists() and not _holds(place, code.digest):
            place.rename(scratch / "damaged")
        try:
            (scratch / "new").rename(place)
        except OSError:
            if not _holds(place, code.digest):
                raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _write_durably(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_new(path, content, mode=0o644)
