"""Readers that this project does not own: what their checkpoints say, and what an expiry keeps for them."""

import json
from pathlib import Path

import boto3
import pytest

from flareiac.sdk.maintenance import Hold
from flareiac_iceberg.catalogs.kinds import spec_of
from flareiac_iceberg.maintenance.figures import ReaderPosition
from flareiac_iceberg.maintenance.foreign_readers import holds, positions
from tests.iceberg.lake import CATALOG, Lake, Rejected, columns
from tests.support.moto_server import KEYS, moto_server

DAY = 86_400_000


def query(folder: Path, batches: list[list[int]], begun: list[int] | None = None, moved: int = 1000) -> Path:
    """A checkpoint with these snapshots, batch by batch; ``begun``: those of one that is not committed."""
    for log in ("offsets", "commits"):
        (folder / log).mkdir(parents=True)
    for number, ids in enumerate([*batches, *([begun] if begun else [])]):
        sources = [
            json.dumps({"version": 1, "snapshot_id": each, "position": 1, "scan_all_files": False})
            for each in ids
        ]
        header = json.dumps({"batchWatermarkMs": 0, "batchTimestampMs": moved + number, "conf": {}})
        (folder / "offsets" / str(number)).write_text("\n".join(["v1", header, *sources]))
        (folder / "offsets" / f".{number}.crc").write_text("x")
        if number < len(batches):
            (folder / "commits" / str(number)).write_text('v1\n{"nextBatchWatermarkMs":0}')
    return folder


def looked(lake: Lake, checkpoint: str) -> ReaderPosition:
    catalog = spec_of(CATALOG, lake.references[CATALOG].attributes)
    readers = {"reader": {"bi": {"checkpoint": checkpoint, "hold": None}}}
    return positions(readers, catalog, lake.project.root)["bi"]


def hold_of(found: ReaderPosition, ids: list[int]) -> Hold:
    attributes = {"reader": {"bi": {"checkpoint": "bi", "hold": None}}}
    (hold,) = holds("table.t", attributes, {"bi": found}, ids, 0)
    return hold


@pytest.mark.parametrize("written", ["{path}", "file://{path}", "bi"])
def test_a_checkpoint_says_where_its_query_stands(lake: Lake, written: str) -> None:
    path = query(lake.project.root / "bi", [[1], [2]])
    found = looked(lake, written.format(path=path))
    assert found == ReaderPosition(ids=(2,), moved_ms=1001)
    hold = hold_of(found, [1, 2, 3])
    assert (hold.snapshots, hold.moved_ms, hold.unknown) == ((2,), 1001, False)


def test_a_batch_that_is_not_committed_is_needed_whole(lake: Lake) -> None:
    query(lake.project.root / "bi", [[1], [2]], begun=[5])
    assert looked(lake, "bi").ids == (2, 5)


def test_a_checkpoint_of_flareiac_has_a_folder_for_each_output_and_generation(lake: Lake) -> None:
    root = lake.project.root / "bi"
    query(root / "hourly" / "g0001", [[1]], moved=900)
    query(root / "hourly" / "g0002", [[4]], moved=700)
    query(root / "daily" / "g0001", [[3]])
    found = looked(lake, "bi")
    assert sorted(found.ids) == [3, 4]
    assert found.moved_ms == 700


def test_what_cannot_be_read_holds_everything(lake: Lake) -> None:
    root = lake.project.root
    (root / "begun" / "offsets").mkdir(parents=True)
    (root / "begun" / "commits").mkdir()
    broken = query(root / "broken", [[1]])
    (broken / "offsets" / "0").write_text("v1\n{")
    for checkpoint in ("nothing", "begun", "broken", "gs://bucket/bi", "hdfs://host/bi"):
        found = looked(lake, checkpoint)
        assert found.trouble, checkpoint
        assert hold_of(found, [1, 2]).unknown, checkpoint


def test_a_position_in_another_table_or_in_an_expired_snapshot_holds_everything(lake: Lake) -> None:
    query(lake.project.root / "bi", [[7]])
    assert hold_of(looked(lake, "bi"), [1, 2]).unknown


def test_of_several_sources_only_this_table_counts(lake: Lake) -> None:
    query(lake.project.root / "bi", [[2, 700]])
    assert hold_of(looked(lake, "bi"), [1, 2]).snapshots == (2,)


def test_an_age_keeps_what_is_younger() -> None:
    (hold,) = holds("table.t", {"reader": {"bi": {"checkpoint": None, "hold": "10d"}}}, {}, (), 100 * DAY)
    assert hold.since_ms == 90 * DAY
    assert hold.fixed


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "FII190"),
        ({"checkpoint": "a", "hold": "10d"}, "FII190"),
        ({"hold": "ten"}, "FII086"),
        ({"hold": "0s"}, "FII086"),
    ],
)
def test_a_reader_has_one_of_the_two(lake: Lake, body: dict[str, str], code: str) -> None:
    reader = {"bi": dict.fromkeys(("checkpoint", "hold")) | body}
    with pytest.raises(Rejected) as rejected:
        lake.canonical("table", "t", {"namespace": "n", "column": columns(id="long"), "reader": reader})
    assert rejected.value.codes == [code]


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_checkpoint_in_s3_is_read_with_the_keys_of_the_catalog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    local = query(tmp_path / "bi", [[1], [2]])
    with moto_server() as endpoint:
        lake = Lake(tmp_path, {"properties": {"s3.endpoint": endpoint, "s3.region": "us-east-1"}})
        client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1")
        client.create_bucket(Bucket="others")
        for path in local.rglob("*"):
            if path.is_file():
                client.put_object(
                    Bucket="others", Key=f"jobs/{path.relative_to(tmp_path)}", Body=path.read_bytes()
                )
        assert looked(lake, "s3://others/jobs/bi") == ReaderPosition(ids=(2,), moved_ms=1001)
        assert looked(lake, "s3://others/jobs/none").trouble
        assert looked(lake, "s3://nowhere/bi").trouble
        lake.close()
