"""The beginning of a comment or an issue: the first line, which does not show and by which a later one
replaces an earlier one, and the names for its readers. Pure.
"""

import hashlib
from typing import Final

from flareiac.render.report.escaping import code, comment

_SHOWN: Final = 40
_LONGEST: Final = 60
"""The marker of a report shares its least size with the verdict."""


def marker(kind: str, *, workspace: str, project: str = "", fingerprints: str | None = None) -> str:
    """An HTML comment with these names. ``kind``: such as ``flareiac-report``. ``project``: the name by which
    projects of one repository differ; empty where there is one.
    """
    names = {
        **({"project": _short(project)} if project else {}),
        "workspace": _short(workspace),
        **({} if fingerprints is None else {"fingerprints": fingerprints}),
    }
    return f"<!-- {kind} {' '.join(f'{key}={value}' for key, value in names.items())} -->"


def place(project: str, workspace: str) -> str:
    """The names for readers, before the verdict; empty where there is nothing to tell apart."""
    text = ", ".join(
        [
            *([f"project {code(project, _SHOWN)}"] if project else []),
            *([f"workspace {code(workspace, _SHOWN)}"] if workspace != "default" else []),
        ]
    )
    return f"{text[0].upper()}{text[1:]}: " if text else ""


def _short(name: str) -> str:
    """The name for the inside of a comment; two long ones with the same beginning stay apart."""
    if len(name) <= _LONGEST:
        return comment(name)
    digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return f"{comment(name[: _LONGEST - 17])}.{digest}"
