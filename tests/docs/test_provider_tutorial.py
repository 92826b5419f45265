"""The tutorial of a provider is played from its first line to its last: files are written and changed, the
distribution is built, commands run in a shell and print what the page shows.

A fence names its file after the language. ``diff FILE`` changes one, with ``@@`` between its parts.
"""

import os
import re
import signal
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.docs.fences import Fence, fences, outline
from tests.docs.pages import DOCS
from tests.support.command_line import environment

PAGE: Final = DOCS / "dev" / "providers.md"
_INSTALL: Final = "pip install -e ."
_PACKAGE: Final = "flareiac_notes/"


@dataclass(frozen=True, slots=True)
class Reader:
    """A person at a shell. ``folder`` is where the reader works, ``programs`` comes first in PATH."""

    folder: Path
    programs: Path
    site: Path

    def write(self, fence: Fence) -> None:
        assert fence.argument, f"{fence} names no file"
        path = self.folder / fence.argument
        path.parent.mkdir(exist_ok=True)
        path.write_text(fence.text, encoding="utf-8")

    def change(self, fence: Fence) -> None:
        """Makes each part of a diff; the lines that it takes away or leaves stand in the file once."""
        path = self.folder / fence.argument
        text = path.read_text(encoding="utf-8")
        for part in fence.text.split("@@\n"):
            lines = part.splitlines(keepends=True)
            before, after = (
                "".join(line[1:] for line in lines if line[0] in signs) for signs in (" -", " +")
            )
            assert text.count(before) == 1, f"{fence}:\n{before}"
            text = text.replace(before, after)
        path.write_text(text, encoding="utf-8")

    def play(self, fence: Fence) -> None:
        for command in re.split(r"^\$ ", fence.text, flags=re.MULTILINE)[1:]:
            line, _, shown = command.partition("\n")
            if line == _INSTALL:
                self.install()
            else:
                self.run(line, shown, fence)

    def install(self) -> None:
        """Installs as pip does, from a wheel that is built without a network: its metadata are on the path
        of imports, and so is the folder, as in an editable installation.
        """
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(self.site)]
        subprocess.run(command, cwd=self.folder, check=True, capture_output=True)
        (wheel,) = self.site.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            files = archive.namelist()
            packed = {name for name in files if name.startswith(_PACKAGE)}
            archive.extractall(self.site, [name for name in files if name not in packed])
        written = (path for path in (self.folder / _PACKAGE).iterdir() if path.is_file())
        assert packed == {f"{_PACKAGE}{path.name}" for path in written}

    def run(self, line: str, shown: str, fence: Fence) -> None:
        """Runs a command and holds its exit code and all that it prints against the page."""
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder,
            env=environment(
                PATH=os.pathsep.join((str(self.programs), os.environ["PATH"])),
                PYTHONPATH=os.pathsep.join(
                    filter(None, (str(self.site), str(self.folder), os.environ.get("PYTHONPATH")))
                ),
            ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )
        printed = done.stdout + done.stderr
        seen = f"{fence}: $ {line}\n{printed}"
        code = re.search(r"^\(exit code (\d+)\)\n", shown, re.MULTILINE)
        ended = 128 + signal.SIGKILL if done.returncode == -signal.SIGKILL else done.returncode
        assert ended == (int(code[1]) if code else 0), seen
        wanted = _lines(shown.replace(code[0], "") if code else shown)
        assert shows(wanted, _lines(re.sub(r"[│╷╵]", " ", printed))), seen


def _lines(text: str) -> list[str]:
    """The lines without their layout, and without the time that an operation took."""
    return outline(re.sub(r" after \d+s$", " after 0s", text, flags=re.MULTILINE))


def shows(wanted: Sequence[str], seen: Sequence[str]) -> bool:
    """Returns True if these are the lines, but for those that a line of dots stands for."""
    pattern = "".join(r"(?:.*\n)*" if line == "..." else re.escape(f"{line}\n") for line in wanted)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in seen)) is not None


def test_the_tutorial_works_as_it_stands(tmp_path: Path) -> None:
    reader = Reader(*(tmp_path / name for name in ("notes", "programs", "site")))
    for folder in (reader.folder, reader.programs):
        folder.mkdir()
    program = reader.programs / "flareiac"
    code = "from flareiac.cli.main import main; main()"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -W ignore -c '{code}' \"$@\"\n", encoding="utf-8")
    program.chmod(0o755)
    for fence in fences(PAGE):
        match fence.language:
            case "console":
                reader.play(fence)
            case "diff":
                reader.change(fence)
            case _:
                reader.write(fence)


def test_lines_that_are_left_out_are_marked() -> None:
    seen = ["a", "b", "c", "d"]
    for wanted in ("a b c d", "...", "a ...", "... d", "a ... c d", "... b c ...", "a ... b c d"):
        assert shows(wanted.split(), seen), wanted
    for wanted in ("", "a", "d", "a d", "b ...", "... c", "... b d", "... a b", "a b c d e"):
        assert not shows(wanted.split(), seen), wanted
