"""The clauses that are read. Any other raises ``CannotTell``: what is not read must not be passed over."""

from typing import Final

from sqlglot import exp

from flareiac_spark.sql.composition.scope import CannotTell

SELECT: Final = frozenset(
    {
        "with_",
        "expressions",
        "hint",
        "distinct",
        "from_",
        "joins",
        "laterals",
        "where",
        "group",
        "having",
        "order",
        "limit",
        "offset",
    }
)
SET: Final = frozenset({"with_", "this", "expression", "distinct", "by_name", "order", "limit", "offset"})
TABLE: Final = frozenset({"this", "db", "catalog", "alias"})
SUBQUERY: Final = frozenset({"this", "alias", "with_", "order", "limit", "offset"})


def only(tree: exp.Expr, known: frozenset[str]) -> None:
    for name, value in tree.args.items():
        if value and name not in known:
            raise CannotTell(f"{name.strip('_').upper()} is not read here")
