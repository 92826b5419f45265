"""Conditions that are written without a query around them, such as those of a merge. Pure."""

from sqlglot import exp

from flareiac_spark.sql.parse import parsed


def reads_from(condition: str, alias: str) -> bool:
    """Returns True if a condition certainly reads a column of a relation by this name; False also where it
    cannot be read.
    """
    tree = parsed(f"SELECT 1 WHERE {condition}")
    return tree is not None and any(
        column.table.lower() == alias.lower() for column in tree.find_all(exp.Column)
    )
