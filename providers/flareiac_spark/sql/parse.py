"""Parses Spark SQL, as far as it can be read here."""

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import zip_longest
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType


@lru_cache(maxsize=4096)
def parsed(sql: str) -> exp.Query | None:
    """The tree of one query, or None when sqlglot cannot read it (which says nothing about Spark). Never
    change the tree.
    """
    return one_query(sql, lambda text: _dialect().parse(quoted_windows(text)))


def one_query(sql: str, parse: Callable[[str], Sequence[exp.Expr | None]]) -> exp.Query | None:
    """The tree of the one query in a text; None where there is another number, or none can be read."""
    try:
        found = [tree for tree in parse(sql) if tree is not None]
    except Exception:  # noqa: BLE001 - on odd text the parser fails with its own assertions and attribute errors too
        return None
    return found[0] if len(found) == 1 and isinstance(found[0], exp.Query) else None


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
    if not re.search(r"\bwindow\b", sql, re.IGNORECASE):
        return sql
    tokens = sqlglot.tokenize(sql, dialect="spark")
    names = [
        token
        for token, *after in zip_longest(tokens, tokens[1:], tokens[2:])
        if token and not _defines_window(token, *after)
    ]
    for token in reversed([token for token in names if token.token_type is TokenType.WINDOW]):
        sql = f"{sql[: token.start]}`{sql[token.start : token.end + 1]}`{sql[token.end + 1 :]}"
    return sql


def _defines_window(_token: Token, name: Token | None, word: Token | None) -> bool:
    """``WINDOW w AS (...)``, the clause."""
    return (
        name is not None
        and word is not None
        and word.token_type is TokenType.ALIAS
        and name.token_type is not TokenType.L_PAREN
    )
