"""A name says what it holds: nothing in the product is called ``item`` or ``found``."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("flareiac", "providers", "state")
VAGUE = {"item", "found"}
OF_THE_CONTRACT = {
    "flareiac/sdk/table_tasks.py: found",
    "providers/flareiac_spark/runtime/cache.py: found",
    "providers/flareiac_spark_runtime/control/operations.py: found",
    "providers/flareiac_spark_runtime/control/status.py: found",
}
"""Fields that performers of other packages set, or that stand in documents under this name."""


def _bound(node: ast.AST) -> str | None:
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
            return name
        case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return name
        case ast.MatchAs(name=name) | ast.MatchStar(name=name):
            return name
        case _:
            return None


@pytest.mark.parametrize("room", ROOMS)
def test_no_identifier_is_called_item_or_found(room: str) -> None:
    """A step in a loop is ``step``, the problems of a check are ``problems``."""
    vague = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in (ROOT / room).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (name := _bound(node)) in VAGUE
    }
    assert vague <= OF_THE_CONTRACT
