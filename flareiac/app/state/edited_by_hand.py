"""Finds a damaged state, or its journal, as the cause of a failure: their parts may have any shape. Reads
them.
"""

import os
from pathlib import Path

from flareiac.app.misshapen_parts import MISSHAPEN, misshapen_intent, requests, what_is_misshapen
from flareiac.app.state_place.selection import selection
from flareiac.app.workspace import Workspace
from flareiac.config.registry import Registry
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostic, error
from flareiac.kernel.records import Mismatch
from flareiac.model.damage import misshapen
from flareiac.model.journal import Interrupted
from flareiac.sdk.state import WITHOUT_JOURNAL

_BACK = (
    "Put back the newest intact snapshot from the history directory beside it, or restore it from a backup."
)


def edited_state(root: Path, problem: Exception) -> Diagnostic | None:
    """Returns the diagnostic that replaces an unexpected exception; None where nothing of the state explains
    it, or it cannot be read.
    """
    if not isinstance(problem, MISSHAPEN):
        return None
    try:
        workspace = Workspace(root=root, workspace=selection(root, os.environ).name)
        loaded, registry = workspace.load_state(), workspace.installed.registry
        snapshot, interrupted = loaded.snapshot, loaded.recovered.interrupted
        why = what_is_misshapen(snapshot, registry)
        begun = _of_the_journal(interrupted, registry, problem) if interrupted else ""
    except Exception:  # noqa: BLE001 - then the first problem is what counts
        return None
    where = workspace.store.describe()
    if begun and not why:
        return error(codes.STATE_UNREADABLE, f"The journal of {where}: {begun}")
    if not snapshot.sealed:
        what = why or f"a part of it has the wrong shape ({misshapen(problem)})"
        why = f"it carries no digest, so it was edited or comes from an early version, and {what}"
    return error(codes.STATE_UNREADABLE, f"{where}: {why}. {_BACK}") if why else None


def _of_the_journal(interrupted: Interrupted, registry: Registry, problem: Exception) -> str:
    """Explains a failure by an open intent, with the way out; empty where none explains it. A payload is read
    by its driver alone, which reports another shape by a ``Mismatch``.
    """
    if mismatch := misshapen_intent(interrupted, registry):
        return f"{mismatch}. {WITHOUT_JOURNAL}"
    addresses = ", ".join(sorted({request.address for request in requests(interrupted)}))
    if addresses and isinstance(problem, Mismatch):
        return (
            f"what it holds of {addresses} has the wrong shape ({misshapen(problem)}). It holds what the "
            "last apply did after the snapshot beside it. Restore it from a backup."
        )
    return ""
