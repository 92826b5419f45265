"""Standard streams that are closed, or that take not every character, stop no command."""

import subprocess
from pathlib import Path

import pytest

from tests.support.command_line import arguments, environment


def run(root: Path, redirect: str, *words: str, **extra: str) -> "subprocess.CompletedProcess[str]":
    command = ["sh", "-c", f'"$0" "$@" {redirect}', *arguments(*words)]
    return subprocess.run(
        command, cwd=root, env=environment(**extra), capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize("redirect", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_a_closed_stream_stops_nothing(tmp_path: Path, redirect: str) -> None:
    (tmp_path / "main.flare.hcl").write_text('thing "a" { value = "1" }\n', encoding="utf-8")
    for words in (("plan",), ("apply", "-auto-approve"), ("validate", "-json")):
        done = run(tmp_path, redirect, *words)
        assert done.returncode == 0, done
        assert "Traceback" not in done.stdout + done.stderr
    assert "thing.a" in run(tmp_path, "", "state", "list").stdout


def test_what_a_stream_cannot_encode_is_spelled_out(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text('output "o" { value = "é" }\n', encoding="utf-8")
    done = run(tmp_path, "", "plan", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done
    assert "\\xe9" in done.stdout
