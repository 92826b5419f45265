"""Plans the expiry of snapshots, and forecasts what it frees. Pure."""

from collections.abc import Collection

from flareiac.sdk.maintenance import MaintenanceTask
from flareiac_iceberg.maintenance.foreign_readers import holds
from flareiac_iceberg.maintenance.humanize import count, duration, exact_duration, moment
from flareiac_iceberg.maintenance.kinds.snapshot_expiry.expiry_rules import History, freed
from flareiac_iceberg.maintenance.kinds.snapshot_expiry.measure import ExpiryFigures
from flareiac_iceberg.maintenance.kinds.snapshot_expiry.reach import Reach, reach
from flareiac_iceberg.maintenance.kinds.snapshot_expiry.settings import SnapshotExpiry
from flareiac_iceberg.maintenance.task_builder import Case, entered_twice, no_collection
from flareiac_iceberg_runtime.kinds.snapshot_expiry.perform import ExpireSnapshots


def plan(case: Case, settings: SnapshotExpiry, figures: ExpiryFigures | None) -> MaintenanceTask:
    """Due when enough snapshots are old, no one needs them, and the table may lose files."""
    of, request = [case.figures.snapshot_id, case.figures.ids], case.request
    if not case.figures.collects:
        return case.idle(
            "the table's property gc.enabled is false", of=of, diagnostics=(no_collection(case.name),)
        )
    if case.figures.entries or case.figures.entries_unknown:
        why, complaint = entered_twice(case.name, case.figures)
        return case.idle(why, of=of, diagnostics=(complaint,))
    assert figures is not None, "an expiry is declared"
    history = figures.history
    if not history.times:
        return case.idle("the table has no snapshots", of=of)
    readers = holds(request.address, request.attributes, case.figures.readers, history.times, request.now_ms)
    extent = reach(history, settings, (*request.holds, *readers), request.now_ms)
    if extent.blocked:
        text = f"no snapshot is expired: {extent.blocked}"
    elif len(extent.expiry.snapshots) < settings.min_snapshots_to_expire and not extent.expiry.refs:
        text = _not_yet(extent, settings, history.times.values(), request.now_ms)
    else:
        return _expire(case, settings, history, extent)
    return case.idle(text, of=of, held=extent.held, diagnostics=extent.diagnostics)


def _expire(case: Case, settings: SnapshotExpiry, history: History, extent: Reach) -> MaintenanceTask:
    gone, head = len(extent.expiry.snapshots), case.figures.snapshot_id
    forecast = {"expired_snapshots": gone} | ({"snapshot_before": head} if head is not None else {})
    if extent.expiry.refs:
        forecast["dropped_refs"] = len(extent.expiry.refs)
    there = count(len(history.times), "snapshot")
    text = f"expire {gone:,} of {there}, committed before {moment(extent.cutoff)}"
    files = freed(history, extent.expiry.snapshots)
    if files is not None:
        forecast |= {"deleted_data_files": files[0], "deleted_delete_files": files[1]}
        text += f", and free {count(files[0], 'data file')}"
    if extent.expiry.refs:
        drops = f"drop {', '.join(extent.expiry.refs)}, whose own time has passed"
        text = f"{text}; {drops}" if gone else f"{drops}; no snapshot goes"
    # What a branch or tag says of its own ages depends on the time of the run.
    exact = all(ref.max_snapshot_age is None and ref.max_ref_age is None for ref in history.refs)
    work = ExpireSnapshots(
        older_than_ms=extent.cutoff,
        retain_last=settings.retain_last,
        held=extent.needed,
        snapshot=head if exact else None,
        of_snapshots=len(history.times) if exact else None,
        forecast=gone if exact else None,
        forecast_data_files=files[0] if exact and files is not None else None,
        forecast_delete_files=files[1] if exact and files is not None else None,
    )
    return case.noticed(
        case.due(
            text,
            work,
            of=[head, case.figures.ids],
            forecast=forecast,
            held=extent.held,
            diagnostics=extent.diagnostics,
        )
    )


def _not_yet(extent: Reach, settings: SnapshotExpiry, times: Collection[int], now_ms: int) -> str:
    age = duration(now_ms - min(times))
    text = (
        f"{count(len(extent.expiry.snapshots), 'snapshot')} to expire of at least "
        f"{settings.min_snapshots_to_expire:,}"
    )
    return (
        f"{text} (the oldest of {len(times):,} is {age} old, keeping {exact_duration(settings.older_than)})"
    )
