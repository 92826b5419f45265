"""Reads Markdown as GitHub does, for tests of reports: what is shown, and what is markup."""

import re
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PARSER: Final = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
_OWN_HTML: Final = {"<!-- -->", "<code>", "</code>"}
_OWN_BLOCK: Final = re.compile(
    r"<!-- flareiac-report workspace=[\w.%]* -->.*\n*|<details><summary>[\w ]+</summary>\n*|</details>\n*"
)
_CALLS: Final = re.compile(r"[@#!~%&$^][\w\[\"']|://|(?i:\bwww\.)|(?i:gh-)\d|(?<!\d):[\w+-]+:")
"""Texts of which GitHub or GitLab make a mention, a reference, a picture or a link."""


def tokens(page: str) -> list[Token]:
    return _PARSER.parse(page)


def inline(found: list[Token]) -> list[Token]:
    return [child for token in found for child in token.children or ()]


def shown(found: list[Token]) -> str:
    """The text of one inline token, without markup."""
    return "".join(
        token.content for token in inline(found) if token.type in ("text", "code_inline", "text_special")
    )


def check_markup(page: str) -> None:
    """Fails where a page has other markup than that of a report, an open fence, or a row of another width."""
    found, lines = tokens(page), page.split("\n")
    for token in inline(found):
        assert token.type in {
            "text",
            "code_inline",
            "html_inline",
            "strong_open",
            "strong_close",
            "softbreak",
            *_EMPHASIS,
        }
        if token.type == "html_inline":
            assert token.content in _OWN_HTML
    depth = 0
    for token in inline(found):
        depth += {"<code>": 1, "</code>": -1}.get(token.content, 0) if token.type == "html_inline" else 0
        if token.type == "text" and not depth:
            assert _CALLS.search(token.content) is None, token.content
    for token in found:
        if token.type == "fence":
            assert token.map is not None
            assert lines[token.map[1] - 1] == token.markup, "a fence is not closed"
        if token.type == "html_block":
            assert _OWN_BLOCK.fullmatch(token.content), token.content
    blocks = [token.content for token in found if token.type == "html_block"]
    assert sum("<details>" in block for block in blocks) == sum("</details>" in block for block in blocks)
    fenced = {
        number for token in found if token.type == "fence" and token.map for number in range(*token.map)
    }
    rows = [line for number, line in enumerate(lines) if line.startswith("|") and number not in fenced]
    assert sum(token.type == "tr_open" for token in found) == sum(
        not line.startswith("|---") for line in rows
    )
    width = 0
    for kinds in _rows([token.type for token in found]):
        width = kinds.count("th_open") or width
        assert kinds.count("th_open") + kinds.count("td_open") == width


def _rows(kinds: list[str]) -> list[list[str]]:
    starts = [at for at, kind in enumerate(kinds) if kind == "tr_open"]
    return [kinds[at : kinds.index("tr_close", at)] for at in starts]


_EMPHASIS: Final = {"em_open", "em_close"}


def rows(page: str, heading: str) -> list[str]:
    """The first cell of each row of the table below a heading."""
    _, _, below = page.partition(f"### {heading}\n")
    cells = []
    for line in below.lstrip("\n").split("\n"):
        if not line.startswith("|"):
            break
        cells.append(line)
    return cells[2:]
