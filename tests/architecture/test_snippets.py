"""Blocks that messages show to be copied are ones that the language takes: each is parsed."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Source
from flareiac.lang.parse import parse_file

_ROOT: Final = Path(__file__).parents[2]
_BLOCK: Final = re.compile(r'(?<![\w.="$-])(?<!= )[a-z_]+(?: "[^"\n]*")* \{(?=[\s}])')


def _texts(path: Path) -> Iterator[str]:
    """The texts of a module but its docstrings, with a name for each value that is formatted into them."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    left_out: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            left_out.add(id(node.value))
        if isinstance(node, ast.JoinedStr):
            left_out.update(map(id, node.values))
            parts = (item.value if isinstance(item, ast.Constant) else "value" for item in node.values)
            yield "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in left_out:
            yield node.value


def _snippets(text: str) -> Iterator[str]:
    """The blocks in a text, outermost ones alone, up to the brace that closes them."""
    at = 0
    while (found := _BLOCK.search(text, at)) is not None:
        depth, at = 0, found.end()
        for place in range(found.end() - 1, len(text)):
            depth += {"{": 1, "}": -1}.get(text[place], 0)
            if depth == 0:
                at = place + 1
                yield text[found.start() : at]
                break


def _all() -> list[tuple[str, str]]:
    return [
        (str(path.relative_to(_ROOT)), snippet)
        for folder in ("flareiac", "providers", "state")
        for path in sorted((_ROOT / folder).rglob("*.py"))
        for text in _texts(path)
        for snippet in _snippets(text)
    ]


@pytest.mark.parametrize(("module", "snippet"), sorted(set(_all())))
def test_a_block_in_a_message_is_one_that_the_language_takes(module: str, snippet: str) -> None:
    diagnostics = Diagnostics()
    text = snippet.replace("{ ... }", "{}").replace("{ value }", "{}").replace("= ...", "= null")
    parse_file(Source(module, f"{text}\n"), diagnostics, cache=False)
    assert not list(diagnostics), snippet
