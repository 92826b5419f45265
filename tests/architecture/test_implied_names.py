"""A connection without a block is known by what it is, never by its name: a block may have the same."""

import ast
from pathlib import Path

from flareiac.config.module_call import EMBEDDED

ROOT = Path(__file__).parents[2]
_HOME = ROOT / "flareiac" / "config" / "module_call.py"


def test_no_name_is_compared_with_that_of_a_connection_without_a_block() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for room in ("flareiac", "providers", "state")
        for path in sorted((ROOT / room).rglob("*.py"))
        if path != _HOME
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Constant) and isinstance(node.value, str) and _names(node.value))
        or (isinstance(node, ast.Name) and node.id == "EMBEDDED")
    ]
    assert found == [], "ask Resolved.implied"


def _names(text: str) -> bool:
    return text == EMBEDDED or (text.endswith(f".{EMBEDDED}") and " " not in text)
