"""How are snapshots and files let go that nobody needs any more? What may go is decided before; here it is held against what Iceberg
would take, before and after."""

import time
from typing import Final

from flareiac.sdk.maintenance import ExpireSnapshots, RemoveOrphans
from flareiac_spark.driver.maintenance_marks import Bench, snapshots
from flareiac_spark.driver.refusal import Refusal

_DAY_MS: Final = 24 * 3_600_000
_MEASURED: Final = 10_000
"""Orphans whose size is asked for one by one; beyond that the bytes are not known."""


def expire_snapshots(bench: Bench, work: ExpireSnapshots) -> dict[str, int | None]:
    """Raises ``Refusal`` where Iceberg would take what is held: a branch's own retention comes before the age that is asked for."""
    _refuse_without_gc(bench)
    table = bench.table
    head, there = bench.current, snapshots(table).keys()
    planned = table.expireSnapshots().expireOlderThan(work.older_than_ms).retainLast(work.retain_last).apply()
    going = {int(snapshot.snapshotId()) for snapshot in planned}
    outlived = _outlived(bench)
    if held := going.intersection(work.held):
        why = f"By a branch's own retention {len(held)} snapshots would go that a reader or writer needs, such as {min(held)}."
        raise Refusal("BRANCH_RETENTION", why)
    counts = dict.fromkeys(("deleted_data_files", "deleted_delete_files", "deleted_manifests", "deleted_manifest_lists"), 0)
    if going or outlived:
        done = bench.actions.expireSnapshots(table).expireOlderThan(work.older_than_ms).retainLast(work.retain_last).execute()
        counts = {
            "deleted_data_files": int(done.deletedDataFilesCount()),
            "deleted_delete_files": int(done.deletedPositionDeleteFilesCount()) + int(done.deletedEqualityDeleteFilesCount()),
            "deleted_manifests": int(done.deletedManifestsCount()),
            "deleted_manifest_lists": int(done.deletedManifestListsCount()),
        }
    table.refresh()
    left = snapshots(table)
    if still := going & left.keys():
        raise Refusal("SNAPSHOTS_LEFT", f"{len(still)} of {len(going)} snapshots that were to expire are there still.")
    if kept := outlived & _outlived(bench):
        raise Refusal("SNAPSHOTS_LEFT", f"{', '.join(sorted(kept))}: older than they may be, and there still.")
    return {
        "snapshot_before": head,
        "snapshot_after": bench.current,
        "expired_snapshots": len(there - left.keys()),
        "allowed_snapshots": len(going),
        "dropped_refs": len(outlived),
        **counts,
    }


def _outlived(bench: Bench) -> frozenset[str]:
    """Branches and tags that have become older than they may: an expiry drops them, whatever snapshots go."""
    table, now = bench.table, time.time() * 1000
    longest = table.properties().get("history.expire.max-ref-age-ms")
    found: set[str] = set()
    for name in table.refs():
        ref = table.refs().get(name)
        most = ref.maxRefAgeMs() if ref.maxRefAgeMs() is not None else longest
        snapshot = table.snapshot(ref.snapshotId())
        if name != "main" and most is not None and (snapshot is None or now - snapshot.timestampMillis() > int(most)):
            found.add(str(name))
    return frozenset(found)


def remove_orphans(bench: Bench, work: RemoveOrphans) -> dict[str, int | None]:
    """``orphans``: files found, and removed unless it is a dry run; ``orphan_bytes`` None where there are too many to be asked."""
    _refuse_without_gc(bench)
    if work.older_than_ms > time.time() * 1000 - _DAY_MS:
        raise Refusal("ORPHANS_TOO_YOUNG", "A file that is younger than 24 hours may belong to a write that has not committed yet.")
    mode = bench.jvm.org.apache.iceberg.actions.DeleteOrphanFiles.PrefixMismatchMode.valueOf(work.prefix_mismatch.upper())
    # A builder of a stream takes what it is given and does nothing with it: so the action lists, and deletes nothing.
    listing = bench.actions.deleteOrphanFiles(bench.table).deleteWith(bench.jvm.java.util.stream.Stream.builder())
    found = [str(path) for path in listing.olderThan(work.older_than_ms).prefixMismatchMode(mode).execute().orphanFileLocations()]
    size = _bytes(bench, found)
    if found and not work.dry_run:
        paths = bench.jvm.java.util.ArrayList()
        for path in found:
            paths.add(path)
        bench.jvm.org.apache.iceberg.CatalogUtil.deleteFiles(bench.table.io(), paths, "orphan", True)
        left = [path for path in found[:_MEASURED] if bench.table.io().newInputFile(path).exists()]
        if left:
            raise Refusal("FILES_LEFT", f"{len(left)} of {len(found)} orphan files could not be removed, such as {left[0]}.")
    return {"orphans": len(found), "orphan_bytes": size}


def _bytes(bench: Bench, paths: list[str]) -> int | None:
    if len(paths) > _MEASURED:
        return None
    files = (bench.table.io().newInputFile(path) for path in paths)
    return sum(int(file.getLength()) for file in files if file.exists())


def _refuse_without_gc(bench: Bench) -> None:
    said = bench.table.properties().get("gc.enabled")
    if said is not None and str(said).lower() != "true":  # what is not true is false to Iceberg
        raise Refusal("GC_DISABLED", f'The table says gc.enabled = "{said}": its files may belong to other tables, too.')
