"""The pages for developers name files that are there, and walks stay short."""

import re
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    named = PATH.findall(page.read_text(encoding="utf-8"))
    assert named
    # Patterns of golden cases are written in capitals.
    missing = [path for path in named if "RESOURCE" not in path and not list(ROOT.glob(path))]
    assert missing == []


def test_a_walk_has_few_stations() -> None:
    walks = ARCHITECTURE.read_text(encoding="utf-8").split("\n## ")[1:]
    stations = [len(re.findall(r"^\d+\. ", walk, re.MULTILINE)) for walk in walks]
    assert len(stations) == 5
    assert max(stations) <= STATIONS
