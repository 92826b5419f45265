"""The example of change data capture as a person runs it, with a real broker and a registry."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.jvm

_SCRIPT = Path(__file__).parents[2] / "examples" / "cdc" / "run.sh"


def test_the_table_is_what_the_source_is_after_each_part(tmp_path: Path, java_home: Path) -> None:
    settings = {
        "FLAREIAC_VENV": sys.prefix,
        "CDC_WORK": str(tmp_path),
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
        timeout=1200,
    )
    assert done.returncode == 0, done.stdout[-6000:]
    assert "Traceback" not in done.stdout, done.stdout
    assert done.stdout.count("orders of the source, row by row.") == 5, done.stdout
    assert 'column "note" { type = "string" }' in done.stdout
    assert done.stdout.endswith("##### Done.\n"), done.stdout[-2000:]
