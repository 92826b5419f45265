"""The use case of ``state recover``: brings the records of an emergency file into the state."""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from flareiac.app.state.lock import locked
from flareiac.app.state.single_operation import writing_state
from flareiac.app.workspace import Workspace, state_errors
from flareiac.applying.emergency_file import waiting_files
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.durable_files import remove_file
from flareiac.kernel.kill_points import reach
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.emergency import EmergencyJournal, decode_emergency
from flareiac.model.events import Event, Note
from flareiac.model.journal import Entry, Outputs, Result
from flareiac.model.snapshot import Snapshot
from flareiac.sdk.state import Damaged, Lease
from flareiac.state.cipher import PassphraseMissing
from flareiac.state.places import encode_state
from flareiac.state.read import Loaded, decode_records, decode_state

_LEAST_LINES: Final = 2
"""The header and one record."""
_BEGINNING: Final = re.compile(rb"[0-9a-f]*(?: |\Z)")
"""Begins a line with its checksum, however early it is cut off. A file of other content is not removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoverReport:
    """The result of a recovery. ``added``: how many records the state did not hold yet; ``open``: whether the
    next apply has to find out how operations ended; ``torn``: the last record of the file was cut off.
    """

    records: int
    added: int
    open: bool
    torn: bool


def recover_state(
    workspace: Workspace, file: str, *, lock_timeout: float, emit: Callable[[Event], None]
) -> RecoverReport:
    """Brings in what the state does not hold yet, and removes the file. Asked again after a kill at any
    point, it completes what it began. Raises ``Failure`` or ``LockHeld``.
    """
    path = workspace.root / file
    journal = _read(path, file, workspace)
    with locked(workspace, "state recover", lock_timeout, emit) as lease:
        report = _bring_in(workspace, lease, journal, file)
    reach("recover.before-removal")
    remove_file(path)
    return report


def recover_waiting(workspace: Workspace, lease: Lease, emit: Callable[[Event], None]) -> None:
    """Brings in what the apply that the state knows as interrupted has left in a file of this checkout, and
    removes files of earlier applies that have been brought in elsewhere. Raises ``Failure``.
    """
    waiting = waiting_files(workspace.root)
    for file in list(waiting):
        path = workspace.root / file
        if _holds_nothing(path):
            remove_file(path)
            waiting.remove(file)
            emit(Note(message=f"Removed {file}: the disk was full before a record was in it."))
    if not waiting:
        return
    interrupted = workspace.load_state().recovered.interrupted
    last = waiting_files(workspace.root, interrupted.begun.apply) if interrupted else []
    for file in last:
        path = workspace.root / file
        report = _bring_in(workspace, lease, _read(path, file, workspace), file)
        remove_file(path)
        emit(Note(message=f"Recovered {report.added} records of the last apply from {file}."))
    for file in sorted(set(waiting) - set(last)):
        if (said := _remove_if_held(workspace, file)) is not None:
            emit(Note(message=said))


def _holds_nothing(path: Path) -> bool:
    """True where no record of the file is whole: nothing of an apply was ever reported as saved there."""
    try:
        content = path.read_bytes()
    except OSError:
        return False
    return content.count(b"\n") < _LEAST_LINES and _BEGINNING.match(content) is not None


def _remove_if_held(workspace: Workspace, file: str) -> str | None:
    """Removes a file of an earlier apply if the state, or one in its history, has held all that the file
    says; returns what there is to say. A file of another state is left alone. Raises ``Failure``.
    """
    path = workspace.root / file
    try:
        journal = _read(path, file, workspace)
        entries = _entries(journal, file, workspace)
    except Failure:
        return f"Warning: {file} is of an earlier apply and cannot be read. Delete it if no one needs it."
    loaded = workspace.load_state()
    if loaded.snapshot.lineage != journal.header.lineage:
        return None
    later = (
        snapshot
        for snapshot in (loaded.snapshot, *_earlier(workspace))
        if snapshot.serial > journal.header.serial
    )
    if any(not _contradictions(snapshot, entries) for snapshot in later):
        remove_file(path)
        return f"Removed {file}: all of its records were added to the state since."
    return (
        f"Warning: {file} holds results of an earlier apply that no kept state holds. Once a plan shows no "
        f"difference, delete it; flareiac state recover {file} says more."
    )


def _earlier(workspace: Workspace) -> Iterator[Snapshot]:
    """The earlier states that can be read, newest first. Raises ``Failure``."""
    root, types = str(workspace.root), workspace.installed.registry.types
    with state_errors(workspace):
        for earlier in workspace.store.history():
            with suppress(KeyError, Damaged, PassphraseMissing):
                yield decode_state(workspace.store.read_history(earlier.name), earlier.name, root, types)


def _read(path: Path, file: str, workspace: Workspace) -> EmergencyJournal:
    try:
        return decode_emergency(path.read_bytes(), file, workspace.unseal)
    except OSError as failure:
        why = f"{file}: {failure.strerror or failure}. Nothing was changed."
        raise Failure(error(codes.EMERGENCY_FILE_UNREADABLE, why)) from failure
    except Damaged as problem:
        if not path.stat().st_size:
            why = f"{file} is empty: it holds nothing to recover. Delete it."
            raise Failure(error(codes.EMERGENCY_FILE_UNREADABLE, why)) from problem
        why = (
            f"{file}: {problem.why}. Nothing was changed, and the file is kept. Where it cannot be restored, "
            "move it away: the next apply then finds out by reading what it can."
        )
        raise Failure(error(codes.EMERGENCY_FILE_UNREADABLE, why)) from problem


def _bring_in(workspace: Workspace, lease: Lease, journal: EmergencyJournal, file: str) -> RecoverReport:
    loaded, header = workspace.load_state(), journal.header
    if loaded.snapshot.lineage != header.lineage:
        why = (
            f"It belongs to the state {header.lineage}, and this one is {loaded.snapshot.lineage}. "
            "Nothing was changed. Run it where the apply ran: the same project, backend and workspace."
        )
        raise Failure(error(codes.EMERGENCY_FILE_CONTRADICTS, why))
    missing = _missing(workspace, loaded, journal)
    if missing is None:
        _refuse_contradictions(loaded, _entries(journal, file, workspace), header.serial)
        return RecoverReport(records=len(journal.records), added=0, open=False, torn=journal.torn)
    with writing_state("What is not recovered yet stays in the file", workspace):
        workspace.store.check_writable(lease)
        workspace.store.append_journal(missing, lease)
        reach("recover.appended")
        still_open = _conclude(workspace, lease)
    return RecoverReport(records=len(journal.records), added=len(missing), open=still_open, torn=journal.torn)


def _missing(workspace: Workspace, loaded: Loaded, journal: EmergencyJournal) -> tuple[bytes, ...] | None:
    """The records that the state's journal lacks; None where the state has moved on since."""
    if loaded.snapshot.serial != journal.header.serial:
        return None
    known = workspace.store.read_journal().records
    behind, records = known[journal.header.after :], journal.records
    common = min(len(behind), len(records))
    if len(known) < journal.header.after or behind[:common] != records[:common]:
        return None
    return records[common:]


def _conclude(workspace: Workspace, lease: Lease) -> bool:
    """Ends an apply that had ended, as it would have: by a snapshot. Returns whether one is still open."""
    loaded = workspace.load_state()
    if loaded.recovered.interrupted is not None:
        return True
    if loaded.recovered.entries:
        reach("recover.before-snapshot")
        after = replace(loaded.snapshot, serial=loaded.snapshot.serial + 1)
        workspace.store.write_snapshot(encode_state(after, loaded.root), expect=loaded.revision, lease=lease)
        reach("recover.snapshot")
    return False


def _entries(journal: EmergencyJournal, file: str, workspace: Workspace) -> list[Entry]:
    types = workspace.installed.registry.types
    try:
        return decode_records(journal.records, file, str(workspace.root), types)
    except Damaged as problem:
        raise Failure(error(codes.EMERGENCY_FILE_UNREADABLE, f"{file}: {problem.why}.")) from problem


def _refuse_contradictions(loaded: Loaded, entries: list[Entry], serial: int) -> None:
    """Raises ``Failure`` unless the state, which has moved on, holds all that the file says."""
    contradictions = _contradictions(loaded.snapshot, entries)
    if contradictions:
        raise Failure(_contradicted(loaded.snapshot, contradictions, serial))


def _contradictions(snapshot: Snapshot, entries: list[Entry]) -> list[str]:
    """Returns the names of everything that the state holds otherwise."""
    last = {entry.address: entry for entry in entries if isinstance(entry, Result)}
    contradictions = [address for address, result in sorted(last.items()) if _differs(snapshot, result)]
    outputs = [entry for entry in entries if isinstance(entry, Outputs)]
    if outputs and dict(outputs[-1].outputs) != dict(snapshot.outputs):
        contradictions.append("the outputs")
    return contradictions


def _differs(snapshot: Snapshot, result: Result) -> bool:
    there = snapshot.resources.get(result.address)
    if result.forgotten:
        return there is not None
    return result.record is not None and there != result.record


def _contradicted(snapshot: Snapshot, contradictions: list[str], serial: int) -> Diagnostic:
    return error(
        codes.EMERGENCY_FILE_CONTRADICTS,
        f"The state has been written since (serial {snapshot.serial}; the file continues {serial}), and "
        f"holds something else of {', '.join(contradictions)}. Nothing was changed. Run flareiac plan, which "
        "reads what is there; when it shows no difference, the file can be deleted.",
    )
