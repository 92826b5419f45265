"""The complaint that more rows were deleted than were to go. Pure."""

from collections.abc import Iterator, Mapping
from typing import Final

from flareiac.kernel.data import Data
from flareiac.kernel.diagnostics import Diagnostic, error
from flareiac.sdk.maintenance import MaintenanceTask
from flareiac_iceberg import codes

_COMPARED: Final = ("deleted_rows", "snapshot_before")


def complaints(task: MaintenanceTask, result: Mapping[str, Data]) -> Iterator[Diagnostic]:
    """Counts only on the snapshot of the forecast: rows that were written later may be old as well."""
    deleted, began = (result.get(name) for name in _COMPARED)
    meant, snapshot = (task.forecast.get(name) for name in _COMPARED)
    if deleted is not None and meant is not None and deleted > meant and began == snapshot:
        yield error(
            codes.TOO_MANY_DELETED,
            f"{task.name}: {deleted:,} rows are gone from snapshot {began}, and "
            f"{meant:,} were to go. Set the table back (flareiac table rollback) before its old snapshots "
            "expire, and report this.",
        )
