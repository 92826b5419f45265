"""The grammar's table travels with the program: no command computes it, whatever the cache directory is
like.
"""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Final

import pytest

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.sources import Source
from flareiac.lang import grammar
from flareiac.lang.build import Builder
from flareiac.lang.lalr import parse
from flareiac.lang.origin import Origin
from flareiac.lang.syntax_errors import InvalidSyntax
from flareiac.lang.tokens import tokenize
from tests.docs.versions import constraints

_CHECKED_IN: Final = pytest.mark.skipif(
    version("python-hcl2") != constraints()["python-hcl2"], reason="the grammar is another version's"
)


@_CHECKED_IN
def test_the_table_is_that_of_the_grammar() -> None:
    """``python -m flareiac.lang.grammar`` writes it."""
    assert grammar.SHIPPED.read_text(encoding="utf-8") == grammar.shipped_text()


@_CHECKED_IN
def test_a_first_command_neither_computes_nor_keeps_it(tmp_path: Path) -> None:
    code = "import sys; from flareiac.lang.grammar import table; table(); print('lark' in sys.modules)"
    environment = {"XDG_CACHE_HOME": str(tmp_path), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
    assert not list(tmp_path.rglob("grammar*"))


def test_another_grammar_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where another version of python-hcl2 is installed: the first command compiles its grammar."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    installed = grammar._grammar()
    production = "!unary_op : (MINUS | NOT)"
    assert production in installed
    monkeypatch.setattr(
        grammar, "_grammar", lambda: installed.replace(production, "!unary_op : (MINUS | NOT | PLUS)")
    )
    other = grammar.table.__wrapped__()
    assert _accepts("a = +1\n", other)
    assert not _accepts("a = +1\n", grammar.table())
    monkeypatch.setattr(grammar, "_table_text", _never)
    assert grammar.table.__wrapped__().states == other.states
    (kept,) = (path for path in tmp_path.rglob("grammar_table*") if path.is_file())
    kept.write_bytes(kept.read_bytes()[:-9])
    with pytest.raises(AssertionError, match="is compiled"):
        grammar.table.__wrapped__()


def _accepts(text: str, table: grammar.Table) -> bool:
    origin = Origin(Source("main.flare.hcl", text))
    try:
        parse(tokenize(text), table, Builder(text, origin))
    except InvalidSyntax:
        return False
    return True


def _never(_grammar: str) -> str:
    raise AssertionError("a table is compiled")


def test_a_grammar_with_an_unknown_production_is_refused() -> None:
    with pytest.raises(Failure) as refused:
        grammar._amended("start : body")
    assert refused.value.diagnostics[0].code == codes.GRAMMAR_NOT_KNOWN.id
    for old, new in grammar._AMENDMENTS:
        others = "\n".join(each for each, _ in grammar._AMENDMENTS if each != old)
        assert new in grammar._amended(f"{new}\n{others}"), "a later version may have it by itself"
