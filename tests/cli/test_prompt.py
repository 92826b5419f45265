"""The question of apply, and the answers that count as yes."""

import os
import pty
import subprocess
from pathlib import Path

import pytest

from tests.support.command_line import arguments, environment, flareiac


def answered(root: Path, answer: bytes, *words: str) -> "subprocess.CompletedProcess[str]":
    """Runs a command with a terminal for its standard input, on which this has been typed."""
    ours, theirs = pty.openpty()
    try:
        os.write(ours, answer)
        return subprocess.run(
            arguments(*words),
            cwd=root,
            env=environment(),
            stdin=theirs,
            capture_output=True,
            text=True,
            timeout=120,
        )
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize(
    ("answer", "words", "code"),
    [
        (b"yes\n", (), 0),
        (b"y\n", (), 8),
        (b"no\n", (), 8),
        (b"\x04", (), 8),
        (b"yes\n", ("-input=false",), 8),
    ],
    ids=["yes", "y", "no", "end of input", "no input"],
)
def test_only_yes_is_yes(tmp_path: Path, answer: bytes, words: tuple[str, ...], code: int) -> None:
    (tmp_path / "main.flare.hcl").write_text('thing "a" { value = "1" }')
    done = answered(tmp_path, answer, "apply", *words)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Do you want to perform these actions?" in done.stderr
    assert (tmp_path / ".toy").exists() == (code == 0)


def test_nobody_to_ask_is_no(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text('thing "a" { value = "1" }')
    done = flareiac(tmp_path, "apply")
    assert done.code == 8
    assert "-auto-approve" in done.err
