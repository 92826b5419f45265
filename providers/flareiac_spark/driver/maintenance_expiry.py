"""Expires snapshots and their files. What may go is decided before; Iceberg is asked what it would take,
before and after.
"""

import time

from flareiac.sdk.table_tasks import ExpireSnapshots
from flareiac_spark.driver.maintenance_marks import TableWork, snapshots
from flareiac_spark.driver.refusal import Refusal


def expire_snapshots(bench: TableWork, work: ExpireSnapshots) -> dict[str, int | None]:
    """Raises ``Refusal`` where Iceberg would take what is held: a branch's own retention comes before the age
    that is asked for.
    """
    refuse_without_gc(bench)
    table = bench.table
    head, there = bench.current, snapshots(table).keys()
    planned = table.expireSnapshots().expireOlderThan(work.older_than_ms).retainLast(work.retain_last).apply()
    going = {int(snapshot.snapshotId()) for snapshot in planned}
    outlived = _outlived(bench)
    if held := going.intersection(work.held):
        why = (
            f"By a branch's own retention {len(held)} snapshots would go that a reader or writer needs, "
            f"such as {min(held)}."
        )
        raise Refusal("BRANCH_RETENTION", why)
    counts = dict.fromkeys(
        ("deleted_data_files", "deleted_delete_files", "deleted_manifests", "deleted_manifest_lists"), 0
    )
    if going or outlived:
        done = (
            bench.actions.expireSnapshots(table)
            .expireOlderThan(work.older_than_ms)
            .retainLast(work.retain_last)
            .execute()
        )
        counts = {
            "deleted_data_files": int(done.deletedDataFilesCount()),
            "deleted_delete_files": int(done.deletedPositionDeleteFilesCount())
            + int(done.deletedEqualityDeleteFilesCount()),
            "deleted_manifests": int(done.deletedManifestsCount()),
            "deleted_manifest_lists": int(done.deletedManifestListsCount()),
        }
    table.refresh()
    left = snapshots(table)
    if still := going & left.keys():
        raise Refusal(
            "SNAPSHOTS_LEFT", f"{len(still)} of {len(going)} snapshots that were to expire are there still."
        )
    if kept := outlived & _outlived(bench):
        raise Refusal(
            "SNAPSHOTS_LEFT", f"{', '.join(sorted(kept))}: older than they may be, and there still."
        )
    return {
        "snapshot_before": head,
        "snapshot_after": bench.current,
        "expired_snapshots": len(there - left.keys()),
        "allowed_snapshots": len(going),
        "dropped_refs": len(outlived),
        **counts,
    }


def _outlived(bench: TableWork) -> frozenset[str]:
    """Branches and tags that have become older than they may: an expiry drops them, whatever snapshots go."""
    table, now = bench.table, time.time() * 1000
    longest = table.properties().get("history.expire.max-ref-age-ms")
    found: set[str] = set()
    for name in table.refs():
        ref = table.refs().get(name)
        most = ref.maxRefAgeMs() if ref.maxRefAgeMs() is not None else longest
        snapshot = table.snapshot(ref.snapshotId())
        if (
            name != "main"
            and most is not None
            and (snapshot is None or now - snapshot.timestampMillis() > int(most))
        ):
            found.add(str(name))
    return frozenset(found)


def refuse_without_gc(bench: TableWork) -> None:
    """Raises ``Refusal`` where the table says that its files are not to be deleted."""
    said = bench.table.properties().get("gc.enabled")
    if said is not None and str(said).lower() != "true":  # what is not true is false to Iceberg
        raise Refusal(
            "GC_DISABLED", f'The table says gc.enabled = "{said}": its files may belong to other tables, too.'
        )
