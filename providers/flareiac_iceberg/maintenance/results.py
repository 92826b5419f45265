"""The faults of the result of a rewrite, whatever was forecast. Pure."""

from collections.abc import Iterator, Mapping

from flareiac.kernel.data import Data
from flareiac.kernel.diagnostics import Diagnostic, error, warning
from flareiac.sdk.maintenance import MaintenanceTask
from flareiac_iceberg import codes
from flareiac_iceberg.maintenance.humanize import count


def rewritten(
    task: MaintenanceTask, result: Mapping[str, Data], *, figure: str, thing: str
) -> Iterator[Diagnostic]:
    """``figure`` is the number of the result that counts what was rewritten, ``thing`` what that is."""
    before, after = result.get("rows_before"), result.get("rows_after")
    if before is not None and after is not None and before != after:
        yield error(
            codes.ROWS_CHANGED,
            f"{task.name}: there were {before:,} rows in snapshot {result.get('snapshot_before')} and "
            f"{after:,} in snapshot {result.get('snapshot_after')}, and a rewrite must not change them. Set "
            "the table back (flareiac table rollback) before its old snapshots expire.",
        )
    failed = result.get("failed_files") or 0
    if failed:
        yield warning(
            codes.REWRITE_INCOMPLETE,
            f"{task.name} could not rewrite {count(failed, 'file')}. With partial_progress, what failed is "
            "left for the next run. Mostly it is a conflict with a writer; the log of the engine shows why.",
        )
    if result.get(figure) == 0 and task.forecast.get(figure, 1):
        yield warning(
            codes.NOTHING_REWRITTEN,
            f"{task.name} completed without errors but rewrote no {thing}. A writer or an expiry "
            "may have come in between; the next plan looks again.",
        )
