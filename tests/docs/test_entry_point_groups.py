"""The entry point groups that the code reads are declared by this package and listed by the pages."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, ROOT

READERS = ("entry_points", "plug_in")
"""The functions that look a group up."""
NAME = re.compile(r"`flareiac\.([a-z_]+)`")


def groups_in(source: str) -> Iterator[str]:
    """The groups that calls in a module name: as a text, or by a constant of the module."""
    tree = ast.parse(source)
    constants = {
        node.target.id: node.value
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in READERS:
            arguments = [*node.args, *(each.value for each in node.keywords if each.arg == "group")]
            for argument in arguments[:1]:
                given = constants.get(argument.id) if isinstance(argument, ast.Name) else argument
                if isinstance(given, ast.Constant):
                    yield str(given.value)


@pytest.fixture(scope="module")
def groups() -> set[str]:
    sources = [path for room in ("flareiac", "providers", "state") for path in (ROOT / room).rglob("*.py")]
    return {group for path in sources for group in groups_in(path.read_text(encoding="utf-8"))}


def test_groups_are_found_in_a_module() -> None:
    text = 'G: Final = "a.b"\nplug_in(G, "x")\nentry_points(group="a.c")\nentry_points(group=unknown)'
    assert list(groups_in(text)) == ["a.b", "a.c"]


def test_the_package_declares_entries_of_each_group(groups: set[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(project["entry-points"]) == groups


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", DOCS / "dev" / "providers.md"], ids=lambda page: page.name
)
def test_a_page_lists_each_group(page: Path, groups: set[str]) -> None:
    """A name in a page that is no package of the core is that of a group."""
    packages = {path.stem for path in (ROOT / "flareiac").iterdir()}
    named = set(NAME.findall(page.read_text(encoding="utf-8"))) - packages
    assert {f"flareiac.{name}" for name in named} == groups
