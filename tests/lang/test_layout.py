"""``fmt`` lays a text out as ``terraform fmt`` does, and changes nothing but its layout.

The binary is the oracle, run until nothing changes: what is in ``"${"${x}"}"`` takes it several times, and
FlareIaC one. Where both differ on purpose, a case here says how.
"""

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import pytest

from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Source
from flareiac.lang.layout import formatted
from flareiac.lang.parse import parse_file
from flareiac.lang.syntax import Body
from tests.lang.layout_texts import Texts
from tests.support.txtar import parse_txtar

ROOT: Final = Path(__file__).parents[2]
REAL: Final = [
    *(path.read_bytes().decode() for path in sorted((ROOT / "examples").rglob("*.flare.hcl"))),
    *(
        text
        for case in sorted((ROOT / "tests" / "golden" / "cases").rglob("*.txtar"))
        for name, text in parse_txtar(case.read_text(encoding="utf-8")).files.items()
        if name.endswith(".hcl")
    ),
]
_ROUNDS: Final = 3


def tree(text: str) -> Body | None:
    """The syntax of a text without places, None where it has errors."""
    diagnostics = Diagnostics()
    body = parse_file(Source("file.flare.hcl", text), diagnostics, cache=False)
    return None if diagnostics.has_errors else body


def of_terraform(texts: Iterable[str], directory: Path) -> Mapping[str, str]:
    """The layouts of the texts that Terraform takes."""
    directory.mkdir()
    named = {directory / f"{number}.tf": text for number, text in enumerate(texts)}
    for path, text in named.items():
        path.write_text(text, newline="")
    refused = ""
    for _ in range(_ROUNDS):
        refused = subprocess.run(
            ["terraform", "fmt", "-no-color", "-list=false", "."],
            cwd=directory,
            env={**os.environ, "TF_CLI_CONFIG_FILE": os.devnull},
            capture_output=True,
            text=True,
            check=False,
        ).stderr
    return {
        text: path.read_bytes().decode() for path, text in named.items() if f" on {path.name} " not in refused
    }


def random_texts(count: int) -> list[str]:
    made = [Texts(seed).file() for seed in range(count)]
    return [text for text in made if tree(text) is not None]


def mangled_texts(rounds: int) -> list[str]:
    return [
        mangled
        for seed in range(rounds)
        for text in REAL
        if tree(text) is not None and tree(mangled := Texts(seed).mangled(text)) is not None
    ]


@pytest.mark.skipif(shutil.which("terraform") is None, reason="the terraform binary is the oracle")
def test_the_layout_is_that_of_terraform(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    many = request.config.getoption("--slow")
    texts = {*random_texts(10_000 if many else 400), *REAL, *mangled_texts(4 if many else 1)}
    readable = [text for text in texts if tree(text) is not None]
    answers = of_terraform(readable, tmp_path / "files")
    assert len(answers) > len(readable) * 0.9
    assert [text for text, wanted in answers.items() if formatted(text) != wanted][:1] == []


def test_a_second_time_changes_nothing() -> None:
    for text in [*random_texts(300), *mangled_texts(1)]:
        once = formatted(text)
        assert formatted(once) == once


def test_the_syntax_stays_the_same() -> None:
    # Old spellings of types and of whole values are replaced: these texts have none.
    plain = [text.replace('"${', '"-${') for text in random_texts(300) if "type=" not in text]
    for text in [*mangled_texts(1), *plain]:
        if (before := tree(text)) is not None:
            assert tree(formatted(text)) == before


def test_every_result_can_be_read() -> None:
    assert [text for text in random_texts(300) if tree(formatted(text)) is None] == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param("\ufeffa=1\r\nbb = 2\r\n", "\ufeffa  = 1\r\nbb = 2\r\n", id="a byte order mark stays"),
        pytest.param("b /* why */ x {}\n", 'b /* why */ "x" {}\n', id="a comment before a label stays"),
        pytest.param('b  "$${x}\\u0041" {}\n', 'b "$${x}\\u0041" {}\n', id="an escape in a label stays"),
        pytest.param(
            'a="${ # why\nb}"\n', 'a = "${ # why\nb}"\n', id="a comment that would cut the expression off"
        ),
        pytest.param('a="${(b)+\n(c)}"\n', "a = ((b) +\n(c))\n", id="lines that no bracket holds"),
    ],
)
def test_what_terraform_loses_stays(text: str, wanted: str) -> None:
    assert formatted(text) == wanted
    assert tree(wanted) is not None
