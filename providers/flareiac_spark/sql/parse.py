"""Is this Spark SQL readable to us, and as what tree?"""

import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


@lru_cache(maxsize=4096)
def parsed(sql: str) -> "exp.Query | None":
    """The tree of one query, or None when sqlglot can not read it (which says nothing about Spark). Never change the tree."""
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        trees = sqlglot.parse(_quoted_windows(sql), dialect="spark")
    except (SqlglotError, RecursionError):
        return None
    found = [tree for tree in trees if tree is not None]
    return found[0] if len(found) == 1 and isinstance(found[0], exp.Query) else None


def _quoted_windows(sql: str) -> str:
    """``window(`` as `` `window`( ``: a GROUP BY that begins with it is only read in this spelling, which means the same to Spark."""
    if not re.search(r"\bwindow\s*\(", sql, re.IGNORECASE):
        return sql
    import sqlglot
    from sqlglot.tokenizer_core import TokenType

    tokens = sqlglot.tokenize(sql, dialect="spark")
    calls = [
        token for token, following in pairwise(tokens) if token.token_type is TokenType.WINDOW and following.token_type is TokenType.L_PAREN
    ]
    for token in reversed(calls):
        sql = f"{sql[: token.start]}`{sql[token.start : token.end + 1]}`{sql[token.end + 1 :]}"
    return sql


def literals(sql: str) -> list[str]:
    """The texts in quotes as they are written, sorted. Takes SQL that can be read here."""
    import sqlglot
    from sqlglot.tokenizer_core import TokenType

    return sorted(token.text for token in sqlglot.tokenize(sql, dialect="spark") if token.token_type is TokenType.STRING)
