"""Errors of maintenance."""

from collections.abc import Mapping
from typing import Final

from flareiac.kernel.codes import Code
from flareiac.kernel.diagnostics import Diagnostic, error
from flareiac.sdk.maintenance import PerformRequest
from flareiac_spark import codes

_DOING: Final = {
    "rewrite_data_files": "rewriting data files",
    "rewrite_delete_files": "rewriting delete files",
    "rewrite_manifests": "rewriting manifests",
    "expire_snapshots": "expiring snapshots",
    "remove_orphans": "looking for orphan files",
    "delete_rows": "deleting rows",
}
_KNOWN: Final[Mapping[str, tuple[Code, str]]] = {
    "TABLE_NOT_FOUND": (codes.MAINTAINED_TABLE_GONE, "Plan again: the plan shows what changed."),
    "TABLE_REPLACED": (codes.MAINTAINED_TABLE_REPLACED, "Nothing was done to it. Plan again."),
    "CONFLICT": (
        codes.MAINTENANCE_CONFLICTS,
        (
            "Streams continue. Try at a quieter time, let compaction commit in parts (partial_progress), or "
            "limit it (where)."
        ),
    ),
    "IllegalArgumentException": (
        codes.MAINTENANCE_SETTINGS_REJECTED,
        "Nothing was done. Change the settings of the block.",
    ),
    "GC_DISABLED": (
        codes.REMOVAL_FORBIDDEN,
        (
            "Set the property gc.enabled to true if no other table has these files; or set enabled = false "
            "in the block."
        ),
    ),
    "BRANCH_RETENTION": (
        codes.BRANCH_RETENTION_TOO_SHORT,
        (
            "Nothing expired. Raise the branch's own snapshot retention, or let the reader or writer "
            "proceed; plan names it."
        ),
    ),
    "ORPHANS_TOO_YOUNG": (
        codes.ORPHANS_TOO_YOUNG,
        "Nothing was removed. Raise older_than in orphan_removal.",
    ),
    "PREFIX_MISMATCH": (
        codes.PATHS_DIFFER_IN_PREFIX,
        (
            'Nothing was removed. Look at the places named; prefix_mismatch = "ignore" leaves such files '
            'alone, "delete" takes them.'
        ),
    ),
    "FOREIGN_FILES": (
        codes.FILES_OF_UNKNOWN_OWNER,
        "Nothing was removed. Move them elsewhere if they are needed, or delete them by hand.",
    ),
    "OTHER_TABLE": (
        codes.FILES_OF_OTHER_TABLE,
        (
            "Nothing was removed. Give each table a location of its own; if the other one is given up, "
            "delete its metadata files by hand."
        ),
    ),
    "FILES_LEFT": (
        codes.ORPHANS_NOT_REMOVED,
        "The others were removed. Check who may delete there, and apply again.",
    ),
    "SNAPSHOTS_LEFT": (codes.SNAPSHOTS_NOT_EXPIRED, "Another tool may have changed the table. Plan again."),
    "NOT_A_TIME": (
        codes.ROWS_WITHOUT_AGE,
        "Write a column of type timestamptz, timestamp_ntz or date in retention.",
    ),
}


def doing(request: PerformRequest) -> str:
    """What the application does, for the waiting command."""
    return _DOING[request.work.kind]


def not_done(request: PerformRequest, why: str) -> Diagnostic:
    """An answer that says no; ``why`` begins with the error's class."""
    error_class, _, message = why.partition(": ")
    if "Unable to determine whether certain files are orphan" in why:
        error_class = "PREFIX_MISMATCH"
    failed = (
        codes.MAINTENANCE_FAILED,
        "The table is as whole as before. Apply again when the cause is removed.",
    )
    code, advice = _KNOWN.get(error_class, failed)
    reason = message if error_class in _KNOWN else why
    address = request.subject.address
    return error(code, f"{address}, {doing(request)}: {reason}\n{advice}", address=address)


def application_ended(request: PerformRequest, ended: Diagnostic) -> Diagnostic:
    """How far it came is not known yet."""
    detail = (
        f"{ended.detail}\n"
        f"It was {doing(request)} of {request.subject.address}. What it committed counts, and the rest did "
        "not happen. Apply again: finished parts are recognized, and the others are done."
    )
    return error(codes.APPLICATION_ENDED_IN_MAINTENANCE, detail, address=request.subject.address)


def cancelled(request: PerformRequest, *, begun: bool) -> Diagnostic:
    """The command was interrupted; the application was not."""
    if not begun:
        detail = f"The maintenance of {request.subject.address} had not begun. Nothing was done to the table."
        return error(codes.MAINTENANCE_CANCELLED, detail, address=request.subject.address)
    detail = (
        f"The application continues {doing(request)} of {request.subject.address}. The next apply "
        "finds the result, or waits for it."
    )
    return error(codes.MAINTENANCE_CANCELLED, detail, address=request.subject.address)


def no_answer(request: PerformRequest, seconds: float) -> Diagnostic:
    """The application runs and does not answer."""
    detail = (
        f"It has been {doing(request)} of {request.subject.address} for {seconds / 3600:.0f} hours. "
        "The next apply continues to wait."
    )
    return error(codes.APPLICATION_SILENT, detail, address=request.subject.address)


def not_applied(request: PerformRequest) -> Diagnostic:
    """The state does not say which table it is."""
    detail = (
        f"{request.subject.address} is not applied, or its catalog is not declared. Apply the table first."
    )
    return error(codes.TABLE_NOT_IDENTIFIED, detail, address=request.subject.address)
