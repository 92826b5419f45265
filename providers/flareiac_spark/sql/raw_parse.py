"""The tree of a query with every function under its written name and every text as written.

sqlglot's own Spark reading has one node for several functions (``size`` and ``array_size``) and one spelling
for several date formats (``yyyy`` and ``YYYY``): good for translating, and too coarse to say that two
queries are the same.
"""

import re
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, Final

import sqlglot
from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import TokenType

from flareiac_spark.sql.parse import one_query, quoted_windows

_SYNTAX = {
    "CAST",
    "CEIL",
    "EXTRACT",
    "FLOOR",
    "OVERLAY",
    "POSITION",
    "SUBSTR",
    "SUBSTRING",
    "TRIM",
    "TRY_CAST",
}
"""Calls with words between their arguments."""
_KEYWORDS: Final = frozenset(
    {"select", "from", "where", "group by", "having", "order by", "as", "on", "and", "or", "not"}
)


@lru_cache(maxsize=4096)
def raw_parse(sql: str) -> exp.Query | None:
    """None: it cannot be read here. Never change the tree."""
    query = one_query(sql, lambda text: _dialect().parse(_escapes_kept(quoted_windows(text))))
    if query is None or "|>" in sql or any(map(_is_misread, query.walk())):
        return None  # of the steps of a pipe the parser loses the order
    for node in query.walk():
        node.comments = None  # they would come out again in the text of a type
    return query


def _is_misread(node: exp.Expr) -> bool:
    """Returns True if the parser binds otherwise than Spark: ``a:b`` as an alias; ``a | b & c``, ``a || b +
    c``, ``a = b < c`` and ``a = b IN (c)``, which Spark reads in another order. With brackets they are read
    alike. Also if a number or a word stands for a column: ``ORDER BY 2``, ``ORDER BY ALL``.
    """
    bits = (exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseLeftShift, exp.BitwiseRightShift)
    equal, ordered = (exp.EQ, exp.NEQ, exp.NullSafeEQ), (exp.GT, exp.GTE, exp.LT, exp.LTE)
    asking = (exp.In, exp.Between, exp.Like, exp.ILike, exp.RegexpLike, exp.RegexpILike)
    match node:
        case exp.Alias():
            return not isinstance(node.args["alias"], exp.Identifier)
        case exp.Ordered():
            return isinstance(node.this, exp.Literal | exp.Var)
        case exp.Binary():
            sides = (node.left, node.right)
        case _:
            return False
    if isinstance(node, (*equal, *ordered)):
        return any(isinstance(side, asking) for side in sides) or (
            isinstance(node, equal) and isinstance(node.right, ordered)
        )
    if isinstance(node, bits):
        return any(isinstance(side, (*bits, exp.DPipe)) and type(side) is not type(node) for side in sides)
    return isinstance(node, exp.DPipe) and (
        isinstance(node.right, exp.Add | exp.Sub) or any(isinstance(side, bits) for side in sides)
    )


@lru_cache(maxsize=256)
def words(sql: str) -> tuple[tuple[str, str], ...] | None:
    """The tokens without layout and comments, plain keywords in one case. None: not even those can be
    determined.

    Names keep theirs: a struct's field, a map's key and a variant's path mind it.
    """
    try:
        tokens = sqlglot.tokenize(sql, dialect="spark")
    except Exception:  # noqa: BLE001 - what the tokenizer does not know is no error of ours
        return None
    return tuple(
        (token.token_type.name, sql[token.start : token.end + 1])
        if token.token_type.name.endswith("STRING")
        else ("", token.text)
        if token.token_type in (TokenType.VAR, TokenType.IDENTIFIER)
        else (token.token_type.name, token.text.lower() if token.text.lower() in _KEYWORDS else token.text)
        for token in tokens
    )


@cache
def _dialect() -> Any:
    class Verbatim(SparkParser):
        COLON_IS_VARIANT_EXTRACT = True
        FUNCTIONS = {}  # noqa: RUF012 - as the library declares it
        FUNCTION_PARSERS = {  # noqa: RUF012
            name: parser for name, parser in SparkParser.FUNCTION_PARSERS.items() if name in _SYNTAX
        }
        NO_PAREN_FUNCTION_PARSERS = {  # noqa: RUF012
            name: parser
            for name, parser in SparkParser.NO_PAREN_FUNCTION_PARSERS.items()
            if name in {"CASE", "IF"}
        }

    class VerbatimSpark(Spark):
        Parser = Verbatim

    return VerbatimSpark()


def _escapes_kept(sql: str) -> str:
    """Each backslash of a text twice, so that the text is read as it is written. Raises ``ValueError`` for
    doubled quotes, which Spark reads in two ways, by its configuration.
    """
    if "\\" not in sql and not re.search(r"''|\"\"", sql):
        return sql
    tokens = [
        token for token in sqlglot.tokenize(sql, dialect="spark") if token.token_type is TokenType.STRING
    ]
    if any(left.end + 1 == right.start for left, right in pairwise(tokens)):
        raise ValueError("two texts without a space between them")
    for token in reversed(tokens):
        raw = sql[token.start + 1 : token.end]
        quote = sql[token.start]
        if re.search(rf"(?<!\\){quote}{quote}", raw) or (raw.startswith(quote) and raw):
            raise ValueError("doubled quotes")
        kept = re.sub(
            r"\\(.)",
            lambda match: "\\\\" + (match[0] if match[1] in "\\'\"" else match[1]),
            raw,
            flags=re.DOTALL,
        )
        sql = f"{sql[: token.start + 1]}{kept}{sql[token.end :]}"
    return sql
