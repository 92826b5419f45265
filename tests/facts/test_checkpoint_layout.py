"""The content of a checkpoint, file by file: the ground of everything that is read of it without a JVM."""

import json

import pytest

from tests.facts.ids import fact
from tests.facts.lake import Lake, batches, entry, forget

pytestmark = pytest.mark.jvm

PINNED = {
    "spark.sql.optimizer.pruneFiltersCanPruneStreamingSubplan": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.streaming.aggregation.stateFormatVersion": "2",
    "spark.sql.streaming.flatMapGroupsWithState.stateFormatVersion": "2",
    "spark.sql.streaming.join.stateFormatVersion": "2",
    "spark.sql.streaming.multipleWatermarkPolicy": "min",
    "spark.sql.streaming.stateStore.compression.codec": "lz4",
    "spark.sql.streaming.stateStore.encodingFormat": "unsaferow",
    "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",
    "spark.sql.streaming.stateStore.rocksdb.formatVersion": "5",
    "spark.sql.streaming.statefulOperator.useStrictDistribution": "true",
}
SUM = "SELECT k, sum(n) AS total FROM events GROUP BY k"


@fact("checkpoint.metadata")
def test_metadata_names_the_query(lake: Lake) -> None:
    """The id outlives restarts; the run id does not, and stands nowhere."""
    lake.create("out", {"k": "string"})
    lake.land("events", [{"k": "a"}])
    runs = [lake.run(lake.files("events").select("k"), "out") for _ in range(2)]
    assert json.loads((lake.checkpoint() / "metadata").read_text()) == {"id": runs[0].id}
    assert runs[0].id == runs[1].id
    assert runs[0].runId != runs[1].runId


def test_offsets_hold_watermark_confs_and_a_position_for_each_source(lake: Lake) -> None:
    """Version, then what was in force, then one line for each source."""
    lake.create("out", {"k": "string"})
    lake.land("events", [{"k": "a", "at": "2026-01-01T00:10:00Z"}])
    lake.land("more", [{"k": "b"}])
    both = (
        lake.files("events").withWatermark("at", "1 minute").select("k").union(lake.files("more").select("k"))
    )
    lake.run(both, "out")
    version, metadata, *sources = entry(lake.checkpoint(), "offsets", 0)
    assert version == "v1"
    known = json.loads(metadata)
    assert {"batchWatermarkMs", "batchTimestampMs", "conf"} <= known.keys()
    assert [json.loads(source) for source in sources] == [{"logOffset": 0}, {"logOffset": 0}]


def test_commits_hold_the_next_watermark(lake: Lake) -> None:
    """A batch without an entry here is in flight and is replayed with the same offsets."""
    lake.create("out", {"k": "string", "total": "long"})
    lake.land("events", [{"k": "a", "n": 1, "at": "2026-01-01T00:10:00Z"}])
    lake.files("events").withWatermark("at", "1 minute").createOrReplaceTempView("events")
    lake.run(lake.spark.sql("SELECT k, n AS total FROM events"), "out")
    version, content = entry(lake.checkpoint(), "commits", 0)
    assert version == "v1"
    assert json.loads(content)["nextBatchWatermarkMs"] == 1_767_226_140_000
    assert batches(lake.checkpoint(), "offsets")[0] == 0


def test_a_file_source_logs_what_it_read(lake: Lake) -> None:
    """Path, time of change and batch of each file."""
    lake.create("out", {"k": "string"})
    for k in ("a", "b"):
        lake.land("events", [{"k": k}])
        lake.run(lake.files("events").select("k"), "out")
    for batch in (0, 1):
        version, line = entry(lake.checkpoint(), "sources/0", batch)
        found = json.loads(line)
        assert version == "v1"
        assert found["batchId"] == batch
        assert found["path"] == f"file://{lake.folder}/events/{batch:04}.json"
        assert found["timestamp"] == (1_700_000_000 + batch) * 1000


@fact("checkpoint.table-offset")
def test_a_table_source_keeps_the_snapshot_it_has_reached(lake: Lake) -> None:
    """From this the oldest snapshot that a reader still needs is known."""
    lake.create("source", {"k": "string"})
    lake.create("out", {"k": "string"})
    lake.spark.sql(f"INSERT INTO {lake.name('source')} VALUES ('a')")
    lake.run(lake.spark.readStream.table(lake.name("source")), "out")
    snapshot = lake.load("source").current_snapshot()
    assert snapshot is not None
    (reached,) = entry(lake.checkpoint(), "offsets", 0)[2:]
    assert json.loads(reached) == {
        "version": 1,
        "snapshot_id": snapshot.snapshot_id,
        "position": 1,
        "scan_all_files": False,
    }
    initial = json.loads((lake.checkpoint() / "sources/0/offsets/0").read_text().splitlines()[-1])
    assert initial == {
        "version": 1,
        "snapshot_id": snapshot.snapshot_id,
        "position": 0,
        "scan_all_files": False,
    }


@fact("checkpoint.operators")
def test_state_names_its_operators(lake: Lake) -> None:
    """The state of a query and its operators are known before anything starts."""
    lake.create("out", {"k": "string", "total": "long"})
    lake.land("events", [{"k": "a", "n": 1}])
    lake.files("events").createOrReplaceTempView("events")
    lake.run(lake.spark.sql(SUM), "out", mode="complete")
    version, content = (lake.checkpoint() / "state/0/_metadata/metadata").read_text().splitlines()
    assert version == "v1"
    assert json.loads(content) == {
        "operatorInfo": {"operatorId": 0, "operatorName": "stateStoreSave"},
        "stateStoreInfo": [{"storeName": "default", "numColsPrefixKey": 0, "numPartitions": 2}],
    }


@fact("checkpoint.no-state")
def test_a_stateless_query_has_no_state_directory(lake: Lake) -> None:
    """So that its SQL may change."""
    lake.create("out", {"k": "string"})
    lake.land("events", [{"k": "a"}])
    lake.run(lake.files("events").select("k"), "out")
    assert not (lake.checkpoint() / "state").exists()


@fact("pinned.list")
def test_confs_are_pinned_in_the_offset_log(lake: Lake) -> None:
    """These, and no others, are read back from the checkpoint at a restart."""
    lake.create("out", {"k": "string", "total": "long"})
    lake.land("events", [{"k": "a", "n": 1}])
    lake.files("events").createOrReplaceTempView("events")
    lake.run(lake.spark.sql(SUM), "out", mode="complete")
    assert json.loads(entry(lake.checkpoint(), "offsets", 0)[1])["conf"] == PINNED


@fact("checkpoint.in-flight")
def test_a_batch_in_flight_is_replayed_with_its_old_offsets(lake: Lake) -> None:
    """A file that landed later is no part of it: plan can say what will be written again."""
    lake.create("out", {"k": "string"})
    lake.create("again", {"k": "string"})
    lake.land("events", [{"k": "a"}])
    lake.run(lake.files("events").select("k"), "out")
    forget(lake.checkpoint(), "commits", 0)
    lake.land("events", [{"k": "b"}])
    lake.run(lake.files("events").select("k"), "again")
    assert [item["added-records"] for item in lake.summaries("again")] == ["1", "1"]
    assert batches(lake.checkpoint(), "offsets") == [0, 1]


@fact("pinned.conf")
def test_a_pinned_conf_keeps_its_first_value(lake: Lake) -> None:
    """Class *no effect*: the offset log, not the session, says how many shuffle partitions a query has."""
    lake.create("out", {"k": "string", "total": "long"})
    for n, partitions in ((1, "2"), (2, "3")):
        lake.spark.conf.set("spark.sql.shuffle.partitions", partitions)
        lake.land("events", [{"k": "a", "n": n}])
        lake.files("events").createOrReplaceTempView("events")
        lake.run(lake.spark.sql(SUM), "out", mode="complete")
    for batch in batches(lake.checkpoint(), "offsets"):
        assert '"spark.sql.shuffle.partitions":"2"' in entry(lake.checkpoint(), "offsets", batch)[1]
    assert sorted(item.name for item in (lake.checkpoint() / "state" / "0").iterdir()) == [
        "0",
        "1",
        "_metadata",
    ]


@fact("pinned.provider")
def test_a_pinned_state_store_keeps_its_provider(lake: Lake) -> None:
    """Class *no effect*: what the session says later does not reach a checkpoint that began with another
    one.
    """
    lake.create("out", {"k": "string", "total": "long"})
    rocks = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    for n, provider in ((1, None), (2, rocks)):
        if provider:
            lake.spark.conf.set("spark.sql.streaming.stateStore.providerClass", provider)
        lake.land("events", [{"k": "a", "n": n}])
        lake.files("events").createOrReplaceTempView("events")
        lake.run(lake.spark.sql(SUM), "out", mode="complete")
    assert lake.rows("out") == [("a", 3)]
    assert json.loads(entry(lake.checkpoint(), "offsets", 1)[1])["conf"] == PINNED


@fact("pinned.not-listed")
def test_a_conf_that_is_not_in_the_log_takes_effect(lake: Lake) -> None:
    """Class *restart*."""
    lake.create("out", {"k": "string"})
    for zone in ("UTC", "Asia/Tokyo"):
        lake.spark.conf.set("spark.sql.session.timeZone", zone)
        lake.land("events", [{"k": "a"}])
        lake.run(lake.files("events").selectExpr("current_timezone() AS k"), "out")
    assert lake.rows("out") == [("Asia/Tokyo",), ("UTC",)]
