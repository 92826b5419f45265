"""The picture of a plan in README, made from what the program prints: ``python -m tests.docs.picture`` writes
it.
"""

import io
import re
import tempfile
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

from flareiac.app.discovery import installed
from flareiac.render.plan_text import plan_text
from tests.docs.pages import DOCS, ROOT
from tests.golden.case import read_case
from tests.golden.outputs import outcome

PICTURE: Final = DOCS / "plan.svg"
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


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
