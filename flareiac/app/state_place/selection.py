"""Selects the workspace of a command: ``FLAREIAC_WORKSPACE``, else the one that ``workspace select`` chose,
else ``default``. Touches ``.flareiac/workspace``.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.kernel.durable_files import make_directory, remove_file, replace_file
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.state import WORKSPACE_NAME_RULE, is_workspace_name

DEFAULT: Final = "default"
VARIABLE: Final = "FLAREIAC_WORKSPACE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A workspace, and whether the environment variable names it."""

    name: str
    by_variable: bool = False


def selection(root: Path, environment: Mapping[str, str]) -> Selection:
    """The workspace that commands work in. Raises ``Failure`` for what cannot be one."""
    if named := environment.get(VARIABLE, ""):
        return Selection(name=checked_name(named, f"{VARIABLE}={named}"), by_variable=True)
    return Selection(name=chosen(root))


def chosen(root: Path) -> str:
    """The workspace that ``workspace select`` chose. Raises ``Failure``."""
    path = _path(root)
    try:
        text = path.read_bytes().decode("utf-8", errors="replace").strip()
    except (FileNotFoundError, NotADirectoryError):
        return DEFAULT
    except OSError as problem:
        raise Failure(
            error(codes.INVALID_WORKSPACE, f"{path} cannot be read: {problem.strerror or problem}.")
        ) from problem
    return checked_name(text, str(path)) if text else DEFAULT


def choose(root: Path, name: str) -> None:
    """Makes a workspace the chosen one. Raises ``Failure``."""
    path = _path(root)
    try:
        if name == DEFAULT:
            remove_file(path)
            return
        make_directory(path.parent)
        replace_file(path, f"{name}\n".encode())
    except OSError as problem:
        why = f"{path}: {problem.strerror or problem}. The workspace was not selected."
        raise Failure(error(codes.FILE_NOT_WRITTEN, why)) from problem


def checked_name(name: str, where: str = "") -> str:
    """The name. Raises ``Failure`` when it is no workspace name; ``where`` says what gave it."""
    if is_workspace_name(name):
        return name
    given = f" ({where})" if where and where != name else ""
    raise Failure(
        error(
            codes.INVALID_WORKSPACE,
            f"{name!r} cannot be the name of a workspace{given}. {WORKSPACE_NAME_RULE}",
        )
    )


def _path(root: Path) -> Path:
    return root / ".flareiac" / "workspace"
