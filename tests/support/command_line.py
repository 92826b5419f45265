"""Runs the command line as a user does: a process of its own in a project directory, with the toy provider
beside the real ones.
"""

import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support.forks import Forks

_TIMEOUT: Final = 900.0
_TOY: Final = Path(__file__).parent / "toy_dist"
_NOT_IMPORTED: Final = {
    "FLAREIAC_FAIL_AT",
    "FLAREIAC_KILL_AT",
    "FLAREIAC_WORKSPACE",
    "PYTEST_CURRENT_TEST",
    "SPARK_AUTH_SOCKET_TIMEOUT",
    "SPARK_BUFFER_SIZE",
}
"""Variables that no import reads, or whose reader looks again: points of death, pytest's, and those that a
Spark of this process leaves.
"""

_WORTH_A_PROCESS: Final = 4
"""So many commands take as long from their beginning as it takes to import all that any command needs."""

_keeping: Final = threading.Lock()
_used: Final = Counter[frozenset[tuple[str, str]]]()
_kept: Final[dict[frozenset[tuple[str, str]], Forks]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The end of a command."""

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
    read by what is imported, it is started from the very beginning, and so are the first ones of each
    environment.
    """
    variables = environment(**extra)
    forks = None if extra.keys() - _NOT_IMPORTED else _forks(variables)
    if forks is None:
        return started(root, *words, **extra)
    code, out, err = forks.run(root, words, variables, timeout=_TIMEOUT)
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


def _forks(variables: Mapping[str, str]) -> Forks | None:
    """The process that has imported the program with these variables; None while too few commands had them.
    The two used last are kept.
    """
    imported = frozenset(item for item in variables.items() if item[0] not in _NOT_IMPORTED)
    with _keeping:
        _used[imported] += 1
        if _used[imported] < _WORTH_A_PROCESS:
            return None
        found = _kept.pop(imported, None) or Forks(variables)
        if len(_kept) == 2:
            _kept.pop(next(iter(_kept))).end()
        _kept[imported] = found
        return found


def _text(printed: bytes) -> str:
    return printed.decode().replace("\r\n", "\n").replace("\r", "\n")
