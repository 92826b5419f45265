"""The texts that python-hcl2 takes beyond what HCL allows, so that ``flareiac.lang`` has to refuse them
itself, and the form of its grammar file.
"""

import importlib.util
from pathlib import Path

import hcl2
import pytest


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a = 1\na = 2\n", id="the same attribute twice"),
        pytest.param('t "x" {\n  a = 1\n  a = 2\n}\n', id="the same attribute twice in a block"),
        pytest.param("a = 1 b = 2\n", id="two attributes on a line"),
        pytest.param('t "x" { a = 1 b = 2 }\n', id="two attributes in a one-line block"),
        pytest.param("a = 08\n", id="a number with a leading zero"),
        pytest.param('a = "one\ntwo"\n', id="a line break inside quotes"),
        pytest.param('a = "\\q"\n', id="an unknown escape"),
    ],
)
def test_accepts_what_hcl_refuses(text: str) -> None:
    """``lang.build`` and ``lang.tokens`` complain of each of these; the parser alone would let it pass."""
    hcl2.parses(text)


def test_the_dictionary_form_keeps_the_last_of_two_equal_attributes() -> None:
    """``lang`` builds its own nodes from the grammar: the ready-made form loses the first value in
    silence.
    """
    assert hcl2.loads("a = 1\na = 2\n")["a"] == 2


@pytest.mark.parametrize("text", ["größe = 1\n", "a = --1\n"])
def test_refuses_what_hcl_accepts(text: str) -> None:
    """``lang.grammar`` amends the grammar for repeated unary operators; ``lang.tokens`` reads its own
    identifiers.
    """
    from lark.exceptions import UnexpectedInput

    with pytest.raises(UnexpectedInput):
        hcl2.parses(text)


def test_the_grammar_is_a_file_of_the_package() -> None:
    """``lang.grammar`` computes its table from this file, without importing the package."""
    found = importlib.util.find_spec("hcl2")
    assert found is not None
    assert found.origin is not None
    text = (Path(found.origin).parent / "hcl2.lark").read_text()
    assert "!unary_op : (MINUS | NOT) expr_term" in text
