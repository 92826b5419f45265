"""The syntax cache of these tests is a directory of their own."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True, scope="session")
def _cache(tmp_path_factory: pytest.TempPathFactory) -> "pytest.MonkeyPatch":
    patch = pytest.MonkeyPatch()
    patch.setenv("XDG_CACHE_HOME", str(Path(tmp_path_factory.getbasetemp()) / "cache"))
    return patch
