"""Explains two composed queries to each other: which part of the new one differs, and in which step.

``walk`` pairs the operators of both queries from the output down, and says which one came or went where they
are unlike. Operators of one kind are compared part by part, by the module of the kind: ``conditions``,
``aggregates``, ``joins``, ``unions`` and ``rows``. ``outputs`` compares the columns that come out.
``comparison`` holds what all of them share: both sides, the names that both sides give a column, the
differences so far.
"""

from flareiac_spark.sql.differences.side import Written
from flareiac_spark.sql.differences.walk import differences

__all__ = ["Written", "differences"]
