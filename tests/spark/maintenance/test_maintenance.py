"""Maintenance as an application carries it out: what it does to a table, what it says of it, and what it
refuses.
"""

import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from flareiac_iceberg_runtime.kinds.compaction.perform import RewriteDataFiles
from flareiac_iceberg_runtime.kinds.delete_rewrite.perform import RewriteDeleteFiles
from flareiac_iceberg_runtime.kinds.manifest_rewrite.perform import RewriteManifests
from flareiac_iceberg_runtime.kinds.orphan_removal.perform import RemoveOrphans
from flareiac_iceberg_runtime.kinds.retention.perform import DeleteRows
from flareiac_iceberg_runtime.kinds.snapshot_expiry.perform import ExpireSnapshots
from tests.spark.maintained import Kept, now_ms, row

Lake = Any
"""The fixtures' own type; conftest files cannot be imported under this import mode."""

pytestmark = pytest.mark.jvm

COLUMNS = [("ts", "timestamptz"), ("k", "string"), ("n", "long")]
FEW: Mapping[str, str] = {"min-input-files": "2"}
DAY_MS = 24 * 3_600_000


@pytest.fixture
def kept(lake: Lake, request: pytest.FixtureRequest) -> Kept:
    name = f"t{abs(hash(request.node.name))}"
    return Kept(lake=lake, name=name, uuid=lake.table(name, *COLUMNS))


@pytest.mark.parametrize(
    "work",
    [
        RewriteDataFiles(strategy="binpack", options=FEW),
        RewriteDataFiles(strategy="sort", sort_order="n DESC NULLS LAST, bucket(4, k)", options=FEW),
        RewriteDataFiles(strategy="zorder", sort_order="zorder(k, `n`)", options=FEW),
        RewriteDataFiles(
            strategy="binpack",
            options={**FEW, "partial-progress.enabled": "true", "partial-progress.max-commits": "2"},
        ),
    ],
    ids=["binpack", "sort", "zorder", "partial"],
)
def test_data_files_are_rewritten_once(kept: Kept, work: RewriteDataFiles) -> None:
    last = kept.fill(4)[-1]
    size = sum(task.file.file_size_in_bytes for task in kept.loaded().scan().plan_files())
    done = kept.maintain(work)
    assert (kept.files(), kept.numbers()) == (1, [0, 1, 2, 3])
    assert kept.summary()["flareiac.operation"] == "k1"
    head = kept.loaded().metadata.current_snapshot_id
    assert done.result == {
        "snapshot_before": last,
        "snapshot_after": head,
        "rows_before": 4,
        "rows_after": 4,
        "rewritten_files": 4,
        "rewritten_bytes": size,
        "added_files": 1,
        "removed_delete_files": 0,
        "failed_files": 0,
    }
    again = kept.maintain(work)
    assert again == replace(done, found=True)
    assert kept.loaded().metadata.current_snapshot_id == head


def test_only_files_of_the_filter_are_rewritten(kept: Kept) -> None:
    kept.fill(4)
    kept.append({**row(9), "k": "b"})
    kept.append({**row(10), "k": "b"})
    done = kept.maintain(RewriteDataFiles(strategy="binpack", where="k = 'b'", options=FEW))
    assert (done.result["rewritten_files"], done.result["added_files"], kept.files()) == (2, 1, 5)


def test_nothing_to_rewrite_is_said_so(kept: Kept) -> None:
    head = kept.append(row(1))
    done = kept.maintain(RewriteDataFiles(strategy="binpack"))
    assert (done.result["rewritten_files"], done.result["snapshot_after"], done.result["rows_after"]) == (
        0,
        head,
        1,
    )
    assert kept.maintain(RewriteManifests(), key="k2").result["snapshot_after"] == head
    assert kept.maintain(RewriteDeleteFiles(), key="k3").result["rewritten_delete_files"] == 0


def test_manifests_are_rewritten(kept: Kept) -> None:
    kept.fill(3)
    done = kept.maintain(RewriteManifests())
    assert (done.result["rewritten_manifests"], done.result["added_manifests"]) == (3, 1)
    assert len(kept.loaded().current_snapshot().manifests(kept.loaded().io)) == 1
    assert (done.result["rows_before"], done.result["rows_after"], kept.numbers()) == (3, 3, [0, 1, 2])


@pytest.mark.parametrize(
    ("work", "code", "said"),
    [
        (RewriteDataFiles(strategy="binpack", options={"no-such-option": "1"}), "FIK116", "no-such-option"),
        (RewriteDataFiles(strategy="sort"), "FIK116", "sort"),
        (RewriteDataFiles(strategy="binpack", where="nowhere = 1"), "FIK122", "nowhere"),
        (RemoveOrphans(older_than_ms=2**42), "FIK119", "24 hours"),
        (DeleteRows(column="n", type="long", before_ms=1), "FIK125", "long"),
    ],
)
def test_what_iceberg_does_not_take_is_told(kept: Kept, work: object, code: str, said: str) -> None:
    head = kept.append(row(1))
    found, detail = kept.refused(work)
    assert (found, said in detail) == (code, True), detail
    assert kept.loaded().metadata.current_snapshot_id == head


def test_a_table_that_is_gone_or_another_is_told(kept: Kept) -> None:
    work = RewriteManifests()
    assert replace(kept, uuid="00000000-0000-0000-0000-000000000000").refused(work)[0] == "FIK111"
    kept.lake.catalog.drop_table(("demo", kept.name))
    assert kept.refused(work)[0] == "FIK110"


def test_snapshots_older_than_a_time_expire_and_the_newest_stay(kept: Kept) -> None:
    ids = kept.fill(5)
    kept.maintain(RewriteDataFiles(strategy="binpack", options=FEW))
    head = kept.loaded().metadata.current_snapshot_id
    times = {item.snapshot_id: item.timestamp_ms for item in kept.loaded().snapshots()}
    done = kept.maintain(ExpireSnapshots(older_than_ms=times[ids[3]], retain_last=1), key="k2")
    assert kept.snapshots() == {ids[3], ids[4], head}
    assert (
        done.result["expired_snapshots"],
        done.result["deleted_data_files"],
        done.result["deleted_manifest_lists"],
    ) == (3, 0, 3)
    done = kept.maintain(ExpireSnapshots(older_than_ms=now_ms() + 1, retain_last=1), key="k3")
    assert kept.snapshots() == {head}
    assert (done.result["expired_snapshots"], done.result["deleted_data_files"]) == (2, 5)
    assert kept.numbers() == [0, 1, 2, 3, 4]
    again = kept.maintain(ExpireSnapshots(older_than_ms=now_ms() + 2, retain_last=1), key="k3")
    assert (again.result["expired_snapshots"], again.found) == (0, False)


def test_tags_and_branches_whose_time_has_passed_go_though_no_snapshot_does(kept: Kept) -> None:
    ids = kept.fill(2)
    change = kept.loaded().manage_snapshots().create_tag(ids[1], "old", max_ref_age_ms=1)
    change.create_branch(ids[1], "gone", max_ref_age_ms=1).create_tag(
        ids[1], "young", max_ref_age_ms=DAY_MS
    ).commit()
    done = kept.maintain(ExpireSnapshots(older_than_ms=now_ms() - DAY_MS, retain_last=1))
    assert (set(kept.loaded().refs()), kept.snapshots()) == ({"main", "young"}, set(ids))
    assert (
        done.result["dropped_refs"],
        done.result["expired_snapshots"],
        done.result["allowed_snapshots"],
    ) == (2, 0, 0)


def test_a_retention_of_a_branch_takes_nothing_that_is_held(kept: Kept) -> None:
    ids = kept.fill(3)
    kept.loaded().manage_snapshots().create_branch(
        ids[-1], "main", max_snapshot_age_ms=1, min_snapshots_to_keep=1
    ).commit()
    old = now_ms() - DAY_MS
    code, _detail = kept.refused(ExpireSnapshots(older_than_ms=old, retain_last=1, held=(ids[1],)))
    assert (code, kept.snapshots()) == ("FIK118", set(ids))
    assert (
        kept.maintain(ExpireSnapshots(older_than_ms=old, retain_last=1, held=(ids[2],))).result[
            "expired_snapshots"
        ]
        == 2
    )


def test_a_table_whose_files_belong_to_others_keeps_them(kept: Kept) -> None:
    kept.fill(2)
    with kept.loaded().transaction() as change:
        change.set_properties({"gc.enabled": "false"})
    assert kept.refused(ExpireSnapshots(older_than_ms=now_ms(), retain_last=1))[0] == "FIK117"
    assert kept.refused(RemoveOrphans(older_than_ms=now_ms() - 2 * DAY_MS))[0] == "FIK117"


def test_orphans_are_found_weighed_and_removed(kept: Kept) -> None:
    kept.fill(2)
    folder = Path(kept.loaded().location().removeprefix("file://")) / "data"
    old, young = (folder / f"00000-1-{uuid4()}-00001.parquet" for _ in range(2))
    for file in (old, young):
        file.write_bytes(b"x" * 100)
    os.utime(old, (time.time() - 3 * 86400,) * 2)
    dry = kept.maintain(RemoveOrphans(older_than_ms=now_ms() - 2 * DAY_MS, dry_run=True))
    assert (dry.result, old.exists()) == ({"orphans": 1, "orphan_bytes": 100}, True)
    done = kept.maintain(RemoveOrphans(older_than_ms=now_ms() - 2 * DAY_MS))
    assert (done.result, old.exists(), young.exists()) == ({"orphans": 1, "orphan_bytes": 100}, False, True)
    assert kept.numbers() == [0, 1]


def test_what_another_catalog_commits_to_the_same_table_is_no_orphan(kept: Kept) -> None:
    """Metadata of the same uuid: a second catalog took the table over when it had one snapshot, and both went
    on.
    """
    from pyiceberg.catalog.sql import SqlCatalog

    kept.fill(1)
    location = Path(kept.loaded().location().removeprefix("file://"))
    twin = SqlCatalog("twin", uri=f"sqlite:///{location.parent}/twin.db", warehouse=str(location.parent))
    twin.create_namespace("demo")
    table = twin.register_table(("demo", "twin"), kept.loaded().metadata_location)
    for number in (10, 11):
        table.append(kept.loaded().scan().to_arrow())
        kept.append(row(number))
    for file in location.rglob("*.*"):
        os.utime(file, (time.time() - 3 * 86400,) * 2)
    before = sorted(location.rglob("*.*"))
    code, why = kept.refused(RemoveOrphans(older_than_ms=now_ms() - 2 * DAY_MS))
    assert (code, "Another catalog has committed" in why) == ("FIK127", True)
    assert sorted(location.rglob("*.*")) == before
    assert len(twin.load_table(("demo", "twin")).scan().to_arrow()) == 4
    twin.close()


def _aged(location: Path) -> list[Path]:
    files = sorted(item for item in location.rglob("*") if item.is_file())
    for file in files:
        os.utime(file, (time.time() - 3 * 86400,) * 2)
    return files


def test_the_first_commit_to_a_copy_stays_with_all_that_it_names(kept: Kept) -> None:
    """A killed writer leaves the same. The own past of the table goes once its snapshots have expired."""
    from pyiceberg.catalog.sql import SqlCatalog

    with kept.loaded().transaction() as change:
        change.set_properties({"write.metadata.previous-versions-max": "1"})
    kept.fill(2)
    location = Path(kept.loaded().location().removeprefix("file://"))
    twin = SqlCatalog("twin", uri=f"sqlite:///{location.parent}/twin1.db", warehouse=str(location.parent))
    twin.create_namespace("demo")
    table = twin.register_table(("demo", "twin"), kept.loaded().metadata_location)
    table.append(kept.loaded().scan().to_arrow())
    last = kept.fill(3)[-1]
    lost = location / "data" / f"00000-1-{uuid4()}-00001.parquet"
    lost.write_bytes(b"x" * 100)
    _aged(location)
    done = kept.maintain(RemoveOrphans(older_than_ms=now_ms() - 2 * DAY_MS))
    assert (done.result["orphans"], lost.exists()) == (1, False)
    assert done.result["unclear"] == [
        "file:" + twin.load_table(("demo", "twin")).metadata_location.removeprefix("file://")
    ]
    assert len(twin.load_table(("demo", "twin")).scan().to_arrow()) == 4
    twin.close()
    kept.maintain(ExpireSnapshots(older_than_ms=now_ms() + 1, retain_last=1), key="k2")
    before = len(_aged(location))
    done = kept.maintain(RemoveOrphans(older_than_ms=now_ms() - 2 * DAY_MS), key="k3")
    assert done.result["orphans"] == before - len(_aged(location)) == 3
    assert (kept.snapshots(), kept.numbers()) == ({last}, [0, 0, 1, 1, 2])


@pytest.mark.parametrize("way", ["link", "name"])
def test_a_file_that_a_snapshot_names_in_another_spelling_is_no_orphan(kept: Kept, way: str) -> None:
    """Through a link it is the same file; a copy with its name and length could be, through two mounts."""
    kept.fill(1)
    location = Path(kept.loaded().location().removeprefix("file://"))
    file = next((location / "data").iterdir())
    own = location / "data" / f"00000-1-{uuid4()}-00001.parquet"
    shutil.copy(file, own)
    other = location.parent / f"other{uuid4().hex}"
    if way == "link":
        other.symlink_to(location / "data")
    else:
        other.mkdir()
        shutil.copy(own, other)
    kept.loaded().add_files([f"{other}/{own.name}"])
    before = _aged(location)
    code, why = kept.refused(RemoveOrphans(older_than_ms=now_ms() - 2 * DAY_MS))
    assert (code, f"{other}/{own.name}" in why) == ("FIK128", True)
    assert (_aged(location), kept.numbers()) == (before, [0, 0])


def test_rows_are_deleted_by_whole_files_and_else_one_by_one(kept: Kept) -> None:
    kept.append(row(1, day=1), row(2, day=2))
    kept.append(row(3, day=3), row(4, day=4))
    before_ms = int(row(0, day=3)["ts"].timestamp() * 1000)
    done = kept.maintain(DeleteRows(column="ts", type="timestamptz", before_ms=before_ms))
    assert (done.result["deleted_rows"], kept.numbers(), kept.summary()["operation"]) == (2, [3, 4], "delete")
    done = kept.maintain(DeleteRows(column="ts", type="timestamptz", before_ms=before_ms + DAY_MS), key="k2")
    assert (done.result["deleted_rows"], kept.numbers(), kept.summary()["operation"]) == (1, [4], "overwrite")
    assert kept.summary()["flareiac.operation"] == "k2"
    head = kept.loaded().metadata.current_snapshot_id
    none = kept.maintain(DeleteRows(column="ts", type="timestamptz", before_ms=before_ms), key="k3")
    assert (none.result["deleted_rows"], none.result["snapshot_after"]) == (0, head)


def test_rows_are_counted_where_files_of_deletes_stand_beside_them(kept: Kept) -> None:
    """Summaries count rows of data files, dead ones too."""
    with kept.loaded().transaction() as change:
        change.set_properties({"write.delete.mode": "merge-on-read"})
    kept.append(row(1, day=1), row(2, day=2))
    kept.append(row(3, day=1), row(4, day=2))
    before_ms = int(row(0, day=2)["ts"].timestamp() * 1000)
    deleted = kept.maintain(DeleteRows(column="ts", type="timestamptz", before_ms=before_ms))
    assert (deleted.result["deleted_rows"], kept.numbers(), kept.summary()["total-records"]) == (
        2,
        [2, 4],
        "4",
    )
    files = int(kept.summary()["total-delete-files"])
    assert files > 0

    again = kept.maintain(RewriteDeleteFiles(options={"rewrite-all": "true"}), key="k2")
    assert (
        again.result["rewritten_delete_files"],
        again.result["rows_before"],
        again.result["rows_after"],
    ) == (files, 2, 2)
    work = RewriteDataFiles(
        strategy="binpack", options={"rewrite-all": "true", "remove-dangling-deletes": "true"}
    )
    done = kept.maintain(work, key="k3")
    assert (done.result["rewritten_files"], done.result["added_files"]) == (2, 1)
    assert (done.result["rows_before"], done.result["rows_after"], kept.numbers()) == (2, 2, [2, 4])
    assert kept.maintain(work, key="k3").found
