"""Plans the deletion of old rows. Pure."""

from flareiac.kernel.diagnostics import Diagnostic, warning
from flareiac.sdk.maintenance import MaintenanceTask
from flareiac_iceberg import codes
from flareiac_iceberg.maintenance.humanize import count, exact_duration, moment
from flareiac_iceberg.maintenance.kinds.retention.measure import RowFigures
from flareiac_iceberg.maintenance.kinds.retention.settings import TIMES, Retention
from flareiac_iceberg.maintenance.task_builder import Case
from flareiac_iceberg_runtime.civil_time import floor
from flareiac_iceberg_runtime.kinds.retention.perform import DeleteRows


def plan(case: Case, settings: Retention, found: RowFigures | None) -> MaintenanceTask:
    """Due when there are rows before the last full partition (or hour) that is old enough."""
    snapshot = case.figures.snapshot_id
    if snapshot is None or case.figures.totals.rows == 0:
        return case.idle("the table has no rows", of=snapshot)
    if found is None:
        return case.idle(
            f'the table has no column "{settings.column}"', of=snapshot, diagnostics=(_no_column(settings),)
        )
    if found.type not in TIMES:
        return case.idle(
            f'"{settings.column}" is {found.type}',
            of=snapshot,
            diagnostics=(_no_time(settings, found.type),),
        )
    return _of_rows(case, settings, found, snapshot)


def _of_rows(case: Case, settings: Retention, found: RowFigures, snapshot: int) -> MaintenanceTask:
    before = floor(case.request.now_ms - settings.keep, found.unit)
    of = [snapshot, before]
    whole = [item for item in found.ranges if item[1] <= before]
    partly = [item for item in found.ranges if item[0] < before < item[1]]
    units = f"whole {found.unit}s" + (" (partitions)" if found.whole else "")
    if not whole and not partly and not found.unknown:
        return case.idle(
            f"no rows from before {moment(before)} ({units}, keeping {exact_duration(settings.keep)})", of=of
        )
    rows = sum(item[2] for item in whole)
    sure = not partly and not found.unknown and not found.guessed and case.figures.totals.delete_files == 0
    how_many = f"{count(rows, 'row')}" if sure else "rows"
    text = (
        f"delete {how_many} from before {moment(before)} ({units}, keeping {exact_duration(settings.keep)})"
    )
    work = DeleteRows(
        column=settings.column,
        type=found.type,
        before_ms=before,
        snapshot=snapshot if sure else None,
        forecast_rows=rows if sure else None,
    )
    return case.due(
        text,
        work,
        of=of,
        forecast={"deleted_rows": rows, "snapshot_before": snapshot} if sure else {},
    )


def _no_column(settings: Retention) -> Diagnostic:
    return warning(
        codes.NO_SUCH_COLUMN,
        f'The table has no column "{settings.column}", which retention.column names, so no row is deleted. '
        "Correct it.",
        attribute=("retention", "column"),
    )


def _no_time(settings: Retention, kind: str) -> Diagnostic:
    return warning(
        codes.UNFIT_MAINTENANCE_COLUMN,
        f'retention.column names "{settings.column}", which is {kind}; the age of a row is known from '
        "timestamptz, timestamp_ntz or date. No row is deleted. Correct it.",
        attribute=("retention", "column"),
    )
