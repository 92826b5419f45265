"""The comparison of figures with their bars and with an earlier run."""

from pathlib import Path

import pytest

from tests.bench.comparison import earlier_values, table
from tests.bench.figure import Better, Figure, NotMeasured

SLOW = Figure(name="start", value=0.3, unit="s", bar=0.2)
FAST = Figure(name="rows", value=1.02, unit="times", bar=0.98, better=Better.HIGHER)
SKIPPED = NotMeasured(name="beside terraform", reason="terraform is not on PATH")


def test_a_table_tells_which_bars_are_met() -> None:
    assert table([SLOW, FAST, SKIPPED], {}).splitlines() == [
        "FIGURE            NOW   UNIT   BAR",
        "start             0.3   s      <= 0.2   MISSED",
        "rows              1.02  times  >= 0.98  met",
        "beside terraform  -                     terraform is not on PATH",
    ]


def test_beside_an_earlier_run_it_tells_what_changed(tmp_path: Path) -> None:
    file = tmp_path / "before.txt"
    earlier = [Figure(name="start", value=0.2, unit="s"), Figure(name="rows", value=1.0, unit="times")]
    file.write_text("".join(f"{item.line()}\n" for item in earlier) + "some table of the matrix\n")
    assert table([SLOW, FAST, Figure(name="new", value=1, unit="s")], earlier_values(file)).splitlines() == [
        "FIGURE  BEFORE  NOW   UNIT   BAR              CHANGE",
        "start   0.2     0.3   s      <= 0.2   MISSED  +50% WORSE",
        "rows    1       1.02  times  >= 0.98  met     as before",
        "new     -       1     s",
    ]


@pytest.mark.parametrize("content", ["", "no figures\n", '{"figure": 1', '{"value": 3}'])
def test_a_file_without_figures_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "before.txt"
    file.write_text(content)
    with pytest.raises(ValueError, match="figure"):
        earlier_values(file)
