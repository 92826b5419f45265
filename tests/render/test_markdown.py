"""Markdown on a terminal: nothing is lost, code can be copied, and colours are those that a terminal may
get.
"""

from pathlib import Path

import pytest

from flareiac.render.control_characters import visible
from flareiac.render.markdown import terminal_text
from tests.docs.pages import DOCS

PAGE = """\
# Title

Text with `code`, **weight** and [Recovery](recovery.md). <!-- hidden -->

## Section

- one
- two `x`

```hcl
table "a" {
  namespace = "b"
}
```

| name | what |
|---|---|
| `a` | first |
"""


def test_without_colour_code_keeps_its_marks_and_blocks_are_indented() -> None:
    found = terminal_text(PAGE, width=80, colour=False)
    assert found.startswith("Title\n=====\n")
    assert "Text with `code`, weight and Recovery (`flareiac explain recovery`)." in found
    assert '    table "a" {\n      namespace = "b"\n    }\n' in found
    assert "`a`" in found
    assert "\x1b" not in found


def test_a_narrow_terminal_wraps_text_and_never_code() -> None:
    found = terminal_text("word " * 30 + "\n\n```\n" + "x" * 90 + "\n```\n", width=40, colour=False)
    assert "x" * 90 in found
    assert max(len(line) for line in found.splitlines() if "word" in line) <= 40


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.stem)
def test_a_terminal_may_get_every_page_as_it_is(page: Path) -> None:
    found = terminal_text(page.read_text(encoding="utf-8"), width=100, colour=True)
    assert visible(found) == found
