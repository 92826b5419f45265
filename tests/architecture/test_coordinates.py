"""Versions of jars stand in one table."""

import re
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).parents[2]
_COORDINATE: Final = re.compile(r"\b[a-z][a-z0-9.-]+\.[a-z0-9.-]+:[a-z][\w.-]+:\d[\w.-]*")
_IN_MESSAGES: Final = {"providers/flareiac_spark/runtime/coordinates.py"}
"""An example of the form."""


def test_no_other_module_names_the_version_of_a_jar() -> None:
    modules = [
        *_ROOT.glob("flareiac/**/*.py"),
        *_ROOT.glob("providers/**/*.py"),
        *_ROOT.glob("state/**/*.py"),
    ]
    naming = {
        str(path.relative_to(_ROOT))
        for path in modules
        if _COORDINATE.search(path.read_text(encoding="utf-8"))
    }
    assert naming - _IN_MESSAGES == {"flareiac/sdk/versions.py"}
