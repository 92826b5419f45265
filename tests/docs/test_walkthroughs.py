"""Pages are played: ``hcl FILE`` writes a file, ``console`` runs commands and holds what they print against
the page.
"""

import re
import shlex
from pathlib import Path

import pytest

from tests.docs.fences import Fence, fences, missing, outline
from tests.docs.pages import DOCS
from tests.support.command_line import flareiac

PLAYED = [
    page for page in sorted(DOCS.glob("*.md")) if any(item.language == "console" for item in fences(page))
]


@pytest.mark.parametrize("page", PLAYED, ids=lambda page: page.stem)
def test_a_page_shows_what_the_program_prints(page: Path, tmp_path: Path) -> None:
    for fence in fences(page):
        if fence.language == "hcl" and fence.argument:
            (tmp_path / fence.argument).write_text(fence.text, encoding="utf-8")
        elif fence.language == "console":
            _play(fence, tmp_path)


def _play(fence: Fence, root: Path) -> None:
    for command in re.split(r"^\$ ", fence.text, flags=re.MULTILINE)[1:]:
        line, _, told = command.partition("\n")
        words = shlex.split(line, comments=True)
        if words[0] != "flareiac":
            _shell_word(words, root)
            continue
        code = re.search(r"^\(exit code (\d+)\)$", told, re.MULTILINE)
        done = flareiac(root, *words[1:])
        seen = f"{fence}: $ {line}\n{done.text}"
        assert done.code == (int(code[1]) if code else 0), seen
        wanted = [item for item in outline(told) if not item.startswith("(exit code ")]
        assert missing(wanted, outline(re.sub(r"[│╷╵]", " ", done.text))) is None, seen


def _shell_word(words: list[str], root: Path) -> None:
    match words:
        case ["rm", *names]:
            for name in names:
                (root / name).unlink()
        case ["mv", before, after]:
            (root / before).rename(root / after)
        case ["mkdir", name]:
            (root / name).mkdir()
        case _:
            pytest.fail(f"not a command of a page: {words}")
