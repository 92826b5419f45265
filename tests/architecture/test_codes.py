"""Every code stands once in one table, is used, has a fixed title and a section in the page beside its
table.
"""

import ast
import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from flareiac.app.codes import code_page, code_tables, known_codes, page_texts
from flareiac.kernel.codes import Code, CodeTable

_ROOT = Path(__file__).parents[2]
_SOURCES = [_ROOT / "flareiac", _ROOT / "state", _ROOT / "providers"]
_FORM = re.compile(r"FI[A-Z]\d{3}")
_LONGEST_TITLE = 70
_LONGEST_SECTION = 900


@pytest.fixture(scope="module")
def tables() -> list[CodeTable]:
    return [table for table in code_tables() if table.package != "flareiac_toy"]


@cache
def _trees() -> list[tuple[Path, ast.Module]]:
    return [
        (path, ast.parse(path.read_text("utf-8"))) for root in _SOURCES for path in sorted(root.rglob("*.py"))
    ]


def _headings(table: CodeTable) -> list[tuple[str, str]]:
    lines = "\n".join(page_texts(table)).splitlines()
    found = [
        line.removeprefix("## ").partition(" ")
        for line in lines
        if line.startswith("## ") and line != "## Retired"
    ]
    return [(code, title) for code, _, title in found]


def _retired(table: CodeTable) -> Mapping[str, str]:
    text = "\n".join(page_texts(table))
    return dict(re.findall(r"^- (FI[A-Z]\d{3}): See (FI[A-Z]\d{3})\.$", text, re.MULTILINE))


def _codes(tables: list[CodeTable]) -> list[Code]:
    return [code for table in tables for code in table.codes]


def test_an_id_and_a_title_belong_to_one_code(tables: list[CodeTable]) -> None:
    for texts in ([code.id for code in _codes(tables)], [code.title for code in _codes(tables)]):
        assert [text for text, times in Counter(texts).items() if times > 1] == []


def test_a_title_is_one_fixed_short_line(tables: list[CodeTable]) -> None:
    for code in _codes(tables):
        assert _FORM.fullmatch(code.id), code
        assert code.title[:1].isupper() or not code.title[:1].isalpha(), code
        assert not code.title.endswith("."), code
        assert len(code.title) <= _LONGEST_TITLE, code
        assert not set(code.title) & set("{}\n"), code


def test_every_code_has_a_section_under_its_title(tables: list[CodeTable]) -> None:
    for table in tables:
        assert Counter(_headings(table)) == Counter(table.codes)


def test_a_section_is_short_and_says_something(tables: list[CodeTable]) -> None:
    for code in _codes(tables):
        page = code_page(code.id.lower())
        assert page is not None
        assert len(code.title) < len(page) <= _LONGEST_SECTION, code


def test_a_retired_id_is_not_used_again_and_leads_to_one_that_is(tables: list[CodeTable]) -> None:
    known = {code.id for code in _codes(tables)}
    for table in tables:
        for old, new in _retired(table).items():
            assert old not in known
            assert new in known
            page = code_page(old)
            assert page is not None
            assert page.startswith(f"{old} is no longer used. See {new}.\n\n## {new} ")


def test_an_unknown_code_has_no_page() -> None:
    assert code_page("FIZ999") is None


def test_every_code_is_used() -> None:
    """A code of a provider in the provider, one of the core anywhere; two packages may give the same name to
    codes of their own.
    """
    defined: set[tuple[str, str]] = set()
    used: set[tuple[str, str]] = set()
    for path, tree in _trees():
        package = next(part for part in path.relative_to(_ROOT).parts if part.startswith("flareiac"))
        for node in ast.walk(tree):
            match node:
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.Call(func=ast.Name(id="Code"))):
                    assert path.name == "codes.py", f"{name} is defined outside of a table: {path}"
                    assert (package, name) not in defined, f"{name} is defined twice in {package}"
                    defined.add((package, name))
                case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name):
                    used |= {(package, name), ("flareiac", name)}
                case _:
                    pass
    assert sorted(defined - used) == []
    assert len(defined) == len(known_codes())


def test_only_a_code_makes_a_diagnostic_or_a_blocker() -> None:
    makers = {"flareiac/kernel/diagnostics.py", "flareiac/sdk/changes.py", "flareiac/model/plan_file.py"}
    places = [
        f"{path.relative_to(_ROOT)}:{node.lineno}"
        for path, tree in _trees()
        if str(path.relative_to(_ROOT)) not in makers
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("Diagnostic", "Blocker")
    ]
    assert places == []


def test_no_code_is_written_outside_of_its_table() -> None:
    places = [
        f"{path.relative_to(_ROOT)}:{node.lineno}"
        for path, tree in _trees()
        if path.name != "codes.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if _FORM.fullmatch(node.value)
    ]
    assert places == []
