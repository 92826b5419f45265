"""The grammar's table travels with the program: no command computes it, whatever the cache directory is
like.
"""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from flareiac.lang import grammar
from tests.docs.versions import constraints


@pytest.mark.skipif(
    version("python-hcl2") != constraints()["python-hcl2"], reason="the grammar is another version's"
)
def test_the_table_is_that_of_the_grammar() -> None:
    """``python -m flareiac.lang.grammar`` writes it."""
    assert grammar.SHIPPED.read_text(encoding="utf-8") == grammar.shipped_text()


def test_a_first_command_neither_computes_nor_keeps_it(tmp_path: Path) -> None:
    code = "import sys; from flareiac.lang.grammar import table; table(); print('lark' in sys.modules)"
    environment = {"XDG_CACHE_HOME": str(tmp_path), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
    assert not list(tmp_path.rglob("grammar*"))


def test_another_grammar_is_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammar, "SHIPPED", tmp_path / "none.json")
    computed = grammar.table.__wrapped__()
    monkeypatch.undo()
    assert len(computed.states) == len(grammar.table().states)
    assert {rule.name for rule in computed.rules} == {rule.name for rule in grammar.table().rules}
