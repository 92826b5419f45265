"""python-hcl2's own parser reads every file of the corpus as ours does: the examples, the golden cases, the
pages.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from lark.exceptions import UnexpectedInput

from flareiac.cli.commands.new import FIRST_PROJECT
from tests.docs.fences import fences
from tests.docs.pages import DOCS, ROOT
from tests.lang.oracle import difference, of_library
from tests.support.txtar import parse_txtar

KNOWN: Final = {
    "größe = 1\n": "HCL's identifiers are Unicode's; python-hcl2's are ASCII",
    "a = --1\n": "HCL repeats unary operators; python-hcl2 takes one",
    "a = !!true\n": "HCL repeats unary operators; python-hcl2 takes one",
    "a = a::b()\n": "HCL takes any number of namespaces; python-hcl2 takes two, as provider functions have",
    "a = b -10\n": "HCL subtracts; python-hcl2 takes the sign into the number",
}
"""Texts that ours reads and python-hcl2 does not, each with the reason."""


@cache
def corpus() -> dict[str, str]:
    """Texts in HCL by the place that they are from."""
    return dict(_texts())


def _texts() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "examples").rglob("*.hcl")):
        if not _is_played(path):
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "tests" / "golden" / "cases").rglob("*.txtar")):
        for name, text in parse_txtar(path.read_text(encoding="utf-8")).files.items():
            if name.endswith(".hcl"):
                yield f"{path.relative_to(ROOT)}:{name}", text
    for page in (ROOT / "README.md", *sorted(DOCS.rglob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))):
        if not _is_played(page):
            for fence in fences(page):
                if fence.language == "hcl":
                    yield f"{page.relative_to(ROOT)}:{fence.line}", fence.text


def _is_played(path: Path) -> bool:
    """Returns True for a copy that a played example has made."""
    return "work" in path.relative_to(ROOT).parts


@pytest.mark.parametrize("kind", ["examples/", "tests/golden/", "flareiac/docs/", "README.md"])
def test_both_parsers_read_the_same(kind: str) -> None:
    texts = {name: text for name, text in corpus().items() if name.startswith(kind)}
    assert texts
    assert {name: why for name, text in texts.items() if (why := difference(text))} == {}


@pytest.mark.parametrize("text", KNOWN)
def test_a_known_difference_is_still_one(text: str) -> None:
    """A difference that is gone leaves the list."""
    assert difference(text) is not None
    assert "python-hcl2 alone refuses it" in str(difference(text))


def test_a_difference_is_seen() -> None:
    assert of_library("a = 1 + 2 * 3\n") != of_library("a = (1 + 2) * 3\n")
    assert of_library('a = "x${b}"\n') != of_library('a = "x${c}"\n')
    assert of_library("a { b = 1 }\n") != of_library("a { b = 2 }\n")


def test_every_kind_of_expression_is_compared() -> None:
    """The corpus is what people write; these are the forms that it may lack."""
    text = """
a = [for k, v in x : v if k != "b"]
b = {for k, v in x : k => v...}
c = x[*].y[0].z
d = x.*.y
e = "%{ if a }b%{ else }c%{ endif } %{ for k, v in x }${v}%{ endfor }"
f = p::g::h(1, y...)
h = !(a && -b > 1) || c == null ? { "k" = 1, (l) = [true, 1.5e3], m : 0 } : x.0
i = "$${a} %%{b} \\n \\u00e4"
j = <<-EOT
  text ${a}
  EOT
t "l" m "n" {
  u {}
}
"""
    assert difference(text) is None


def test_the_project_that_new_writes_is_read_back() -> None:
    assert difference(FIRST_PROJECT) is None


@pytest.mark.parametrize("text", ['a = "$${"\n', 'a = "b %%{ c"\n', 'a "%%{" {}\n'])
def test_python_hcl2_refuses_an_escaped_marker_without_a_brace(text: str) -> None:
    """The exception of the oracle goes when it takes one."""
    with pytest.raises(UnexpectedInput):
        of_library(text)
    assert difference(text) is None
