"""Times of the data lie in any year, and Python's dates end with 9999: in the Spark provider one module turns
them into text, and takes each of them.
"""

from pathlib import Path

_ROOM = Path(__file__).parents[2] / "providers/flareiac_spark"
_OWN_CLOCK = {"driver/log_lines.py", "driver/source_watch.py", "control/refused_start.py"}
"""Times that this machine's clock gave."""


def test_only_times_of_our_own_clock_become_dates_of_python() -> None:
    found = {
        str(path.relative_to(_ROOM))
        for path in _ROOM.rglob("*.py")
        if "fromtimestamp(" in path.read_text("utf-8")
    }
    assert found == _OWN_CLOCK
