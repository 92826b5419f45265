"""Commands, blocks and settings of other tools are answered with what does their work here, which exists."""

import re
from collections.abc import Iterator, Mapping

import pytest

from flareiac.app.discovery import installed
from flareiac.app.explain import explain
from flareiac.app.provided_commands import provided_commands
from flareiac.app.state_place.place import installed_backend
from flareiac.cli.command_tree import CORE
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.main import run
from flareiac.cli.other_tools import SUBSTITUTES
from flareiac.config.blocks import OTHER_BLOCKS, instead_of
from flareiac.kernel.types import ObjectType
from flareiac.sdk.commands import Group
from flareiac.sdk.schema import Block

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
    "typed", [["get"], ["taint", "table.x"], ["help", "plan"], ["force-unlock", "-force", "x"]]
)
def test_the_answer_names_it(typed: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(typed) == ExitCode.USAGE
    assert SUBSTITUTES[typed[0]] in capsys.readouterr().err


def _schemas(path: str, block: Block) -> Iterator[tuple[str, Mapping[str, object], Mapping[str, str]]]:
    """Each place with the names that exist there, and the advice for those that do not."""
    yield path, {**block.attributes, **block.blocks}, block.instead
    for name, attribute in block.attributes.items():
        keys = attribute.type.attributes if isinstance(attribute.type, ObjectType) else {}
        yield f"{path}.{name}", keys, attribute.instead
    for name, nested in block.blocks.items():
        yield from _schemas(f"{path}.{name}", nested.block)


def _advice() -> Iterator[tuple[str, str, bool, str]]:
    for kind, resource in installed().registry.types.items():
        for path, known, instead in _schemas(kind, resource.schema):
            yield from ((path, name, name in known, text) for name, text in instead.items())
    for kind in ("s3", "postgresql", "local"):
        settings = installed_backend(kind).settings
        known = {item.name: item for item in settings}
        for item in settings:
            yield from ((kind, name, name in known, text) for name, text in item.instead_of.items())
    for name in sorted(OTHER_BLOCKS):
        yield "", name, name in installed().registry.types, instead_of(name) or ""


@pytest.mark.parametrize(("place", "name", "exists", "text"), list(_advice()))
def test_advice_is_for_what_is_not_there_and_names_what_is(
    place: str, name: str, exists: bool, text: str
) -> None:
    assert not exists, f"{place} has {name}"
    for topic in re.findall(r"flareiac explain ([\w.]+)", text):
        assert explain(topic).name == topic
