"""``flareiac fmt`` would change nothing of what users copy: examples, blocks of pages, the first project."""

import re
from pathlib import Path

import pytest

from flareiac.cli.commands.new import FIRST_PROJECT
from flareiac.lang.layout import formatted
from tests.docs.fences import Fence, fences
from tests.docs.pages import pages

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").rglob("*.hcl"))
FENCES = [fence for page in pages() for fence in fences(page) if fence.language == "hcl"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.relative_to(ROOT)))
def test_an_example_is_laid_out(path: Path) -> None:
    text = path.read_bytes().decode()
    assert formatted(text) == text


@pytest.mark.parametrize("fence", FENCES, ids=str)
def test_a_block_of_a_page_is_laid_out(fence: Fence) -> None:
    text = re.sub(r"^(\s*)\.\.\.$", r"\1# ...", fence.text, flags=re.MULTILINE)
    assert formatted(text) == text


def test_the_first_project_is_laid_out() -> None:
    assert formatted(FIRST_PROJECT) == FIRST_PROJECT
