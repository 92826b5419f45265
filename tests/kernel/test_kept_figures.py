"""The figures of the last measurement are taken from the cache as they were kept, or not at all."""

from pathlib import Path

import pytest

from flareiac.app.figures_cache import known_figures, remember
from flareiac.kernel.user_cache import cache_directory


def test_damaged_figures_are_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kept = {"table.t": {"files": 7, "oldest": [1, 2]}}
    remember("L", "w", kept)
    assert known_figures("L", "w") == kept
    [file] = cache_directory().glob("figures-*")
    whole = file.read_bytes()
    for damaged in (whole.replace(b"7", b"{}"), whole[:-1], b"", b'{"table.t": {"files": {}}}'):
        file.write_bytes(damaged)
        assert known_figures("L", "w") == {}
