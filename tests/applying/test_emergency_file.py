"""The state dies in the middle of an apply: what was done comes back with ``state recover``."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.applying import emergency_law
from tests.support.command_line import environment


@pytest.mark.parametrize("mode", ["refused", pytest.param("unanswered", marks=pytest.mark.slow)])
def test_what_was_done_is_recovered_at_every_record(tmp_path: Path, mode: str) -> None:
    words = [sys.executable, "-W", "ignore", emergency_law.__file__, str(tmp_path), mode]
    done = subprocess.run(
        words, env=environment(), capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stderr
