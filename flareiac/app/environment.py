"""The origin of a command: the folder of its root module, the owner that the configuration names, and the
values of its variables. Touches the file system.
"""

import secrets
from dataclasses import replace
from pathlib import Path

from flareiac.app.state_place.place import written_settings
from flareiac.config.protection import protection_of
from flareiac.model.applied_from import AppliedFrom, applied_from
from flareiac.model.desired import Desired
from flareiac.model.snapshot import Snapshot


def environment_of(root: Path, desired: Desired, snapshot: Snapshot, workspace: str) -> AppliedFrom:
    """The origin that an apply of this configuration would record; its digests can be compared with those of
    the state. Raises ``Failure``.
    """
    key = snapshot.applied.key if snapshot.applied is not None else secrets.token_hex(16)
    settings = written_settings(root).settings
    origin = applied_from(folder_of(root), settings.state_owner, desired.values, desired.variables, key=key)
    return replace(origin, protected=protection_of(settings.workspaces, workspace).protected)


def folder_of(root: Path) -> str:
    """The folder relative to the root of its repository, which every checkout calls the same; outside of any
    repository its absolute path.
    """
    real = root.resolve()
    top = next((folder for folder in (real, *real.parents) if (folder / ".git").exists()), None)
    return real.as_posix() if top is None else real.relative_to(top).as_posix()
