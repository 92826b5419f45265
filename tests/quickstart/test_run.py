"""The story as a person plays it: the script itself, with the real data, in the environment that runs the
tests.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.tour import assert_tour

pytestmark = pytest.mark.jvm

_SCRIPT = Path(__file__).parents[2] / "examples" / "quickstart" / "run.sh"


def test_the_script_plays_the_whole_story(tmp_path: Path, java_home: Path) -> None:
    settings = {
        "FLAREIAC_VENV": sys.prefix,
        "QUICKSTART_WORK": str(tmp_path),
        "QUICKSTART_PACE": "0.02",
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
    said = done.stdout
    for line in (
        "FlareIaC is initialised here.",
        "Apply complete!",
        "No changes.",
        "job.delays kept its run id",
        "Plan: 0 to add, 2 to change, 0 to destroy.",
        "metadata only",
        "(exit code 3)",
        "(exit code 4)",
        "sum(CAST(dep_delay AS BIGINT)) -> max(CAST(dep_delay AS BIGINT))",
        "empties table.delays_per_hour before it starts",
        "write.parquet.compression-codec",
        "##### Done.",
    ):
        assert line in said, f"{line!r} is missing in:\n{said}"
    assert said.count("336776") >= 2 or said.count("336,776") >= 2, said[-6000:]
    assert "Traceback" not in said
    assert_tour("", said)
