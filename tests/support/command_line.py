"""Runs the command line as a user does: a process of its own in a project directory, with the toy provider beside the real ones."""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_TOY = Path(__file__).parent / "toy_dist"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def killed(self) -> bool:
        return self.code == -signal.SIGKILL

    @property
    def text(self) -> str:
        return self.out + self.err


def environment(**extra: str) -> dict[str, str]:
    """The environment of a command: no colour, the toy provider on the path."""
    path = os.pathsep.join([str(_TOY), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, "NO_COLOR": "1", "CI": "", **extra}


def arguments(*words: str) -> list[str]:
    """The command line of a command."""
    return [sys.executable, "-W", "ignore", "-c", "from flareiac.cli.main import main; main()", *words]


def flareiac(root: Path, *words: str, **extra: str) -> Ended:
    """Runs one command in a directory and waits for it."""
    done = subprocess.run(
        arguments(*words), cwd=root, env=environment(**extra), capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL
    )
    return Ended(code=done.returncode, out=done.stdout, err=done.stderr)
