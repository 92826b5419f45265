"""A name says what it holds: rooms in which nothing is called ``item`` or ``found`` any more stay so."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = (
    "flareiac",
    "providers/flareiac_aws",
    "providers/flareiac_iceberg",
    "providers/flareiac_iceberg_runtime",
    "providers/flareiac_kafka",
    "providers/flareiac_secrets",
)
VAGUE = {"item", "found"}
OF_THE_CONTRACT = {"flareiac/sdk/table_tasks.py: found"}
"""``Performed.found`` is a field that performers of other packages set."""


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
