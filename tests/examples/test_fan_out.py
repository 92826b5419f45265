"""The example of one topic into two tables and another topic as a person runs it, with a real broker."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.jvm

_SCRIPT = Path(__file__).parents[2] / "examples" / "fan-out" / "run.sh"


def test_every_order_is_where_it_belongs_though_the_driver_is_killed(tmp_path: Path, java_home: Path) -> None:
    settings = {
        "FLAREIAC_VENV": sys.prefix,
        "FAN_OUT_WORK": str(tmp_path),
        "NO_COLOR": "1",
        "JAVA_HOME": str(java_home),
    }
    done = subprocess.run(
        ["bash", str(_SCRIPT)],
        env={**os.environ, **settings},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=1500,
    )
    assert done.returncode == 0, done.stdout[-6000:]
    assert "Traceback" not in done.stdout, done.stdout
    assert done.stdout.count("Every order is where it belongs.") == 2, done.stdout
    assert "at least once" in done.stdout
