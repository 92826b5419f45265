"""Maintenance that is cut off: the driver dies in it or after it, the command goes away, two are asked for at
a time.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from flareiac.kernel.diagnostics import Failure
from flareiac_iceberg_runtime.kinds.compaction.perform import RewriteDataFiles
from flareiac_iceberg_runtime.kinds.retention.perform import DeleteRows
from flareiac_iceberg_runtime.kinds.snapshot_expiry.perform import ExpireSnapshots
from flareiac_spark_runtime.driver.maintenance import TableLocks
from tests.spark.maintained import Kept, now_ms, row

Lake = Any
"""The fixtures' own type; conftest files cannot be imported under this import mode."""

COLUMNS = [("ts", "timestamptz"), ("k", "string"), ("n", "long")]
COMPACT = RewriteDataFiles(strategy="binpack", options={"min-input-files": "2"})


def marked(kept: Kept, key: str) -> int:
    """The number of snapshots that an operation left."""
    found = [
        item.summary.additional_properties.get("flareiac.operation") for item in kept.loaded().snapshots()
    ]
    return found.count(key)


@pytest.mark.jvm
def test_a_driver_that_is_killed_in_maintenance_or_after_it_does_it_once(
    own_lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Kept(lake=own_lake, name="t", uuid=own_lake.table("t", *COLUMNS))
    kept.append(row(9, day=9), row(1, day=1))
    ids = kept.fill(4)

    def killed(point: str, work: object, key: str) -> None:
        monkeypatch.setenv("FLAREIAC_KILL_AT", point)
        assert kept.refused(work, key)[0] == "FIK113"

    killed("driver.maintenance-begun@rewrite_data_files", COMPACT, "k1")
    assert marked(kept, "k1") == 0
    killed("driver.maintenance-done-before-result@rewrite_data_files", COMPACT, "k1")
    assert marked(kept, "k1") == 1

    # The next life does not do it again, and dies in the next work.
    before_ms = int(row(0, day=2)["ts"].timestamp() * 1000)
    delete = DeleteRows(column="ts", type="timestamptz", before_ms=before_ms)
    monkeypatch.setenv("FLAREIAC_KILL_AT", "driver.maintenance-done-before-result@delete_rows")
    done = kept.maintain(COMPACT, "k1")
    assert (done.found, done.result["rewritten_files"], done.result["rows_after"]) == (True, 5, 6)
    assert kept.refused(delete, "k2")[0] == "FIK113"

    expire = ExpireSnapshots(older_than_ms=now_ms() + 60_000, retain_last=1)
    monkeypatch.setenv("FLAREIAC_KILL_AT", "driver.maintenance-begun@expire_snapshots")
    done = kept.maintain(delete, "k2")
    assert (done.found, done.result["deleted_rows"], marked(kept, "k2")) == (True, 5, 1)
    assert kept.refused(expire, "k3")[0] == "FIK113"
    assert len(kept.snapshots()) == 3 + len(ids)
    killed("driver.maintenance-done-before-result@expire_snapshots", expire, "k3")
    assert len(kept.snapshots()) == 1
    monkeypatch.delenv("FLAREIAC_KILL_AT")
    assert kept.maintain(expire, "k3").result["expired_snapshots"] == 0
    assert (len(kept.snapshots()), kept.numbers()) == (1, [9])


@pytest.mark.jvm
def test_a_command_that_goes_away_leaves_the_work_running_and_finds_it_done(lake: Lake) -> None:
    kept = Kept(lake=lake, name="left", uuid=lake.table("left", *COLUMNS))
    kept.fill(3)
    kept.cancel.set()
    code, detail = kept.refused(COMPACT)
    assert (code, "continues" in detail) == ("FIK114", True)
    kept.cancel.clear()
    done = kept.outcome(COMPACT)
    assert done is not None
    assert (done.result["rewritten_files"], marked(kept, "k1"), kept.files(), kept.numbers()) == (
        3,
        1,
        1,
        [0, 1, 2],
    )
    assert kept.outcome(COMPACT) is None
    again = kept.maintain(COMPACT)
    assert (again.found, again.result["rewritten_files"], marked(kept, "k1")) == (True, 3, 1)


@pytest.mark.jvm
def test_work_on_one_table_is_done_one_after_the_other(lake: Lake) -> None:
    """An expiry in the middle of a rewrite would break it."""
    kept = Kept(lake=lake, name="both", uuid=lake.table("both", *COLUMNS))
    kept.fill(6)
    with ThreadPoolExecutor(2) as pool:
        rewritten = pool.submit(kept.maintain, COMPACT, "k1")
        expired = pool.submit(
            kept.maintain, ExpireSnapshots(older_than_ms=now_ms() + 60_000, retain_last=1), "k2"
        )
        assert rewritten.result().result["rewritten_files"] == 6
        assert expired.result().result["expired_snapshots"] in (5, 6)
    assert kept.numbers() == [0, 1, 2, 3, 4, 5]


def test_a_table_is_maintained_by_one_at_a_time() -> None:
    locks, inside, order = TableLocks(), threading.Event(), list[str]()

    def second() -> None:
        inside.wait()
        with locks.alone("a"):
            order.append("second")

    waiting = threading.Thread(target=second)
    with locks.alone("a"):
        waiting.start()
        inside.set()
        with locks.alone("b"):
            order.append("another table")
        order.append("first")
    waiting.join()
    assert order == ["another table", "first", "second"]


@pytest.mark.jvm
def test_what_failed_is_tried_again_when_asked_again(lake: Lake) -> None:
    kept = Kept(lake=lake, name="again", uuid=lake.table("again", *COLUMNS))
    kept.fill(2)
    lake.catalog.rename_table(("demo", "again"), ("demo", "elsewhere"))
    with pytest.raises(Failure):
        kept.maintain(COMPACT)
    lake.catalog.rename_table(("demo", "elsewhere"), ("demo", "again"))
    assert kept.maintain(COMPACT).result["rewritten_files"] == 2
