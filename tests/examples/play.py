"""Plays an example as a person does."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

EXAMPLES: Final = Path(__file__).parents[2] / "examples"
_SECONDS: Final = 1500.0


def played(example: str, work: Path, **settings: str) -> str:
    """What an example prints, run in ``work`` with settings of its environment. It must come to its end."""
    variables = {
        "FLAREIAC_VENV": sys.prefix,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "NO_COLOR": "1",
        "CI": "",
        "PYTHONWARNINGS": "ignore",
    }
    done = subprocess.run(
        ["bash", str(EXAMPLES / example / "run.sh"), str(work)],
        env={**os.environ, **variables, **settings},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_SECONDS,
    )
    assert done.returncode == 0, done.stdout[-6000:]
    assert "Traceback" not in done.stdout, done.stdout
    assert "\n##### Done." in done.stdout[-500:], done.stdout[-2000:]
    return done.stdout


def expect(said: str, *texts: str) -> None:
    """Each text follows the one before it."""
    at = 0
    for text in texts:
        found = said.find(text, at)
        assert found >= 0, f"{text!r} is missing after {said[max(0, at - 200) : at]!r} in:\n{said}"
        at = found + len(text)
