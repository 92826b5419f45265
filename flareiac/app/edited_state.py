"""Finds an edited state as the cause of a failure: without a digest its parts have any shape. Reads it."""

from pathlib import Path

from flareiac.app.workspace import Workspace
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostic, error
from flareiac.model.damage import UNREADABLE


def edited_state(root: Path, problem: Exception) -> Diagnostic | None:
    """What is said instead of an unexpected exception, None where the state is sealed or cannot be read."""
    if not isinstance(problem, (*UNREADABLE, AssertionError)):
        return None
    try:
        workspace = Workspace(root=root)
        if workspace.load_state().snapshot.sealed:
            return None
    except Exception:  # noqa: BLE001 - then the first problem is what counts
        return None
    what = " ".join(f"{type(problem).__name__}: {problem}".split())
    return error(
        codes.STATE_UNREADABLE,
        f"{workspace.store.describe()}: it carries no digest, so it was edited or comes from an early "
        f"version, and a part of it has the wrong shape ({what}). Put back the newest intact snapshot from "
        "the history directory beside it, or restore it from a backup.",
    )
