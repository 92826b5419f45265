"""Times of the data lie in any year, and Python's dates end with 9999: beside Spark and in its
provider one module turns them into text, and takes each of them.
"""

from pathlib import Path

_PROVIDERS = Path(__file__).parents[2] / "providers"
_OWN_CLOCK = {"driver/log_lines.py", "driver/source_watch.py", "control/refused_start.py"}
"""Times that this machine's clock gave."""


def test_only_times_of_our_own_clock_become_dates_of_python() -> None:
    found = {
        "/".join(path.parts[-2:])
        for package in ("flareiac_spark", "flareiac_spark_runtime")
        for path in (_PROVIDERS / package).rglob("*.py")
        if "fromtimestamp(" in path.read_text("utf-8")
    }
    assert found == _OWN_CLOCK
