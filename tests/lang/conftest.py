"""The syntax cache of these tests is a directory of their own, and of no other test: the user's holds the
jars.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True, scope="module")
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(Path(tmp_path_factory.getbasetemp()) / "cache"))
        yield
