"""The page of an example names what its script needs, as the head of the script does."""

from pathlib import Path

import pytest

from tests.docs.pages import ROOT

_SCRIPTS = sorted((ROOT / "examples").glob("*/run.sh"))
_PAGES = {"quickstart": ROOT / "README.md"}


@pytest.mark.parametrize("script", _SCRIPTS, ids=lambda path: path.parent.name)
def test_the_page_names_what_the_script_needs(script: Path) -> None:
    head = script.read_text(encoding="utf-8").partition("set -euo")[0]
    page = _PAGES.get(script.parent.name, script.with_name("README.md")).read_text(encoding="utf-8")
    assert f"bash examples/{script.parent.name}/run.sh" in head + page
    needs = [word for word in ("Python 3.11", "Java", "Maven", "PostgreSQL", "git") if f"{word}" in head]
    missing = [word for word in needs if word not in page]
    assert needs[:1] == ["Python 3.11"]
    assert missing == []
