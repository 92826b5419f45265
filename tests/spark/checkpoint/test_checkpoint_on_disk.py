"""A checkpoint is read without Spark, and a damaged one is never taken for an empty one."""

import json
from pathlib import Path

import pytest

from flareiac.sdk.project import Project
from flareiac.sdk.requests import ReadRequest
from flareiac.sdk.results import Missing, Present, Unreadable
from flareiac_spark.checkpoint.driver import CheckpointDriver
from flareiac_spark.checkpoint_files.reader import CheckpointOnDisk, read_checkpoint
from flareiac_spark.observation.checkpoint import observed_facts
from flareiac_spark.sources.offsets import SourceOnDisk
from flareiac_spark_runtime.checkpoint_log import Damaged
from tests.spark.checkpoint_sample import PINNED, QUERY, sample

STATEFUL = "stateStoreSave"


def read(folder: Path) -> CheckpointOnDisk:
    found = read_checkpoint(folder)
    assert found is not None
    return found


def test_what_it_tells(tmp_path: Path) -> None:
    found = read(sample(tmp_path, operator=STATEFUL))
    assert (found.query_id, found.started, found.committed, found.in_flight) == (QUERY, 3, 3, None)
    assert found.watermark_ms == 3000
    assert found.conf == PINNED
    assert found.sources == (
        SourceOnDisk(index=0, kind="files", offset='{"logOffset": 3}', folders=("/data/in/day=3",)),
    )
    assert [(item.name, item.partitions) for item in found.operators] == [("stateStoreSave", 2)]


def test_a_time_that_no_long_holds_is_not_known(tmp_path: Path) -> None:
    folder = sample(tmp_path)
    newest = folder / "offsets" / "3"
    newest.write_text(newest.read_text().replace("1700000000003", "1" * 400))
    assert read(folder).begun_ms is None


def test_a_batch_that_was_begun_and_not_committed(tmp_path: Path) -> None:
    assert read(sample(tmp_path, committed=2, operator=STATEFUL)).in_flight == 3


def test_a_query_that_has_begun_no_batch(tmp_path: Path) -> None:
    (tmp_path / "metadata").write_text(json.dumps({"id": QUERY}))
    found = read(tmp_path)
    assert (found.started, found.committed, found.sources, found.operators) == (None, None, (), ())


def test_no_checkpoint(tmp_path: Path) -> None:
    assert read_checkpoint(tmp_path) is None
    assert read_checkpoint(tmp_path / "nowhere") is None


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ('{"logOffset":3}', "files"),
        ('{"version":1,"snapshot_id":7,"position":0,"scan_all_files":false}', "table"),
        ('{"0":{"value":5,"runTimeMs":1}}', "rate"),
        ("5", "rate"),
        ('{"topic":{"0":12}}', "kafka"),
        ('{"topic":[12]}', "unknown"),
    ],
)
def test_sources_are_told_by_their_offsets(tmp_path: Path, line: str, kind: str) -> None:
    sample(tmp_path, operator=STATEFUL)
    (tmp_path / "offsets" / "3").write_text(f'v1\n{{"conf":{{}}}}\n{line}')
    assert read(tmp_path).sources[0].kind == kind


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("metadata", ""),
        ("metadata", "{}"),
        ("metadata", "\x00\xff"),
        ("offsets/3", ""),
        ("offsets/3", 'v1\n{"batchWater'),
        ("offsets/3", "v1"),
        ("offsets/3", "v7\n{}"),
        ("offsets/3", 'v1\n{"conf":[]}\n{"logOffset":3}'),
        ("offsets/3", 'v1\n{"conf":{}}\n{"logOff'),
        ("sources/0/3", 'v1\n{"path'),
        ("state/0/_metadata/metadata", "v1\n{}"),
        ("state/0/_metadata/metadata", "v1\nnothing"),
    ],
)
def test_a_torn_file_is_named(tmp_path: Path, name: str, content: str) -> None:
    sample(tmp_path, operator=STATEFUL)
    (tmp_path / name).write_bytes(content.encode("latin-1"))
    with pytest.raises(Damaged) as caught:
        read_checkpoint(tmp_path)
    assert caught.value.path == tmp_path / name


@pytest.mark.disk_only  # hundreds of reads: what a cut file says does not depend on where it is
@pytest.mark.parametrize("name", ["offsets/3", "offsets/2", "commits/3"])
def test_every_cut_of_what_spark_reads_at_a_start_is_noticed(tmp_path: Path, name: str) -> None:
    sample(tmp_path, operator=STATEFUL)
    path = tmp_path / name
    content = path.read_bytes()
    for end in range(len(content)):
        path.write_bytes(content[:end])
        with pytest.raises(Damaged) as caught:
            read_checkpoint(tmp_path)
        assert caught.value.path == path


ATTRIBUTES = {
    "location": "checkpoints/x",
    "generation": 1,
    "start_from": None,
    "keep_generations": 2,
    "min_batches_to_retain": 100,
    "state_store": None,
    "on_destroy": "retain",
}


def request(import_id: str | None = None) -> ReadRequest:
    return ReadRequest(
        address="checkpoint.x", desired=ATTRIBUTES, recorded=None, references={}, import_id=import_id
    )


def test_reading_a_checkpoint_resource(tmp_path: Path) -> None:
    driver = CheckpointDriver(Project(root=tmp_path))
    assert isinstance(driver.read(request()), Missing)
    sample(tmp_path / "checkpoints" / "x" / "out" / "g0001", operator=STATEFUL)
    found = driver.read(request())
    assert isinstance(found, Present)
    assert found.identity == {"layout": "generations", "layout_generation": None}
    facts = observed_facts(found)
    assert facts is not None
    assert (facts.used, [item.number for item in facts.queries]) == (True, [1])


def test_a_hand_made_checkpoint_keeps_its_place(tmp_path: Path) -> None:
    sample(tmp_path / "checkpoints" / "x", operator=STATEFUL)
    found = CheckpointDriver(Project(root=tmp_path)).read(
        request(import_id=f"file://{tmp_path}/checkpoints/x")
    )
    assert isinstance(found, Present)
    assert (found.identity["layout"], found.identity["layout_generation"]) == ("single", 1)


def test_damage_is_unreadable_and_never_missing(tmp_path: Path) -> None:
    sample(tmp_path / "checkpoints" / "x" / "out" / "g0001", operator=STATEFUL)
    broken = tmp_path / "checkpoints" / "x" / "out" / "g0001" / "offsets" / "3"
    broken.write_text("v1\n{")
    found = CheckpointDriver(Project(root=tmp_path)).read(request())
    assert isinstance(found, Unreadable)
    assert str(broken) in found.diagnostic.detail


def several(folder: Path, logs: dict[int, str], *positions: int) -> Path:
    """The first batch of a query over files with these logs (number to folder) and these positions."""
    for part in ("offsets", "commits"):
        (folder / part).mkdir(parents=True)
    (folder / "metadata").write_text(json.dumps({"id": QUERY}))
    lines = [json.dumps({"logOffset": position}) for position in positions]
    (folder / "offsets" / "0").write_text(
        "\n".join(["v1", json.dumps({"batchWatermarkMs": 0, "conf": {}}), *lines])
    )
    for number, place in logs.items():
        (folder / "sources" / str(number)).mkdir(parents=True)
        (folder / "sources" / str(number) / "0").write_text(
            f"v1\n{json.dumps({'path': f'file://{place}/f.json', 'timestamp': 1, 'batchId': 0})}"
        )
    return folder


@pytest.mark.parametrize(
    ("logs", "positions", "found"),
    [
        ({0: "/a"}, (0, 0), [(0, ("/a",))]),
        ({0: "/a", 1: "/b"}, (0, 0, 0), [(0, ("/a",)), (1, ("/b",))]),
        ({0: "/a", 1: "/b"}, (0, -1, 0), [(0, ("/a",)), (1, ("/b",))]),
        ({0: "/a", 1: "/b"}, (0, 0), [(0, ("/a",)), (1, ("/b",))]),
    ],
)
def test_a_source_that_is_read_several_times_has_one_log(
    tmp_path: Path, logs: dict[int, str], positions: tuple[int, ...], found: list[tuple[int, tuple[str, ...]]]
) -> None:
    assert [(item.index, item.folders) for item in read(several(tmp_path, logs, *positions)).sources] == found
