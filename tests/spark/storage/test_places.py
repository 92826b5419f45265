"""Places: one spelling of an address, and folders of objects that read like folders of files."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from flareiac_spark.s3_store import S3Store
from flareiac_spark_runtime.storage import (
    ObjectPath,
    Place,
    is_object_uri,
    move_folder,
    object_uri,
    place_at,
    remove_tree,
    replace_whole,
    seen_at_once,
)
from tests.support.object_storage import buckets

_FILES = (
    "metadata",
    "offsets/0",
    "offsets/1",
    "state/0/1/2.delta",
    "state/0/1/lists/2.zip",
    "state/0/10/2.delta",
)


@pytest.fixture(scope="module")
def bucket() -> Iterator[S3Store]:
    with buckets("lake"):
        yield S3Store("lake")


@pytest.fixture(params=["disk", "objects", "listed objects"])
def folder(request: pytest.FixtureRequest, bucket: S3Store, tmp_path: Path) -> Place:
    """The same files in each kind of place, with a folder beside it whose name begins alike."""
    place: Place = tmp_path / "g1" if request.param == "disk" else ObjectPath(bucket, f"{tmp_path.name}/g1")
    for name in _FILES:
        for root in (place, place.with_name("g10")):
            path = root
            for part in name.split("/"):
                path = path / part
            if isinstance(path, Path):
                path.parent.mkdir(parents=True, exist_ok=True)
            replace_whole(path, name.encode())
    return seen_at_once(place) if request.param.startswith("listed") else place


def _tree(folder: Place) -> dict[str, object]:
    return {
        item.name: _tree(item) if item.is_dir() else (item.read_text(), item.stat().st_size, item.suffix)
        for item in sorted(folder.iterdir(), key=lambda item: item.name)
    }


def test_a_folder_reads_the_same_everywhere(folder: Place) -> None:
    assert _tree(folder) == {
        "metadata": ("metadata", 8, ""),
        "offsets": {"0": ("offsets/0", 9, ""), "1": ("offsets/1", 9, "")},
        "state": {
            "0": {
                "1": {
                    "2.delta": ("state/0/1/2.delta", 17, ".delta"),
                    "lists": {"2.zip": ("state/0/1/lists/2.zip", 21, ".zip")},
                },
                "10": {"2.delta": ("state/0/10/2.delta", 18, ".delta")},
            }
        },
    }
    assert [folder.exists(), folder.is_dir(), folder.is_file()] == [True, True, False]
    metadata = folder / "metadata"
    assert [metadata.exists(), metadata.is_dir(), metadata.is_file()] == [True, False, True]
    missing = folder / "offset"
    assert [missing.exists(), missing.is_dir(), missing.is_file()] == [False, False, False]
    for read in (missing.read_bytes, missing.stat, lambda: list(missing.iterdir())):
        with pytest.raises(FileNotFoundError):
            read()


def test_a_listing_costs_one_request_for_all_names(
    bucket: S3Store, folder: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not isinstance(folder, ObjectPath):
        pytest.skip("a disk needs no listing")
    asked: list[str] = []
    for name in ("get", "look", "list"):
        monkeypatch.setattr(S3Store, name, _noted(name, asked))
    seen = seen_at_once(ObjectPath(bucket, folder.key))
    assert {item.name for item in (seen / "state" / "0").iterdir()} == {"1", "10"}
    assert (seen / "state" / "0" / "1" / "2.delta").stat().st_size == 17
    assert not (seen / "commits").is_dir()
    assert asked == ["list"]


def _noted(name: str, asked: list[str]) -> object:
    real = getattr(S3Store, name)

    def ask(store: S3Store, key: str, **more: object) -> object:
        asked.append(name)
        return real(store, key, **more)

    return ask


def test_a_folder_moves_whole(bucket: S3Store, tmp_path: Path) -> None:
    for old in (tmp_path / "a", ObjectPath(bucket, f"{tmp_path.name}-moved/a")):
        for name in ("metadata", "offsets"):
            if isinstance(old, Path):
                old.mkdir(exist_ok=True)
            replace_whole(old / name, name.encode())
        new = old.with_name("b")
        move_folder(old, new)
        assert sorted(item.name for item in new.iterdir()) == ["metadata", "offsets"]
        assert not old.exists()
        remove_tree(new)
        remove_tree(new)
        assert not new.exists()


@pytest.mark.parametrize(
    ("text", "uri"),
    [
        ("s3://lake/a/b", "s3://lake/a/b"),
        ("s3a://lake/a//b/", "s3://lake/a/b"),
        ("s3n://lake/a", "s3://lake/a"),
    ],
)
def test_an_address_has_one_spelling(text: str, uri: str) -> None:
    assert object_uri(text) == uri
    assert str(place_at(text)) == uri
    assert place_at(text) == place_at(uri)
    assert str(place_at(text) / "x") == f"{uri}/x"


@pytest.mark.parametrize(
    "text", ["s3://lake", "s3://lake/", "s3://Lake/a", "s3://lake/a/../b", "s3://lake/.", "a"]
)
def test_what_clients_read_differently_is_no_address(text: str) -> None:
    assert not is_object_uri(text)


def test_a_swap_happens_only_on_what_was_read(bucket: S3Store, tmp_path: Path) -> None:
    key = f"{tmp_path.name}/swap"
    first = bucket.swap(key, b"one", None)
    assert first is not None
    assert bucket.swap(key, b"other", None) is None
    assert bucket.swap(key, b"one", None) == first  # its own request, repeated
    second = bucket.swap(key, b"two", first)
    assert second is not None
    assert bucket.swap(key, b"late", first) is None
    bucket.delete([key])
    assert bucket.swap(key, b"three", second) is None
    assert bucket.get(key) is None
