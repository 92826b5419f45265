"""Commands of other tools are answered with the command that does their work here, and that one exists."""

import re

import pytest

from flareiac.app.provided_commands import provided_commands
from flareiac.cli.command_tree import CORE
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.main import run
from flareiac.cli.other_tools import SUBSTITUTES
from flareiac.sdk.commands import Group

_NAMED = re.compile(r"(?<!terraform )\bflareiac ([a-z]+)(?: ([a-z]+))?")


def test_no_command_that_exists_is_listed_as_one_of_another_tool() -> None:
    assert not SUBSTITUTES.keys() & {*CORE, *provided_commands()}


@pytest.mark.parametrize("typed", SUBSTITUTES)
def test_what_is_named_instead_exists(typed: str) -> None:
    known = {**CORE, **provided_commands()}
    for first, second in _NAMED.findall(SUBSTITUTES[typed]):
        assert first in known
        if isinstance(group := known[first], Group):
            assert second in group.commands


@pytest.mark.parametrize(
    "typed", [["fmt"], ["taint", "table.x"], ["help", "plan"], ["force-unlock", "-force", "x"]]
)
def test_the_answer_names_it(typed: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(typed) == ExitCode.USAGE
    assert SUBSTITUTES[typed[0]] in capsys.readouterr().err
