"""Parses Spark SQL, as far as it can be read here."""

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import zip_longest
from typing import Any, Final

import sqlglot
from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from flareiac.kernel.diagnostics import did_you_mean
from flareiac.kernel.lazy_dataclass import dataclass

_QUERIES: Final = ("SELECT", "WITH", "FROM", "VALUES", "TABLE")
_STATEMENTS: Final = frozenset(
    """select with from values table map reduce explain describe desc show use create drop alter insert merge
    update delete truncate analyze cache uncache clear refresh load msck repair set reset add list dfs comment
    lock unlock grant revoke commit rollback start import export replace call execute declare begin optimize
    vacuum sync copy abort""".split()  # noqa: SIM905 - one name a word
)
"""The words with which a statement of Spark or of its extensions may begin."""


_BY_TEXT: Final = "identifier"
"""Spark's function that makes a name of a text."""


@lru_cache(maxsize=4096)
def parsed(sql: str) -> exp.Query | None:
    """The tree of one query, or None when sqlglot cannot read it (which says nothing about Spark). Never
    change the tree.
    """
    return one_query(sql, lambda text: _dialect().parse(quoted_windows(text)))


def one_query(sql: str, parse: Callable[[str], Sequence[exp.Expr | None]]) -> exp.Query | None:
    """The tree of the one query in a text; None where there is another number, or none can be read, or where
    ``IDENTIFIER('p')`` makes a name of a text: what is read is not in the tree then.
    """
    try:
        trees = [tree for tree in parse(sql) if tree is not None]
    except Exception:  # noqa: BLE001 - on odd text the parser fails with its own assertions and attribute errors too
        return None
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        return None
    return None if _names_by_text(trees[0]) else trees[0]


def _names_by_text(tree: exp.Expr) -> bool:
    return any(call.name.lower() == _BY_TEXT for call in tree.find_all(exp.Anonymous))


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """The part of a query that could not be read: offsets in its text, the whole of it where the place is not
    known. ``wrong``: the reason that it certainly is no query of Spark's, as a sentence; empty where it may
    be one. ``names_by_text``: the query parses, and ``IDENTIFIER('p')`` leaves open what it reads.
    """

    start: int
    end: int
    wrong: str = ""
    names_by_text: bool = False


def unread(sql: str) -> Unread | None:
    """The place from which a query cannot be read here; None for one that can be read."""
    if parsed(sql) is not None:
        return None
    whole = Unread(start=len(sql) - len(sql.lstrip()), end=len(sql.rstrip()))
    try:
        tokens = sqlglot.tokenize(sql, dialect="spark")
    except Exception:  # noqa: BLE001 - text that the tokenizer does not know has no place
        return whole
    if wrong := _certainly_wrong(tokens):
        return wrong
    try:
        trees = _dialect().parse(quoted_windows(sql))
    except ParseError as failure:
        at = failure.errors[0] if failure.errors else {}
        return _place(sql, at.get("line"), at.get("col"), at.get("highlight")) or whole
    except Exception:  # noqa: BLE001 - as in one_query
        return whole
    if any(tree is not None and _names_by_text(tree) for tree in trees):
        word = next((token for token in tokens if token.text.lower() == _BY_TEXT), None)
        start, end = (word.start, word.end + 1) if word is not None else (whole.start, whole.end)
        return Unread(start=start, end=end, names_by_text=True)
    return whole


def _certainly_wrong(tokens: Sequence[Token]) -> Unread | None:
    """A first word that begins no statement, and brackets that do not match."""
    first = tokens[0] if tokens else None
    if first is not None and first.token_type is TokenType.VAR and first.text.lower() not in _STATEMENTS:
        why = f'No statement begins with "{first.text}".{did_you_mean(first.text.upper(), _QUERIES)}'
        return Unread(start=first.start, end=first.end + 1, wrong=why)
    opened: list[Token] = []
    for token in tokens:
        if token.token_type is TokenType.L_PAREN:
            opened.append(token)
        elif token.token_type is TokenType.R_PAREN:
            if not opened:
                return Unread(start=token.start, end=token.end + 1, wrong='No "(" belongs to this ")".')
            opened.pop()
    if opened:
        token = opened[-1]
        return Unread(start=token.start, end=token.end + 1, wrong='No ")" belongs to this "(".')
    return None


def _place(sql: str, line: int | None, column: int | None, word: str | None) -> Unread | None:
    """From the line and the column (from 1) at which a word of the text with quoted windows ends."""
    if not line or not column:
        return None
    lines = quoted_windows(sql).split("\n")
    end = sum(len(each) + 1 for each in lines[: line - 1]) + column
    start = written_offset(sql, max(0, end - len(word or " ")))
    end = min(written_offset(sql, end - 1) + 1, len(sql))
    return Unread(start=start, end=end) if start < end else None


@cache
def _dialect() -> Any:
    """Spark 4's SQL, in which ``a:b`` reads a path of a variant."""

    class WithPaths(SparkParser):
        COLON_IS_VARIANT_EXTRACT = True

    class SparkWithPaths(Spark):
        Parser = WithPaths

    return SparkWithPaths()


def quoted_windows(sql: str) -> str:
    """``window`` as `` `window` `` wherever it is a function or a column, which means the same to Spark:
    unquoted, a GROUP BY that begins with it, or a column of this name, is not read. What cannot be tokenized
    stays as it is.
    """
    for token in reversed(_windows(sql)):
        sql = f"{sql[: token.start]}`{sql[token.start : token.end + 1]}`{sql[token.end + 1 :]}"
    return sql


def written_offset(sql: str, offset: int) -> int:
    """The offset in a text of what stands at ``offset`` where its windows are quoted."""
    for token in _windows(sql):
        offset -= (offset > token.start) + (offset > token.end + 1)
    return offset


def _windows(sql: str) -> list[Token]:
    """The words that ``quoted_windows`` quotes, in order."""
    if not re.search(r"\bwindow\b", sql, re.IGNORECASE):
        return []
    tokens = sqlglot.tokenize(sql, dialect="spark")
    names = [
        token
        for token, *after in zip_longest(tokens, tokens[1:], tokens[2:])
        if token and not _defines_window(token, *after)
    ]
    return [token for token in names if token.token_type is TokenType.WINDOW]


def _defines_window(_token: Token, name: Token | None, word: Token | None) -> bool:
    """``WINDOW w AS (...)``, the clause."""
    return (
        name is not None
        and word is not None
        and word.token_type is TokenType.ALIAS
        and name.token_type is not TokenType.L_PAREN
    )
