"""Expires snapshots and their files. What may go is decided before; Iceberg is asked what it would take:
which snapshots before it commits, and which files before it deletes the first.
"""

import json
import time
from collections.abc import Collection
from dataclasses import field
from typing import Any, Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.table_tasks import KnownRefusal, Performed, Performer, TableWork, TaskRefusal
from flareiac_iceberg_runtime import codes
from flareiac_iceberg_runtime.live_files import refuse_live
from flareiac_iceberg_runtime.performing import NO_COLLECTION, actions, current, refuse_without_gc

_SPARSE: Final = {"optional": True}
_DATA: Final = "DATA"
_DELETES: Final = ("POSITION_DELETES", "EQUALITY_DELETES")
"""Iceberg's names for the contents of files that are no metadata."""
_VIEW: Final = "flareiac_expired_files"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpireSnapshots:
    """Expires the snapshots that are older than a time (ms since 1970), but for the newest ``retain_last``
    and the heads of branches and tags.

    A branch's own retention comes before ``older_than_ms``; where one of ``held`` would go by it, nothing
    may. ``forecast``: exactly so many snapshots go, and with them so many data and delete files, while the
    table has ``of_snapshots`` snapshots and its main branch is at ``snapshot``; None where that is not known.
    """

    older_than_ms: int
    retain_last: int
    held: tuple[int, ...] = ()
    snapshot: int | None = field(default=None, metadata=_SPARSE)
    of_snapshots: int | None = field(default=None, metadata=_SPARSE)
    forecast: int | None = field(default=None, metadata=_SPARSE)
    forecast_data_files: int | None = field(default=None, metadata=_SPARSE)
    forecast_delete_files: int | None = field(default=None, metadata=_SPARSE)


def expire_snapshots(work: TableWork, task: ExpireSnapshots) -> Performed:
    """Raises ``TaskRefusal`` where Iceberg would take what is held (a branch's own retention comes before the
    age that is asked for), more than was forecast, or a file that the table still names.
    """
    refuse_without_gc(work)
    head, there = current(work), _snapshots(work)
    planned = _bounded(work.table.expireSnapshots(), task).apply()
    going = {int(snapshot.snapshotId()) for snapshot in planned}
    outlived = _outlived(work.table)
    if held := going.intersection(task.held):
        raise TaskRefusal(
            "BRANCH_RETENTION",
            f"By a branch's own retention {len(held)} snapshots would go that a reader or writer needs, "
            f"such as {min(held)}.",
        )
    as_forecast = head == task.snapshot and len(there) == task.of_snapshots
    if as_forecast:
        _refuse_more("snapshots", len(going), task.forecast)
    done = _expired(work, task, as_forecast=as_forecast) if going or outlived else None
    work.table.refresh()
    left = _snapshots(work)
    _refuse_what_is_left(going, going & left, outlived & _outlived(work.table))
    return Performed(
        result={
            "snapshot_before": head,
            "snapshot_after": current(work),
            "expired_snapshots": len(there - left),
            "allowed_snapshots": len(going),
            "dropped_refs": len(outlived),
            **_deleted(done),
        }
    )


def _expired(work: TableWork, task: ExpireSnapshots, *, as_forecast: bool) -> Any:
    """Iceberg's own account of what it deleted. Its list of files is judged between its commit and the first
    file that it deletes; what is refused there stays as files that no snapshot names.
    """
    action = _bounded(actions(work).expireSnapshots(work.table), task)
    listed = action.expireFiles().persist()  # else Iceberg lists all again
    try:
        listed.createOrReplaceTempView(_VIEW)
        rows = work.session.sql(f"SELECT path, type FROM {_VIEW}").collect()  # noqa: S608 - a constant
        kinds = [row[1] for row in rows]
        if as_forecast:
            _refuse_more("data files", kinds.count(_DATA), task.forecast_data_files)
            _refuse_more("delete files", sum(map(kinds.count, _DELETES)), task.forecast_delete_files)
        refuse_live(work, [row[0] for row in rows])
        return action.execute()
    finally:
        listed.unpersist()
        work.session.catalog.dropTempView(_VIEW)


def _refuse_more(what: str, count: int, forecast: int | None) -> None:
    if forecast is not None and count > forecast:
        raise TaskRefusal(
            "MORE_THAN_FORECAST",
            f"{count:,} {what} would go, and the forecast for the same snapshots is {forecast:,}.",
        )


PERFORMER: Final = Performer(
    kind="expire_snapshots",
    task=ExpireSnapshots,
    perform=expire_snapshots,
    doing="expiring snapshots",
    refusals=(
        NO_COLLECTION,
        KnownRefusal(
            error_class="BRANCH_RETENTION",
            code=codes.BRANCH_RETENTION_TOO_SHORT,
            advice="Nothing expired. Raise the branch's own snapshot retention, or let the reader or writer "
            "proceed; plan names it.",
        ),
        KnownRefusal(
            error_class="MORE_THAN_FORECAST",
            code=codes.MORE_EXPIRED_THAN_FORECAST,
            advice="No file was deleted. Plan again; if it comes again, another tool may have changed "
            "branches or tags of the table, or written summaries that say other than its files.",
        ),
        KnownRefusal(
            error_class="LIVE_FILES",
            code=codes.ORPHANS_IN_USE,
            advice="No file was deleted; the snapshots that were to expire are gone, and their files stay. "
            "Write the place in one way: in the catalog's warehouse, the table's location and its write "
            "paths.",
        ),
        KnownRefusal(
            error_class="SNAPSHOTS_LEFT",
            code=codes.SNAPSHOTS_NOT_EXPIRED,
            advice="Another tool may have changed the table. Plan again.",
        ),
    ),
)


def _bounded(expiry: Any, task: ExpireSnapshots) -> Any:
    return expiry.expireOlderThan(task.older_than_ms).retainLast(task.retain_last)


def _deleted(done: Any) -> dict[str, int]:
    """The files that Iceberg deleted; ``done`` None: it was not asked to."""
    names = ("deleted_data_files", "deleted_delete_files", "deleted_manifests", "deleted_manifest_lists")
    if done is None:
        return dict.fromkeys(names, 0)
    counts = (
        int(done.deletedDataFilesCount()),
        int(done.deletedPositionDeleteFilesCount()) + int(done.deletedEqualityDeleteFilesCount()),
        int(done.deletedManifestsCount()),
        int(done.deletedManifestListsCount()),
    )
    return dict(zip(names, counts, strict=True))


def _refuse_what_is_left(going: Collection[int], still: Collection[int], kept: Collection[str]) -> None:
    if still:
        raise TaskRefusal(
            "SNAPSHOTS_LEFT", f"{len(still)} of {len(going)} snapshots that were to expire are there still."
        )
    if kept:
        raise TaskRefusal(
            "SNAPSHOTS_LEFT", f"{', '.join(sorted(kept))}: older than they may be, and there still."
        )


def _snapshots(work: TableWork) -> set[int]:
    """The ids of all snapshots. At once: asking for thousands one by one takes seconds."""
    parser = work.session._jvm.org.apache.iceberg.TableMetadataParser
    metadata = json.loads(parser.toJson(work.table.operations().current()))
    return {snapshot["snapshot-id"] for snapshot in metadata.get("snapshots", ())}


def _outlived(table: Any) -> frozenset[str]:
    """Branches and tags that have become older than they may: an expiry drops them, whatever snapshots go."""
    longest = table.properties().get("history.expire.max-ref-age-ms")
    refs = table.refs()
    return frozenset(str(name) for name in refs if name != "main" and _is_old(table, refs.get(name), longest))


def _is_old(table: Any, ref: Any, longest: Any) -> bool:
    most = ref.maxRefAgeMs() if ref.maxRefAgeMs() is not None else longest
    if most is None:
        return False
    snapshot = table.snapshot(ref.snapshotId())
    return snapshot is None or time.time() * 1000 - snapshot.timestampMillis() > int(most)
