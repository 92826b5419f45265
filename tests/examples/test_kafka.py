"""The Kafka example as a person runs it, with a real broker."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.tour import assert_tour

pytestmark = pytest.mark.jvm

_SCRIPT = Path(__file__).parents[2] / "examples" / "kafka" / "run.sh"


def test_flights_go_through_a_topic_and_each_one_is_there_once(tmp_path: Path, java_home: Path) -> None:
    settings = {
        "FLAREIAC_VENV": sys.prefix,
        "KAFKA_WORK": str(tmp_path),
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
    assert done.stdout.count("Every record is there exactly once.") == 4, done.stdout
    assert_tour("kafka", done.stdout)
