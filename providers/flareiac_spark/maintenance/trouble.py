"""How is trouble with maintenance told? Codes FIK110 to FIK129."""

from typing import Final

from flareiac.kernel.diagnostics import Diagnostic, error
from flareiac.sdk.maintenance import PerformRequest

_DOING: Final = {
    "rewrite_data_files": "rewriting data files",
    "rewrite_delete_files": "rewriting delete files",
    "rewrite_manifests": "rewriting manifests",
    "expire_snapshots": "expiring snapshots",
    "remove_orphans": "looking for orphan files",
    "delete_rows": "deleting rows",
}
_KNOWN: Final = {
    "TABLE_NOT_FOUND": ("FIK110", "The table is not there", "Plan again: it tells what became of it."),
    "TABLE_REPLACED": ("FIK111", "Another table has this name now", "Nothing was done to it. Plan again."),
    "CONFLICT": (
        "FIK112",
        "Other commits came in between, again and again",
        "Streams go on. Try at a quieter time; or let compaction commit in parts (partial_progress), or only where nobody writes (where).",
    ),
    "IllegalArgumentException": ("FIK116", "Iceberg does not take these settings", "Nothing was done. Change the settings of the block."),
    "GC_DISABLED": (
        "FIK117",
        "The table forbids that files are removed",
        "Set the property gc.enabled to true if no other table has these files; or set enabled = false in the block.",
    ),
    "BRANCH_RETENTION": (
        "FIK118",
        "A branch's own retention gives up what is needed",
        "Nothing expired. Raise the branch's own snapshot retention, or let the reader or writer go on; plan names it.",
    ),
    "ORPHANS_TOO_YOUNG": ("FIK119", "Orphans must be older than 24 hours", "Nothing was removed. Raise older_than in orphan_removal."),
    "PREFIX_MISMATCH": (
        "FIK120",
        "The same place may be written in two ways",
        'Nothing was removed. Look at the places named; prefix_mismatch = "ignore" leaves such files alone, "delete" takes them.',
    ),
    "FOREIGN_FILES": (
        "FIK126",
        "Files below the table's location are not proven to be its own",
        "Nothing was removed. Move them elsewhere if they are needed, or delete them by hand.",
    ),
    "OTHER_TABLE": (
        "FIK127",
        "Another table has files below the table's location",
        "Nothing was removed. Give each table a location of its own; if the other one is given up, delete its metadata files by hand.",
    ),
    "FILES_LEFT": ("FIK123", "Orphan files could not be removed", "The others were. Look at who may delete there, and apply again."),
    "SNAPSHOTS_LEFT": ("FIK124", "Snapshots that were to expire are there still", "Another tool may have changed the table. Plan again."),
    "NOT_A_TIME": ("FIK125", "Rows have no age by this column", "Write a column of type timestamptz, timestamp_ntz or date in retention."),
}


def doing(request: PerformRequest) -> str:
    """What the application does, for whoever waits."""
    return _DOING[request.work.kind]


def not_done(request: PerformRequest, why: str) -> Diagnostic:
    """An answer that says no; ``why`` begins with the error's class."""
    error_class, _, message = why.partition(": ")
    if "Unable to determine whether certain files are orphan" in why:
        error_class = "PREFIX_MISMATCH"
    code, summary, advice = _KNOWN.get(
        error_class, ("FIK122", f"{doing(request).capitalize()} failed", "The table is as whole as before. Apply again when it is mended.")
    )
    told = message if error_class in _KNOWN else why
    return error(code, f"{summary}: {request.subject.address}", f"{told}\n{advice}", address=request.subject.address)


def application_ended(request: PerformRequest, ended: Diagnostic) -> Diagnostic:
    """Nobody knows yet how far it came."""
    detail = (
        f"{ended.detail}\nIt was {doing(request)}. What it committed counts, what it did not is not there: apply again, and what was done "
        "is found and the rest is done."
    )
    return error("FIK113", "The Spark application ended during maintenance", detail, address=request.subject.address)


def cancelled(request: PerformRequest, *, begun: bool) -> Diagnostic:
    """The command was interrupted; the application was not."""
    if not begun:
        return error("FIK114", "Cancelled before the maintenance began", "Nothing was done to the table.", address=request.subject.address)
    detail = f"The application goes on {doing(request)}. The next apply finds what came of it, or waits for it."
    return error("FIK114", "Cancelled while the maintenance goes on", detail, address=request.subject.address)


def no_answer(request: PerformRequest, seconds: float) -> Diagnostic:
    """The application lives and says nothing."""
    detail = f"It has been {doing(request)} for {seconds / 3600:.0f} hours. The next apply goes on waiting."
    return error("FIK115", "The Spark application does not answer", detail, address=request.subject.address)


def not_applied(request: PerformRequest) -> Diagnostic:
    """The state does not say which table it is."""
    detail = "The state does not know which table it is, or its catalog is not declared. Apply the table first."
    return error("FIK121", f"{request.subject.address} is not applied", detail, address=request.subject.address)
