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


def plan(case: Case, settings: Retention, figures: RowFigures | None) -> MaintenanceTask:
    """Due when there are rows before the last full partition (or hour) that is old enough."""
    snapshot = case.figures.snapshot_id
    if snapshot is None or case.figures.totals.rows == 0:
        return case.idle("the table has no rows", of=snapshot)
    if figures is None:
        return case.idle(
            f'the table has no column "{settings.column}"', of=snapshot, diagnostics=(_no_column(settings),)
        )
    if figures.type not in TIMES:
        return case.idle(
            f'"{settings.column}" is {figures.type}',
            of=snapshot,
            diagnostics=(_no_time(settings, figures.type),),
        )
    return _of_rows(case, settings, figures, snapshot)


def _of_rows(case: Case, settings: Retention, figures: RowFigures, snapshot: int) -> MaintenanceTask:
    before = floor(case.request.now_ms - settings.keep, figures.unit)
    of = [snapshot, before]
    whole = [time_range for time_range in figures.ranges if time_range[1] <= before]
    partly = [time_range for time_range in figures.ranges if time_range[0] < before < time_range[1]]
    units = f"whole {figures.unit}s" + (" (partitions)" if figures.whole else "")
    if not whole and not partly and not figures.unknown:
        return case.idle(
            f"no rows from before {moment(before)} ({units}, keeping {exact_duration(settings.keep)})", of=of
        )
    rows = sum(time_range[2] for time_range in whole)
    sure = (
        not partly and not figures.unknown and not figures.guessed and case.figures.totals.delete_files == 0
    )
    how_many = f"{count(rows, 'row')}" if sure else "rows"
    text = (
        f"delete {how_many} from before {moment(before)} ({units}, keeping {exact_duration(settings.keep)})"
    )
    work = DeleteRows(
        column=settings.column,
        type=figures.type,
        before_ms=before,
        snapshot=snapshot if sure else None,
        forecast_rows=rows if sure else None,
    )
    return case.noticed(
        case.due(
            text,
            work,
            of=of,
            forecast={"deleted_rows": rows, "snapshot_before": snapshot} if sure else {},
        )
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
