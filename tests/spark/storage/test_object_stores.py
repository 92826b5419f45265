"""One suite for every client of object storage: boto3 of the command line, Hadoop of a driver."""

import logging
import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import boto3
import pytest

from flareiac_spark.s3_store import S3Store
from flareiac_spark_runtime.control import ControlDirectory, Status, moment, this_process
from flareiac_spark_runtime.control.status import ApplicationStatus
from flareiac_spark_runtime.storage import ObjectPath, ObjectStore
from tests.support.hadoop_jvm import hadoop_jvm, hadoop_store
from tests.support.object_storage import buckets


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with buckets("lake") as endpoint:
        yield endpoint


@pytest.fixture(scope="module", params=["boto3", pytest.param("hadoop", marks=pytest.mark.jvm)])
def store(
    request: pytest.FixtureRequest, server: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ObjectStore]:
    if request.param == "boto3":
        yield S3Store("lake")
        return
    java_home: Path = request.getfixturevalue("java_home")
    with hadoop_jvm(java_home, tmp_path_factory.mktemp("jvm")) as jvm:
        yield hadoop_store(jvm, "lake")


STATUS = Status(
    application=ApplicationStatus(id="a", name="n", host="h", pid=1, pid_started="s"),
    heartbeat=1.5,
    observed_revision=3,
)
_numbers = count()


@pytest.fixture
def folder() -> str:
    """A prefix that no other test uses."""
    return f"test{next(_numbers)}"


def test_what_is_not_there_is_none(store: ObjectStore, folder: str) -> None:
    assert store.address == "s3://lake"
    assert store.get(f"{folder}/a") is None
    assert store.look(f"{folder}/a") is None
    assert list(store.list(f"{folder}/", deep=False)) == []
    assert list(store.list(f"{folder}/", deep=True)) == []
    store.delete([f"{folder}/a"])


@pytest.mark.parametrize("content", [b"", b"text", bytes(range(256)), b"\xff" * 200_000])
def test_what_is_put_comes_back(store: ObjectStore, folder: str, content: bytes) -> None:
    store.put(f"{folder}/deep/a b+c%20d.json", content)
    found = store.get(f"{folder}/deep/a b+c%20d.json")
    assert found is not None
    assert found.content == content
    seen = store.look(f"{folder}/deep/a b+c%20d.json")
    assert seen is not None
    assert (seen.key, seen.size) == (f"{folder}/deep/a b+c%20d.json", len(content))
    assert seen.modified > 1_700_000_000


def test_a_folder_is_no_object(store: ObjectStore, folder: str) -> None:
    store.put(f"{folder}/deep/a", b"1")
    assert store.get(f"{folder}/deep") is None
    assert store.look(f"{folder}/deep") is None


def test_levels_and_depths_are_listed(store: ObjectStore, folder: str) -> None:
    for name in ("a", "b/c", "b/d/e", "b0"):
        store.put(f"{folder}/{name}", b"12")
    level = sorted((item.key, item.size) for item in store.list(f"{folder}/", deep=False))
    assert level == [(f"{folder}/a", 2), (f"{folder}/b/", 0), (f"{folder}/b0", 2)]
    deep = sorted(item.key for item in store.list(f"{folder}/b/", deep=True))
    assert deep == [f"{folder}/b/c", f"{folder}/b/d/e"]
    assert all(item.modified > 0 for item in store.list(f"{folder}/b/", deep=True))
    store.delete([f"{folder}/b/c", f"{folder}/b/d/e"])
    assert sorted(item.key for item in store.list(f"{folder}/", deep=True)) == [
        f"{folder}/a",
        f"{folder}/b0",
    ]


def test_a_swap_replaces_only_what_was_read(store: ObjectStore, folder: str) -> None:
    key = f"{folder}/desired.json"
    first = store.swap(key, b"1", None)
    assert first is not None
    assert store.swap(key, b"other", None) is None
    second = store.swap(key, b"2", first)
    assert second is not None
    assert store.swap(key, b"3", first) is None
    assert store.swap(f"{folder}/missing", b"3", first) is None
    found = store.get(key)
    assert found is not None
    assert (found.content, found.revision) == (b"2", second)


def test_a_repeated_swap_recognises_its_own_content(store: ObjectStore, folder: str) -> None:
    key = f"{folder}/lease.json"
    first = store.swap(key, b"1", None)
    assert store.swap(key, b"1", None) == first
    second = store.swap(key, b"2", first)
    assert store.swap(key, b"2", first) == second


def test_of_many_that_create_one_wins(store: ObjectStore, folder: str) -> None:
    with ThreadPoolExecutor(6) as pool:
        written = list(pool.map(lambda n: store.swap(f"{folder}/lease", str(n).encode(), None), range(6)))
    assert sum(revision is not None for revision in written) == 1


def test_revisions_are_the_same_for_all_clients(store: ObjectStore, folder: str) -> None:
    key, other = f"{folder}/desired.json", S3Store("lake")
    revision = store.swap(key, b"1", None)
    assert other.swap(key, b"2", revision) is not None
    found = store.get(key)
    assert found is not None
    assert found.content == b"2"
    seen, listed = store.look(key), list(store.list(f"{folder}/", deep=False))
    assert seen is not None
    assert [seen.revision, *(item.revision for item in listed)] == [found.revision] * 2
    assert store.swap(key, b"3", found.revision) is not None


def test_a_bucket_that_is_not_there_is_a_failure(
    store: ObjectStore, server: str, request: pytest.FixtureRequest
) -> None:
    boto3.client("s3", endpoint_url=server).create_bucket(Bucket="short-lived")
    other: Any = (
        S3Store("short-lived") if isinstance(store, S3Store) else hadoop_store(store._jvm, "short-lived")  # type: ignore[attr-defined] # of the other kind
    )
    boto3.client("s3", endpoint_url=server).delete_bucket(Bucket="short-lived")
    for use in (
        lambda: other.get("a"),
        lambda: list(other.list("x/", deep=False)),
        lambda: other.put("a", b""),
        lambda: other.swap("a", b"", None),
    ):
        with pytest.raises(OSError, match="short-lived"):
            use()


def test_an_idle_driver_asks_little(
    store: ObjectStore, folder: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A look and a heartbeat of a driver make as many requests as the documentation says."""
    control = ControlDirectory(ObjectPath(store, folder))
    control.update_desired(lambda desired: desired, lineage="L", workspace="default")
    lease = control.take_lease("a", this_process(), now=moment(), seconds=60)
    assert lease is not None
    control.write_status(STATUS)
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="werkzeug"):
        for _ in range(5):
            seen = control.glance()
            assert seen is not None
            assert seen.desired is not None
            assert not seen.asked
        looks = _requests(caplog)
        caplog.clear()
        for _ in range(5):
            assert control.renew_lease(lease, now=moment(), seconds=60) is not None
            control.write_status(STATUS)
    assert looks == {"LIST": 5}
    learns = {} if isinstance(store, S3Store) else {"HEAD": 5, "GET": 5}
    assert _requests(caplog) == {"PUT": 10, **learns}


def _requests(caplog: pytest.LogCaptureFixture) -> Counter[str]:
    found = Counter[str]()
    for text in caplog.messages:
        method = re.search(r"(GET|HEAD|PUT|POST|DELETE) (/\S*) HTTP", text)
        if method is not None:
            found["LIST" if "list-type" in method[2] else method[1]] += 1
    return found
