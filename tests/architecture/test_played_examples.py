"""The checks of the tree look past what an example leaves behind that was played in it."""

import re
import tomllib
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
LEFT: Final = "examples/quickstart/work/beside/examples/fan-out/produce.py"
"""A copy of a program: the quickstart plays others beside it."""


def test_types_are_not_checked_in_what_an_example_made() -> None:
    assert "examples/*/work/" in (ROOT / ".gitignore").read_text("utf-8").splitlines()  # what ruff goes by
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mypy"]
    assert any(re.search(pattern, LEFT) for pattern in settings["exclude"])
    assert not any(re.search(pattern, "examples/fan-out/produce.py") for pattern in settings["exclude"])
