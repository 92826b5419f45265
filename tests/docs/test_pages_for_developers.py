"""The pages for developers name files that are there, and walks stay short."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, ROOT

ARCHITECTURE = DOCS / "dev" / "architecture.md"
PAGES = [
    ROOT / ".github" / "CONTRIBUTING.md",
    ROOT / "tests" / "README.md",
    ARCHITECTURE,
    DOCS / "dev" / "comparison.md",
    DOCS / "dev" / "providers.md",
    *sorted((DOCS / "dev" / "decisions").glob("*.md")),
]
PATH = re.compile(r"`((?:flareiac|providers|tests|state|examples)/[\w./*-]+)`")
STATIONS = 15
TESTS = ROOT / "tests" / "README.md"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    named = PATH.findall(page.read_text(encoding="utf-8"))
    assert named
    # Patterns of golden cases are written in capitals; a kind stands for each package.
    patterns = [path.replace("KIND", "*") for path in named if "RESOURCE" not in path]
    missing = [path for path in patterns if not list(ROOT.glob(path))]
    assert missing == []


def test_a_walk_has_few_stations() -> None:
    walks = ARCHITECTURE.read_text(encoding="utf-8").split("\n## ")[1:]
    stations = [len(re.findall(r"^\d+\. ", walk, re.MULTILINE)) for walk in walks]
    assert len(stations) == 7
    assert max(stations) <= STATIONS


def packages() -> Iterator[tuple[Path, Path]]:
    """The packages of the core, providers and what a provider holds, each with the folder of its name in the
    tests.
    """
    for package in folders(ROOT / "flareiac"):
        yield package, ROOT / "tests" / package.name
    for provider in folders(ROOT / "providers"):
        place = ROOT / "tests" / provider.name.removeprefix("flareiac_").removesuffix("_runtime")
        yield provider, place
        yield from ((package, place / package.name) for package in folders(provider))


def folders(root: Path) -> list[Path]:
    return sorted(path.parent for path in root.glob("*/__init__.py"))


def test_a_package_has_its_tests_in_the_folder_of_its_name_or_where_the_page_says() -> None:
    page = TESTS.read_text(encoding="utf-8")
    elsewhere = set(re.findall(r"^\| `([\w/]+)` \|", page, re.MULTILINE))
    without = {
        f"{package.relative_to(ROOT)}" for package, place in packages() if not any(place.rglob("test_*.py"))
    }
    assert without == elsewhere
