"""Whatever happened to a checkpoint's files, it is told as damage; who looks beside a running query is not
fooled.
"""

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flareiac.sdk.project import Project
from flareiac.sdk.requests import ReadRequest
from flareiac.sdk.results import Present, Recorded, Unreadable
from flareiac_spark.checkpoint.driver import CheckpointDriver
from flareiac_spark.checkpoint_files import reader
from flareiac_spark.checkpoint_files.generations import damage
from flareiac_spark.checkpoint_files.reader import CheckpointOnDisk, read_checkpoint
from flareiac_spark_runtime import checkpoint_log
from flareiac_spark_runtime.checkpoint_log import Damaged, TooNew, Unreachable
from tests.spark.checkpoint_sample import QUERY, sample

ATTRIBUTES = {
    "location": "x",
    "generation": 2,
    "start_from": None,
    "keep_generations": 2,
    "min_batches_to_retain": 100,
    "state_store": None,
    "on_destroy": "retain",
}


def read(folder: Path) -> CheckpointOnDisk:
    found = read_checkpoint(folder)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("gone", "named"),
    [
        (("metadata",), "metadata"),
        (("metadata", "offsets"), "metadata"),
        (("offsets",), "commits/3"),
        (("offsets/3",), "commits/3"),
        (("offsets/2",), "offsets/2"),
        (("commits",), "commits/2"),
        (("commits/2", "commits/3"), "commits/2"),
        (("sources",), "sources/0/3"),
        (("sources/0/3",), "sources/0/3"),
        (("state/0",), "state/0"),
    ],
)
def test_half_a_copy_is_noticed(tmp_path: Path, gone: tuple[str, ...], named: str) -> None:
    folder = sample(tmp_path / "g0001", operator="dedupe")
    for name in gone:
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    with pytest.raises(Damaged) as caught:
        read_checkpoint(folder)
    assert caught.value.path == folder / named


def test_an_operator_that_lost_its_folder_is_noticed(tmp_path: Path) -> None:
    folder = sample(tmp_path / "g0001", operator="dedupe")
    (folder / "state" / "0").rename(folder / "state" / "1")
    with pytest.raises(Damaged) as caught:
        read_checkpoint(folder)
    assert caught.value.path == folder / "state" / "0"


def test_state_of_an_old_spark_has_no_name(tmp_path: Path) -> None:
    """It is state all the same."""
    folder = sample(tmp_path / "g0001", operator="dedupe")
    shutil.rmtree(folder / "state" / "0" / "_metadata")
    found = read_checkpoint(folder)
    assert found is not None
    assert [(item.id, item.name, item.partitions) for item in found.operators] == [(0, "unknown", None)]


def test_what_is_no_entry_is_passed_over(tmp_path: Path) -> None:
    """Checksums, temporary files of a writer that died, and numbers in other scripts."""
    folder = sample(tmp_path / "g0001")
    for name in (".9.crc", ".9.4711.tmp", "9.tmp", "²", "x9", "٣", "1" * 200):
        (folder / "offsets" / name).write_text("nothing")
    assert read(folder).started == 3


def test_folders_are_spelled_as_people_do(tmp_path: Path) -> None:
    folder = sample(tmp_path / "g0001")
    entry = {"path": "file:///data/in%20here/caf%C3%A9/f.json", "timestamp": 1, "batchId": 3}
    (folder / "sources" / "0" / "3").write_text(f"v1\n{json.dumps(entry)}")
    assert read(folder).sources[0].folders == ("/data/in here/café",)


@pytest.mark.parametrize(
    ("name", "version"), [("offsets/3", "v2"), ("commits/3", "v3"), ("offsets/3", "v17")]
)
def test_a_newer_spark_is_named(tmp_path: Path, name: str, version: str) -> None:
    """And is no damage: the query runs on, with the Spark that wrote it."""
    location = tmp_path / "x"
    folder = sample(location / "out" / "g0002")
    text = (folder / name).read_text()
    (folder / name).write_text(text.replace("v1", version, 1))
    with pytest.raises(TooNew, match=version):
        read_checkpoint(folder)
    found = CheckpointDriver(Project(root=tmp_path)).read(request())
    assert isinstance(found, Unreadable)
    assert (found.diagnostic.code, "newer Spark" in found.diagnostic.summary) == ("FIK089", True)


def test_commits_of_the_second_version_are_of_this_spark(tmp_path: Path) -> None:
    folder = sample(tmp_path / "g0001")
    (folder / "commits" / "3").write_text('v2\n{"nextBatchWatermarkMs":0,"stateUniqueIds":{}}')
    assert read(folder).committed == 3


def request() -> ReadRequest:
    recorded = Recorded(attributes=ATTRIBUTES, identity={"layout": "generations", "layout_generation": None})
    return ReadRequest(address="checkpoint.x", desired=ATTRIBUTES, recorded=recorded, references={})


def test_an_old_generation_may_be_damaged(tmp_path: Path) -> None:
    """Nothing depends on it any more."""
    sample(tmp_path / "x" / "out" / "g0002")
    (sample(tmp_path / "x" / "out" / "g0001") / "offsets" / "3").write_text("")
    driver = CheckpointDriver(Project(root=tmp_path))
    assert isinstance(driver.read(request()), Present)
    (tmp_path / "x" / "out" / "g0002" / "offsets" / "3").write_text("")
    found = driver.read(request())
    assert isinstance(found, Unreadable)
    assert found.diagnostic.code == "FIK027"


@pytest.mark.disk_only
def test_who_may_not_read_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = sample(tmp_path / "g0001")

    def refused(_path: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refused)
    with pytest.raises(Unreachable, match="Permission denied") as caught:
        read_checkpoint(folder)
    complaint = damage("checkpoint.x", caught.value)
    assert complaint.code == "FIK090"
    assert "backup" not in complaint.detail


@pytest.mark.disk_only
def test_a_batch_that_ends_while_one_looks_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest commit is listed first; by then the query may be two batches on."""
    folder = sample(tmp_path / "g0001", committed=3, started=3)
    real, moved = checkpoint_log.newest, False

    def newest(log: Path) -> int | None:
        nonlocal moved
        found = real(log)
        if log.name == "commits" and not moved:
            moved = True
            shutil.rmtree(folder)
            sample(folder, committed=6, started=6)
        return found

    monkeypatch.setattr(
        reader, "_stand", lambda _folder: (real(folder / "offsets"), real(folder / "commits"))
    )
    monkeypatch.setattr(reader, "newest", newest)
    assert read(folder).committed == 6


def paths(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_mutation_is_damage_or_harmless(tmp_path: Path, data: st.DataObject) -> None:
    """Cut, overwritten, spliced, emptied, removed, or made a folder: it is read, or it is damaged; and always
    the same query or none.
    """
    folder = tmp_path / "g0001"
    shutil.rmtree(folder, ignore_errors=True)
    sample(
        folder,
        ("files", "table"),
        operator="stateStoreSave",
        started=data.draw(st.integers(0, 3)),
        committed=0,
    )
    for _ in range(data.draw(st.integers(1, 3))):
        known = paths(folder)
        if not known:
            break
        path = data.draw(st.sampled_from(known))
        content = path.read_bytes()
        at = data.draw(st.integers(0, len(content)))
        match data.draw(
            st.sampled_from(["cut", "insert", "overwrite", "empty", "remove", "folder", "rename"])
        ):
            case "cut":
                path.write_bytes(content[:at])
            case "insert":
                path.write_bytes(content[:at] + data.draw(st.binary(max_size=6)) + content[at:])
            case "overwrite":
                path.write_bytes(data.draw(st.binary(max_size=30)))
            case "empty":
                path.write_bytes(b"")
            case "remove":
                path.unlink()
            case "folder":
                path.unlink()
                path.mkdir()
            case _:
                path.rename(path.with_name(data.draw(st.sampled_from(["7", "12", "x", "2.compact", ".3"]))))
    try:
        found = read_checkpoint(folder)
    except Damaged:
        return
    assert found is None or len(found.query_id) >= len(QUERY) - 3
