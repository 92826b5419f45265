"""Composes the query that feeds one output into operators, however it is cut into steps, CTEs and subqueries.

Names of steps, aliases and the order of CTEs are gone; columns are resolved; projections are put into what
reads them; filters stand where Spark's optimizer moves them. What cannot be determined raises ``CannotTell``.

``composer`` follows the names, from the output to the relations that are read, and so puts all texts into one
query. ``select``, ``from_clause``, ``set_operation`` and ``order`` read the clauses of one text, by ``scope``
and ``resolve``, which give a column its meaning. ``layers`` puts one operator above the rows of another;
``aggregation``, ``joining`` and ``predicate_pushdown`` do so where Spark's rules for it are long.
"""

from flareiac_spark.sql.composition.composer import compose
from flareiac_spark.sql.composition.scope import CannotTell

__all__ = ["CannotTell", "compose"]
