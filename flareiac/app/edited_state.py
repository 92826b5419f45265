"""Finds a damaged state as the cause of a failure: its parts may have any shape. Reads it."""

import os
from collections.abc import Mapping
from pathlib import Path

from flareiac.app.selection import selection
from flareiac.app.workspace import Workspace
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostic, error
from flareiac.model.damage import UNREADABLE, misshapen
from flareiac.model.snapshot import Snapshot
from flareiac.sdk.resource_type import ResourceType

_MISSHAPEN = (*UNREADABLE, AssertionError)
_BACK = (
    "Put back the newest intact snapshot from the history directory beside it, or restore it from a backup."
)


def edited_state(root: Path, problem: Exception) -> Diagnostic | None:
    """What is said instead of an unexpected exception; None where nothing of the state explains it, or it
    cannot be read.
    """
    if not isinstance(problem, _MISSHAPEN):
        return None
    try:
        workspace = Workspace(root=root, workspace=selection(root, os.environ).name)
        snapshot = workspace.load_state().snapshot
        why = _what(snapshot, workspace.installed.registry.types)
    except Exception:  # noqa: BLE001 - then the first problem is what counts
        return None
    if not snapshot.sealed:
        what = why or f"a part of it has the wrong shape ({misshapen(problem)})"
        why = f"it carries no digest, so it was edited or comes from an early version, and {what}"
    if not why:
        return None
    return error(codes.STATE_UNREADABLE, f"{workspace.store.describe()}: {why}. {_BACK}")


def _what(snapshot: Snapshot, types: Mapping[str, ResourceType]) -> str:
    """The first record of which a part is not what its provider once recorded; empty where all are."""
    for record in (*snapshot.resources.values(), *snapshot.dropped):
        try:
            if record.type in types:
                types[record.type].examine(record.recorded())
        except _MISSHAPEN as problem:
            return f"what it holds of {record.address} has the wrong shape ({misshapen(problem)})"
    return ""
