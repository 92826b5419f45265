"""Words of the command line belong to one provider each, and never to the core as well."""

import os
from pathlib import Path

import pytest

from tests.support.command_line import Ended, environment, flareiac

DECLARATION = """
from flareiac.sdk.commands import Command
COMMANDS = {{"{word}": Command("flareiac_rival.commands:run", "Does something else.")}}
"""


def beside(root: Path, word: str, *words: str) -> Ended:
    """Runs a command with a provider installed that offers a command of this word."""
    package, distribution = root / "flareiac_rival", root / "flareiac_rival-1.0.dist-info"
    package.mkdir()
    distribution.mkdir()
    (package / "__init__.py").write_text("")
    (package / "commands.py").write_text(DECLARATION.format(word=word))
    (distribution / "METADATA").write_text("Metadata-Version: 2.1\nName: flareiac-rival\nVersion: 1.0\n")
    (distribution / "entry_points.txt").write_text("[flareiac.providers]\nrival = flareiac_rival:provider\n")
    path = os.pathsep.join([str(root), environment()["PYTHONPATH"]])
    return flareiac(root, *words, PYTHONPATH=path)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("plan", "A provider offers 'plan', which is a command of FlareIaC."),
        ("thing", "The command 'thing' is offered by rival and by toy."),
    ],
)
def test_a_word_that_is_taken_is_refused(tmp_path: Path, word: str, said: str) -> None:
    done = beside(tmp_path, word, "--help")
    assert done.code == 1
    assert "FIX010" in done.err
    assert said in " ".join(done.err.replace("│", "").split())


def test_a_word_that_is_taken_does_not_concern_the_core(tmp_path: Path) -> None:
    assert beside(tmp_path, "plan", "output", "-json").code == 0
