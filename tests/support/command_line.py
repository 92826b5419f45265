"""Runs the command line as a user does: a process of its own in a project directory, with the toy provider
beside the real ones.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from tests.support.forks import Forks

_TIMEOUT: Final = 900.0
_TOY: Final = Path(__file__).parent / "toy_dist"


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
    """Runs one command in a directory and waits for it.

    The command is a fork of a process that has imported the program. With variables of its own, which may be
    read by what is imported, it is started from the very beginning.
    """
    variables = environment(**extra)
    if not _imports_the_same(variables):
        return started(root, *words, **extra)
    code, out, err = _forks().run(root, words, variables, timeout=_TIMEOUT)
    return Ended(code=code, out=_text(out), err=_text(err))


def started(root: Path, *words: str, **extra: str) -> Ended:
    """Runs one command from the very beginning, as a user does, and waits for it."""
    done = subprocess.run(
        arguments(*words),
        cwd=root,
        env=environment(**extra),
        capture_output=True,
        timeout=_TIMEOUT,
        stdin=subprocess.DEVNULL,
    )
    return Ended(code=done.returncode, out=_text(done.stdout), err=_text(done.stderr))


def _imports_the_same(variables: Mapping[str, str]) -> bool:
    """Whether a process with these variables is after its imports what one is with those of this session."""
    return {**variables, **_NOT_IMPORTED} == {**_OF_THE_SESSION, **_NOT_IMPORTED}


@cache
def _forks() -> Forks:
    return Forks(_OF_THE_SESSION)


def _text(printed: bytes) -> str:
    return printed.decode().replace("\r\n", "\n").replace("\r", "\n")


_OF_THE_SESSION: Final = environment()
_NOT_IMPORTED: Final = dict.fromkeys(
    ("FLAREIAC_FAIL_AT", "PYTEST_CURRENT_TEST", "SPARK_AUTH_SOCKET_TIMEOUT", "SPARK_BUFFER_SIZE"), ""
)
"""Variables that no import reads: a driver's, pytest's, and those that a Spark of this process leaves."""
