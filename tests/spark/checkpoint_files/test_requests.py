"""The requests of reading a checkpoint to a bucket: as many for a state of many partitions as for one of
few.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from flareiac_spark.checkpoint_files.reader import read_checkpoint
from flareiac_spark_runtime.storage import Listed, ObjectPath, Version
from tests.spark.checkpoint_sample import sample
from tests.support.memory_objects import MemoryObjects


class Counted(MemoryObjects):
    """Counts what is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = Counter[str]()

    def get(self, key: str) -> Version | None:
        self.asked["get"] += 1
        return super().get(key)

    def look(self, key: str) -> Listed | None:
        self.asked["look"] += 1
        return super().look(key)

    def list(self, prefix: str, *, deep: bool) -> Iterator[Listed]:
        self.asked["list"] += 1
        return super().list(prefix, deep=deep)


def test_a_wide_state_is_read_with_as_many_requests_as_a_narrow_one(tmp_path: Path) -> None:
    asked = []
    for versions in (2, 40):
        folder, store = tmp_path / str(versions) / "g0001", Counted()
        sample(folder, started=versions, committed=versions, operator="stateStoreSave")
        for path in folder.rglob("*"):
            if path.is_file():
                store.put(f"g0001/{path.relative_to(folder).as_posix()}", path.read_bytes())
        found = read_checkpoint(ObjectPath(store, "g0001"))
        assert found is not None
        assert found.committed == versions
        asked.append(store.asked)
    assert asked[0] == asked[1]
    # Offsets and commits are listed once more, before: what moves meanwhile is read again.
    assert asked[0] == {"list": 3, "get": 6}
