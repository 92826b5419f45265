"""Files that are replaced whole: durable where something depends on them, without the disk's word where they
can be made again.
"""

import os
import stat
from pathlib import Path

import pytest

from flareiac.app.plan_files import write_plan_files
from flareiac.kernel import user_cache
from flareiac.kernel.durable_files import replace_file


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """A mount on which directories cannot be synced; each attempt, and whether it was a directory."""
    found: list[bool] = []
    real = os.fsync

    def fsync(handle: int) -> None:
        found.append(stat.S_ISDIR(os.fstat(handle).st_mode))
        if found[-1]:
            raise OSError(22, "Invalid argument")
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    return found


def test_what_is_durable_says_where_it_is_not(tmp_path: Path, synced: list[bool]) -> None:
    with pytest.raises(OSError, match="Invalid argument"):
        replace_file(tmp_path / "state", b"content")
    assert synced == [False, True]


def test_what_can_be_made_again_does_not_wait_for_the_disk(
    tmp_path: Path, synced: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    user_cache.keep("folder/name", b"kept")
    assert user_cache.read("folder/name") == b"kept"
    plan = tmp_path / "saved.plan"
    write_plan_files(tmp_path, {plan.name: b"first"})
    write_plan_files(tmp_path, {plan.name: b"second"})
    assert (plan.read_bytes(), stat.S_IMODE(plan.stat().st_mode)) == (b"second", 0o600)
    assert synced == []
    assert [item.name for item in tmp_path.rglob("*.tmp")] == []
