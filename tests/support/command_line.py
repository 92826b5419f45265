"""Runs the command line as a user does: a process of its own in a project directory, with the toy provider
beside the real ones.
"""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

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
        arguments(*words),
        cwd=root,
        env=environment(**extra),
        capture_output=True,
        text=True,
        timeout=300,
        stdin=subprocess.DEVNULL,
    )
    return Ended(code=done.returncode, out=done.stdout, err=done.stderr)


@dataclass(frozen=True, slots=True)
class Shell:
    """One process that runs many commands in a directory, one after the other: a story of twenty commands
    costs one start.
    """

    process: "subprocess.Popen[str]"

    def flareiac(self, *words: str) -> Ended:
        """Runs one command and waits for it."""
        assert self.process.stdin is not None, "it was started with pipes"
        assert self.process.stdout is not None, "it was started with pipes"
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, f"the process ended in {words}"
        code, out, err = json.loads(answer)
        return Ended(code=code, out=out, err=err)


@contextmanager
def shell(root: Path, **extra: str) -> Iterator[Shell]:
    """A shell in a directory; it ends with the block."""
    serve = "from tests.support.command_line import serve; import sys; serve(sys.stdin, sys.stdout)"
    variables = environment(**extra)
    variables["PYTHONPATH"] = os.pathsep.join([variables["PYTHONPATH"], str(Path(__file__).parents[2])])
    command = [sys.executable, "-W", "ignore", "-c", serve]
    with subprocess.Popen(
        command, cwd=root, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Shell(process)
        finally:
            process.kill()


def serve(requests: IO[str], answers: IO[str]) -> None:
    """The other end of ``Shell``: a line of words in, a line of exit code, standard output and standard error
    out.
    """
    from flareiac.cli.main import run

    lines = iter(requests.readline, "")
    sys.stdin = io.StringIO()
    for line in lines:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(json.loads(line))
        answers.write(json.dumps([code, out.getvalue(), err.getvalue()]) + "\n")
        answers.flush()
