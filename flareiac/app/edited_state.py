"""Finds a damaged state as the cause of a failure: its parts may have any shape. Reads it."""

import os
from collections.abc import Mapping
from pathlib import Path

from flareiac.app.selection import selection
from flareiac.app.workspace import Workspace
from flareiac.kernel import codes
from flareiac.kernel.addresses import block_type, parse_address
from flareiac.kernel.articles import with_article
from flareiac.kernel.diagnostics import Diagnostic, error
from flareiac.model.damage import UNREADABLE, misshapen
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.sdk.references import Resolved
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
        why = what_is_misshapen(snapshot, workspace.installed.registry.types)
    except Exception:  # noqa: BLE001 - then the first problem is what counts
        return None
    if not snapshot.sealed:
        what = why or f"a part of it has the wrong shape ({misshapen(problem)})"
        why = f"it carries no digest, so it was edited or comes from an early version, and {what}"
    if not why:
        return None
    return error(codes.STATE_UNREADABLE, f"{workspace.store.describe()}: {why}. {_BACK}")


def what_is_misshapen(snapshot: Snapshot, types: Mapping[str, ResourceType]) -> str:
    """The first record of which a part is not what its provider once recorded; empty where all are."""
    for record in (*snapshot.resources.values(), *snapshot.dropped):
        try:
            _examine(record, types)
        except _MISSHAPEN as problem:
            return f"what it holds of {record.address} has the wrong shape ({misshapen(problem)})"
    return ""


def _examine(record: ResourceRecord, types: Mapping[str, ResourceType]) -> None:
    """Reads what planners will read of a record: itself, what it was reached through, and its last user."""
    parsed = parse_address(record.address)
    if parsed is None or parsed.type != record.type:
        raise ValueError(f"{record.address!r} is not the address of {with_article(record.type)}")
    if record.type not in types:
        return
    types[record.type].examine(record.recorded())
    reached = {
        address: Resolved(address=address, type=block_type(address), attributes=attributes)
        for address, attributes in record.resolved.items()
    }
    for address, item in reached.items():
        if item.type in types:
            types[item.type].usages(address, item.attributes, reached)
            types[item.type].home(item.attributes)
    types[record.type].usages(record.address, record.attributes, reached)
    if record.user is not None:
        _examine(record.user, types)
