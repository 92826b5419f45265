"""Plays an example as a person does: in the environment that its script makes, with the wheel of the tree."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement

from tests.examples.depends import EXAMPLES, extras_of, requirements_of

_SECONDS: Final = 1500.0
_OF_DEVELOPERS: Final = ("FLAREIAC_TEST_JARS", "FLAREIAC_VENV", "PYTHONPATH", "VIRTUAL_ENV")


def played(example: str, work: Path, *, environments: Path | None, **settings: str) -> str:
    """The output of an example, run in ``work`` with settings of its process. It must come to its end.

    Stories that install the same share an environment below ``environments``: the first one makes it, as its
    text says. With None this story makes its own.
    """
    venv = work / "venv"
    if environments is not None:
        work.mkdir(parents=True, exist_ok=True)
        venv.symlink_to(environment_of(requirements_of(example), environments, extras_of(example)))
    done = subprocess.run(
        ["bash", str(EXAMPLES / example / "run.sh"), str(work)],
        env={**as_user(), "NO_COLOR": "1", "CI": "", **settings},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_SECONDS,
    )
    assert done.returncode == 0, done.stdout[-6000:]
    assert "Traceback" not in done.stdout, done.stdout
    assert "\n##### Done." in done.stdout[-500:], done.stdout[-2000:]
    program = re.search(r"^flareiac: (.+)$", done.stdout, re.MULTILINE)
    assert program, done.stdout
    assert Path(program[1]).resolve().is_relative_to(venv.resolve() / "lib"), "it is not the wheel's program"
    return done.stdout


def environment_of(requirements: Sequence[Requirement], environments: Path, extras: str = "spark") -> Path:
    """The folder of the environment that has these requirements beside FlareIaC with its extras."""
    needed = repr([extras, *sorted(map(str, requirements))])
    return environments / f"with-{sha256(needed.encode()).hexdigest()[:12]}"


def as_user() -> dict[str, str]:
    """The variables of this process without those that lead to the environment of developers."""
    own = Path(sys.prefix) / "bin"
    path = [folder for folder in os.environ["PATH"].split(os.pathsep) if Path(folder) != own]
    python = Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    kept = {name: value for name, value in os.environ.items() if name not in _OF_DEVELOPERS}
    return {**kept, "PATH": os.pathsep.join(path), "FLAREIAC_PYTHON": str(python)}


def expect(said: str, *texts: str) -> None:
    """Each text follows the one before it."""
    at = 0
    for text in texts:
        found = said.find(text, at)
        assert found >= 0, f"{text!r} is missing after {said[max(0, at - 200) : at]!r} in:\n{said}"
        at = found + len(text)
