"""The pictures of README and of the pages, made from what the program prints: ``python -m
tests.docs.picture`` writes them. That of a page needs a browser, which draws a little differently on each
machine.
"""

import io
import re
import tempfile
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

import flareiac
from flareiac.app.discovery import installed
from flareiac.render.plan_text import plan_text
from flareiac.render.report import html
from flareiac.render.report.content import report_of
from tests.docs.pages import DOCS, ROOT
from tests.golden.case import read_case
from tests.golden.outputs import outcome

PICTURE: Final = DOCS / "plan.svg"
SCREEN: Final = DOCS / "report.png"
PAGE_CASE: Final = ROOT / "tests" / "golden" / "cases" / "report" / "losing.txtar"
CASE: Final = ROOT / "tests" / "golden" / "cases" / "job" / "sum_to_max_of_table.txtar"
_WIDTH: Final = 96


def picture() -> str:
    """The SVG of a plan over state that Spark would silently misread."""
    with tempfile.TemporaryDirectory() as root:
        _texts, plan = outcome(read_case(CASE), Path(root))
    assert plan is not None
    console = Console(
        record=True, width=_WIDTH, file=io.StringIO(), force_terminal=True, color_system="standard"
    )
    console.print(Text("$ flareiac plan", style="bold"))
    text = plan_text(plan, colour=True, width=_WIDTH, types=installed().registry.types)
    console.print(Text.from_ansi(text))
    svg = console.export_svg(title="flareiac plan", unique_id="plan")
    # The reader's own monospace font: nothing is fetched
    return re.sub(r"\s*@font-face \{.*?\}\n", "\n", svg, flags=re.DOTALL)


def draw_screen() -> None:
    """Draws the page of a plan that loses data."""
    # Imported here: only this needs a browser.
    from tests.support.browser import browser, opened

    with tempfile.TemporaryDirectory() as root, browser() as chromium:
        _texts, plan = outcome(read_case(PAGE_CASE), Path(root))
        assert plan is not None
        types = installed().registry.types
        report = report_of(plan, tool_version=flareiac.__version__, types=types, picture=html.PICTURE)
        file = Path(root) / "plan.html"
        file.write_text(html.report_html(report), encoding="utf-8")
        with opened(chromium, file, viewport={"width": 1120, "height": 780}) as shown:
            shown.page.screenshot(path=SCREEN)


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
    draw_screen()
