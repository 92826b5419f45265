"""A generation in a bucket neither appears nor goes at once: an apply may be killed after each object. Asked
again, it completes what it began, and nothing in between is taken for a generation that ran.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from flareiac_spark.checkpoint import retention
from flareiac_spark.checkpoint_files.folder_state import FolderState, folder_state
from flareiac_spark.checkpoint_files.generations import contents
from flareiac_spark.generation.prepare import LastBatch, StartPositions, prepare_folder
from flareiac_spark_runtime.storage import ObjectPath
from tests.spark.checkpoint_sample import QUERY, sample
from tests.support.memory_objects import MemoryObjects

ME = "lineage/checkpoint.x"


class Killed(Exception):
    pass


class Dying(MemoryObjects):
    """Is killed at a write; those before it happen."""

    def __init__(self, filled: dict[str, bytes], writes: int | None = None) -> None:
        super().__init__()
        self._objects |= filled
        self.left = writes

    def put(self, key: str, content: bytes) -> None:
        self._count()
        super().put(key, content)

    def delete(self, keys: Sequence[str]) -> None:
        for key in keys:
            self._count()
            super().delete([key])

    def _count(self) -> None:
        if self.left is not None:
            if self.left == 0:
                raise Killed
            self.left -= 1

    @property
    def objects(self) -> dict[str, bytes]:
        return dict(self._objects)


@pytest.fixture
def before(tmp_path: Path) -> dict[str, bytes]:
    """A checkpoint with one generation that ran."""
    sample(tmp_path / "out" / "g0001", started=2, committed=2, operator="stateStoreSave")
    return {
        f"at/{path.relative_to(tmp_path).as_posix()}": path.read_bytes()
        for path in tmp_path.rglob("*")
        if path.is_file()
    }


def each_kill(before: dict[str, bytes], work: Callable[[Dying], None]) -> list[dict[str, bytes]]:
    """The objects that exist after a kill at each write, the first one first; the last one is the work
    done.
    """
    found: list[dict[str, bytes]] = []
    while True:
        store = Dying(before, len(found))
        try:
            work(store)
        except Killed:
            found.append(store.objects)
        else:
            return [*found, store.objects]


def generation(store: MemoryObjects, number: int) -> ObjectPath:
    return ObjectPath(store, f"at/out/g{number:04d}")


def prepare(store: MemoryObjects) -> None:
    last = LastBatch(folder=generation(store, 1), query_id=QUERY, batch=2)
    prepare_folder(generation(store, 2), StartPositions(by=ME, copied=last))


def test_a_preparation_that_is_killed_is_done_again(before: dict[str, bytes]) -> None:
    *killed, done = each_kill(before, prepare)
    assert len(killed) > 10
    for objects in (*killed, done):
        store = Dying(objects)
        assert folder_state(generation(store, 2), ME) in (FolderState.ABSENT, FolderState.PREPARED)
        found = contents(ObjectPath(store, "at"))
        assert found is not None
        assert [item.damage for item in found.generations if item.number == 1] == [None]
        prepare(store)
        assert store.objects == done


def test_a_removal_that_is_killed_is_completed(before: dict[str, bytes]) -> None:
    def remove(store: Dying) -> None:
        retention._remove(generation(store, 1))

    *killed, done = each_kill(before, remove)
    assert len(killed) > 10
    assert done == {}
    for objects in killed:
        store = Dying(objects)
        found = contents(ObjectPath(store, "at"))
        for item in found.generations if found is not None else ():
            assert item.damage is None
            assert item.standing is FolderState.PREPARED or "at/out/g0001/metadata" in objects
        remove(store)
        assert store.objects == {}
