"""``fmt`` writes a file whole or not at all, where it stands and with its mode; it pipes, too."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command_line import Ended, environment, flareiac

UNTIDY = "locals {\na=1\n}\n"
TIDY = "locals {\n  a = 1\n}\n"
_PROGRAM = (sys.executable, "-c", "from flareiac.cli.main import main; main()")


def piped(folder: Path, content: bytes, *words: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [*_PROGRAM, "fmt", *words, "-"],
        cwd=folder,
        env=environment(),
        input=content,
        capture_output=True,
        check=False,
    )


def fmt(folder: Path, *words: str) -> Ended:
    return flareiac(folder, "fmt", *words)


def test_a_link_stays_and_what_it_leads_to_is_written_with_its_mode(tmp_path: Path) -> None:
    shared, project = tmp_path / "shared.hcl", tmp_path / "project"
    project.mkdir()
    shared.write_text(UNTIDY)
    shared.chmod(0o640)
    (project / "a.flare.hcl").symlink_to(shared)
    assert fmt(project).code == 0
    assert (project / "a.flare.hcl").is_symlink()
    assert shared.read_text() == TIDY
    assert shared.stat().st_mode & 0o777 == 0o640
    assert sorted(file.name for file in project.iterdir()) == ["a.flare.hcl"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_file_that_cannot_be_written_keeps_no_other_from_it(tmp_path: Path) -> None:
    for name in ("a.flare.hcl", "b.flare.hcl"):
        (tmp_path / name).write_text(UNTIDY)
    (tmp_path / "a.flare.hcl").chmod(0o444)
    ended = fmt(tmp_path)
    assert (ended.code, ended.out) == (2, "b.flare.hcl\n")
    assert "FIX030" in ended.err
    assert (tmp_path / "a.flare.hcl").read_text() == UNTIDY


@pytest.mark.parametrize("name", ["a b.flare.hcl", "größe.flare.hcl", "-x.flare.hcl"])
def test_odd_names(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(UNTIDY)
    ended = fmt(tmp_path)
    assert ended.code == 0
    assert ended.out.count("\n") == 1
    assert (tmp_path / name).read_text() == TIDY


def test_what_is_no_plain_file_ends_with_a_sentence(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.flare.hcl")
    (tmp_path / "gone.flare.hcl").symlink_to("nowhere")
    (tmp_path / "bytes.flare.hcl").write_bytes(b"\xff\xfe")
    (tmp_path / "loop").symlink_to(".")
    (tmp_path / "folder.flare.hcl").mkdir()
    ended = fmt(tmp_path, "-recursive")
    assert ended.code == 2
    assert {code for code in ("FIC004", "FIC005", "FIC006") if code in ended.err} >= {"FIC004", "FIC005"}
    assert "Traceback" not in ended.text


def test_standard_input_comes_back_byte_for_byte(tmp_path: Path) -> None:
    ended = piped(tmp_path, "\ufeff# größe\r\na =  1\r\nbb=2 ".encode())
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert ended.stdout == "\ufeff# größe\r\na  = 1\r\nbb = 2 ".encode()
    assert piped(tmp_path, ended.stdout, "-check").returncode == 0
    checked = piped(tmp_path, b"a=1", "-check")
    assert (checked.returncode, checked.stdout) == (3, b"")
    assert b"+a = 1" in piped(tmp_path, b"a=1", "-diff").stdout
    assert piped(tmp_path, b"").stdout == b""


@pytest.mark.parametrize("content", [b"a = ", b"\xff", b"a = <<E\n", b"a = 1 b = 2", b"(" * 300, b"\0"])
def test_standard_input_with_errors_comes_back_not_at_all(tmp_path: Path, content: bytes) -> None:
    ended = piped(tmp_path, content)
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert b"Error: " in ended.stderr
    assert b"Traceback" not in ended.stderr
