"""End-to-end scripts: one story per small txtar file, told by the command line and what it answers.

The comment holds lines ``$ command`` (``flareiac ...`` runs it, with ``NAME=VALUE`` before it in its
environment; ``write NAME SECTION`` puts a section's text
into a file, ``remove NAME`` takes a file or directory away), each followed by what must be seen: ``> text``
is part of standard output, ``! text`` of standard error, ``~ text`` of neither, ``? code`` the exit code (0
unless said). Other sections are files of the project; the name ``main.flare.hcl`` is there from the start.
White space counts as one space, so that wrapped lines do not matter.
"""

import re
import shlex
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.command_line import flareiac
from tests.support.txtar import Archive, parse_txtar

SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("*.txtar"))


@dataclass(slots=True)
class Step:
    """One command and what must be seen of it."""

    words: list[str]
    code: int = 0
    out: list[str] = field(default_factory=list)
    err: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script(script: Path, tmp_path: Path) -> None:
    archive = parse_txtar(script.read_text(encoding="utf-8"))
    if "main.flare.hcl" in archive.files:
        (tmp_path / "main.flare.hcl").write_text(archive.files["main.flare.hcl"], encoding="utf-8")
    for step in steps(archive.comment):
        run(step, archive, tmp_path)


def steps(text: str) -> list[Step]:
    """The steps that a script's comment spells."""
    found: list[Step] = []
    for line in text.splitlines():
        mark, _, rest = line.partition(" ")
        match mark:
            case "$":
                found.append(Step(words=shlex.split(rest)))
            case "?":
                found[-1].code = int(rest)
            case ">":
                found[-1].out.append(rest)
            case "!":
                found[-1].err.append(rest)
            case "~":
                found[-1].absent.append(rest)
            case _:
                pass
    return found


def run(step: Step, archive: Archive, root: Path) -> None:
    """Runs one step and checks what is seen."""
    match step.words:
        case ["write", name, section]:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(archive.files[section], encoding="utf-8")
        case ["remove", name]:
            path = root / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        case words if "flareiac" in words:
            at = words.index("flareiac")
            done = flareiac(root, *words[at + 1 :], **dict(item.split("=", 1) for item in words[:at]))
            told = f"$ {' '.join(step.words)}\n{done.text}"
            assert done.code == step.code, told
            assert "Traceback" not in done.text, told
            out, err = squeezed(done.out), squeezed(done.err)
            assert [text for text in step.out if squeezed(text) not in out] == [], told
            assert [text for text in step.err if squeezed(text) not in err] == [], told
            assert [text for text in step.absent if squeezed(text) in out + err] == [], told
        case _:
            pytest.fail(f"not a command: {step.words}")


def squeezed(text: str) -> str:
    """A text without the frames of diagnostics and with single spaces."""
    return re.sub(r"[\s│╷╵]+", " ", text).strip()
