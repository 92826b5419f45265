"""Builds the one MERGE statement that brings the rows of a batch into a table, and the one that keeps their
deletes; touches no table.

The new rows are called ``s`` and the table's ``t``, as the job's conditions call them. Rows meet by their
keys, where null equals null. Of rows with equal keys the one with the greatest ``latest_by`` counts; one that
the table has by a greater value is left alone, so that a row which arrives late changes nothing. Columns that
the query does not give keep their values in rows that are there already.

A row that was deleted leaves nothing to compare with: an older one brings it back, unless the merge has
tombstones. Then the keys that a batch deletes are merged into a table of their own first, and a row whose key
was deleted at its ``latest_by`` or later is left out. With tombstones no result depends on how changes are
cut into batches: of equal ``latest_by`` a delete counts, then the row with the greatest columns, whether they
meet in a batch or in the table. (``update_if`` may ask what the table has, and then it does depend.)
"""
# ruff: noqa: S608 - names are quoted, and the conditions are the job's own SQL

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.control import Merge, TableOutput
from flareiac_spark_runtime.driver import tables
from flareiac_spark_runtime.driver.column_types import quote, spark_type
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.sources.resolved import SpecColumn

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOT_UNIQUE: Final = "MERGE_CARDINALITY"
"""Begins the message of the error that the statement itself raises."""
_RANK: Final = "__flareiac_rank"
_DELETED: Final = "__flareiac_deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRows:
    """The view with a batch's rows: their columns, and which of those can be ordered."""

    view: str
    columns: tuple[str, ...]
    orderable: tuple[str, ...]


def used_columns(session: "SparkSession", output: TableOutput) -> frozenset[str]:
    """Names (in lower case) that the merge needs of a new row, whether the table has them or not."""
    merge = rule(output)
    named = {name.lower() for name in (*merge.on, *([merge.latest_by] if merge.latest_by else []))}
    for condition in (merge.update_if, merge.delete_if):
        for parts in _attributes(session, condition):
            if len(parts) == 1 or parts[0].lower() == "s":
                named.add(parts[min(1, len(parts) - 1)].lower())
    return frozenset(named)


def deletes(session: "SparkSession", output: TableOutput) -> str:
    """The condition of a delete on a new row. Raises ``Refusal`` where the merge has none, or one that asks
    for the table's row.
    """
    merge = rule(output)
    _refuse_dependent(session, output)
    if merge.delete_if is None or merge.latest_by is None:
        raise Refusal(
            "TOMBSTONES_INCOMPLETE",
            f"The output {output.tombstones_of or output.name!r} keeps tombstones, and has no latest_by or "
            "no delete_if.",
        )
    return f"coalesce(({merge.delete_if}), false)"


def tombstones_statement(session: "SparkSession", output: TableOutput, rows: NewRows) -> str:
    """The MERGE that keeps deletes: of each key whose latest new row is one, what that row gives. A newer
    delete replaces an older one. ``rows`` are those of the merge itself. Raises ``Refusal``.
    """
    merge, target = rule(output), {column.name.lower(): column for column in output.columns}
    given = [name for name in rows.columns if name.lower() in target]
    _refuse_missing(output, merge, given, rows)
    order = target.get((merge.latest_by or "").lower())
    if order is None:
        why = (
            f"The table {'.'.join(output.identifier)} keeps tombstones and has no column {merge.latest_by}, "
            "which tells how late a delete is."
        )
        raise Refusal("MERGE_ORDER_MISSING", why)
    keys = [_key(number, target[key.lower()]) for number, key in enumerate(merge.on)]
    made = ", ".join([*map(quote, given), *(expression for key in keys for expression in key.made)])
    ranked = _ranked(merge, rows, keys, deletes(session, output))
    deleted = f"SELECT {made} FROM ({ranked}) WHERE {_RANK} = 1 AND {_DELETED}"
    meets, column = " AND ".join(key.meets for key in keys), quote(order.name)
    assignments = ", ".join(f"t.{quote(name)} = s.{quote(name)}" for name in given)
    names, values = ", ".join(map(quote, given)), ", ".join(f"s.{quote(name)}" for name in given)
    newer = f"(t.{column} IS NULL AND s.{column} IS NOT NULL OR s.{column} > t.{column})"
    return (
        f"MERGE INTO {tables.quoted_target(output)} t USING ({deleted}) s ON {meets} "
        f"WHEN MATCHED AND {newer} THEN UPDATE SET {assignments} "
        f"WHEN NOT MATCHED THEN INSERT ({names}) VALUES ({values})"
    )


def statement(
    session: "SparkSession", output: TableOutput, rows: NewRows, tombstones: TableOutput | None = None
) -> str:
    """The MERGE. ``tombstones``: what keeps the deletes. Raises ``Refusal`` for keys and an order that are
    not there.
    """
    merge, target = rule(output), {column.name.lower(): column for column in output.columns}
    given = [name for name in rows.columns if name.lower() in target]
    _refuse_missing(output, merge, given, rows)
    keys = [target[key.lower()].name for key in merge.on]
    set_columns = [name for name in given if name.lower() not in {key.lower() for key in keys}]
    meeting = [_key(number, target[key.lower()]) for number, key in enumerate(keys)]
    meets = " AND ".join(key.meets for key in meeting)
    inserted = ", ".join(quote(name) for name in given)
    values = ", ".join(f"s.{quote(name)}" for name in given)
    newer, clauses = _newer(merge, target), []
    deleting = None if merge.delete_if is None else f"({merge.delete_if})"
    if tombstones is not None:
        deleting = f"s.{_DELETED}"
    if deleting is not None:
        clauses.append(f"WHEN MATCHED{newer} AND {deleting} THEN DELETE")
    if set_columns:
        condition = f" AND ({merge.update_if})" if merge.update_if is not None else ""
        assignments = ", ".join(f"t.{quote(name)} = s.{quote(name)}" for name in set_columns)
        if tombstones is not None:
            newer = _newer_or_greater(merge, rows, set_columns)
        clauses.append(f"WHEN MATCHED{newer}{condition} THEN UPDATE SET {assignments}")
    if tombstones is not None:
        guard = f" AND NOT s.{_DELETED}"
        rows_sql = _not_deleted(merge, rows, meeting, deletes(session, output), tombstones)
    else:
        # A key that is computed would be shuffled once more, so another column carries the check where there
        # is one.
        checked = quote((set_columns or given)[0])
        guard, rows_sql = _unmatched(session, output, merge, _reduced(merge, rows, meeting, checked))
    clauses.append(f"WHEN NOT MATCHED{guard} THEN INSERT ({inserted}) VALUES ({values})")
    return f"MERGE INTO {tables.quoted_target(output)} t USING ({rows_sql}) s ON {meets} {' '.join(clauses)}"


def rule(output: TableOutput) -> Merge:
    if output.merge is None or not output.merge.on:
        raise Refusal(
            "MERGE_KEY_MISSING", f"The output {output.name!r} merges, and does not say by which columns."
        )
    return output.merge


@dataclass(frozen=True, slots=True, kw_only=True)
class _Key:
    """One column by which rows meet. ``made`` are columns that a new row gets for it, ``alike`` those that
    tell new rows apart.
    """

    name: str
    meets: str
    made: tuple[str, ...] = ()
    alike: tuple[str, ...]


def _key(number: int, column: SpecColumn) -> _Key:
    """Null meets null.

    Spark compares such a column as two: its value, or another one for null, and whether it is null. New rows
    get these two as columns, because then one shuffle and one sort serve both the check that keys are unique
    among them and the join with the table (measured: as many as a plain join has).
    """
    name, zero = quote(column.name), _zero(column.type)
    if column.required:
        return _Key(name=name, meets=f"t.{name} = s.{name}", alike=(name,))
    if zero is None:
        return _Key(name=name, meets=f"t.{name} <=> s.{name}", alike=(name,))
    value, null = f"__flareiac_key{number}", f"__flareiac_null{number}"
    meets = f"coalesce(t.{name}, {zero}) = s.{value} AND (t.{name} IS NULL) = s.{null}"
    return _Key(
        name=name,
        meets=meets,
        made=(f"coalesce({name}, {zero}) AS {value}", f"{name} IS NULL AS {null}"),
        alike=(value, null),
    )


def _zero(kind: str) -> str | None:
    """Some value of a type as SQL; which one is of no matter."""
    spelled = spark_type(kind)
    match spelled.partition("(")[0]:
        case "INT" | "BIGINT" | "FLOAT" | "DOUBLE" | "DECIMAL":
            return f"CAST(0 AS {spelled})"
        case "STRING":
            return "''"
        case "DATE" | "TIMESTAMP" | "TIMESTAMP_NTZ":
            return f"CAST('1970-01-01' AS {spelled})"
        case "BOOLEAN":
            return "false"
        case _:
            return None


def _newer(merge: Merge, target: Any) -> str:
    if merge.latest_by is None or merge.latest_by.lower() not in target:
        return ""
    column = quote(merge.latest_by)
    return f" AND (t.{column} IS NULL OR s.{column} >= t.{column})"


def _reduced(merge: Merge, rows: NewRows, keys: Sequence[_Key], checked: str) -> str:
    """The new rows, each key once: by choice, or by an error that says how to choose, in the place of the
    column ``checked``.
    """
    made = [expression for key in keys for expression in key.made]
    if merge.latest_by is None:
        return _refusing_equal(merge, rows, keys, made, checked)
    # By the keys themselves, and what they meet by is made of the few rows that are left: Spark drops the
    # others before any shuffle, and sorting all of them by twice as many columns took twice as long
    # (measured).
    columns = ", ".join([*map(quote, rows.columns), *made])
    return f"SELECT {columns} FROM ({_ranked(merge, rows, keys)}) WHERE {_RANK} = 1"


def _ranked(merge: Merge, rows: NewRows, keys: Sequence[_Key], deleting: str | None = None) -> str:
    """The new rows, the one that counts of each key first. ``deleting``: the condition by which a row is a
    delete; each says of itself whether it is one, and deletes come before rows of the same order.
    """
    names, source = ", ".join(key.name for key in keys), quote(rows.view)
    order = [f"{quote(name)} DESC NULLS LAST" for name in _by_order(merge, rows)]
    if deleting is not None:
        source = f"(SELECT s.*, {deleting} AS {_DELETED} FROM {source} s)"
        order.insert(1, f"{_DELETED} DESC")
    window = f"PARTITION BY {names} ORDER BY {', '.join(order)}"
    return f"SELECT *, row_number() OVER ({window}) AS {_RANK} FROM {source}"


def _by_order(merge: Merge, rows: NewRows) -> list[str]:
    """``latest_by``, and the columns that decide between rows of which it is equal."""
    first = [merge.latest_by or "", *merge.on]
    return [
        first[0],
        *(name for name in rows.orderable if name.lower() not in {each.lower() for each in first}),
    ]


def _newer_or_greater(merge: Merge, rows: NewRows, set_columns: Sequence[str]) -> str:
    """A row meets the table's by the same order as the rows of a batch meet each other. In a struct null is
    the least value, as it is there.
    """
    known = {name.lower() for name in set_columns}
    names = [quote(name) for name in _by_order(merge, rows) if name.lower() in known]
    if not names:
        return ""
    new, old = (", ".join(f"{side}.{name}" for name in names) for side in "st")
    return f" AND struct({new}) >= struct({old})"


def _not_deleted(
    merge: Merge, rows: NewRows, keys: Sequence[_Key], deleting: str, tombstones: TableOutput
) -> str:
    """The new rows, each key once, with whether each is a delete, and without those whose key was deleted at
    their order or later. A delete stays: its own tombstone is there already.
    """
    made = [expression for key in keys for expression in key.made]
    columns = ", ".join([*map(quote, rows.columns), *made, _DELETED])
    latest = f"SELECT {columns} FROM ({_ranked(merge, rows, keys, deleting)}) WHERE {_RANK} = 1"
    meets, order = " AND ".join(key.meets for key in keys), quote(merge.latest_by or "")
    return (
        f"SELECT s.* FROM ({latest}) s LEFT ANTI JOIN {tables.quoted_target(tombstones)} t ON {meets} "
        f"AND NOT s.{_DELETED} AND (s.{order} IS NULL OR s.{order} <= t.{order})"
    )


def _refusing_equal(
    merge: Merge, rows: NewRows, keys: Sequence[_Key], made: Sequence[str], checked: str
) -> str:
    """All of them; Spark raises an error where two have equal keys."""
    alike = ", ".join(expression for key in keys for expression in key.alike)
    base = f"(SELECT {', '.join(['*', *made])} FROM {quote(rows.view)})"
    columns = [*map(quote, rows.columns), *(expression.rpartition(" ")[2] for expression in made)]
    complaint = f"{NOT_UNIQUE}: a batch has several rows with equal {', '.join(merge.on)}".replace(
        "\\", ""
    ).replace("'", "")
    value = (
        f"CASE WHEN count(*) OVER (PARTITION BY {alike}) > 1 THEN raise_error('{complaint}') ELSE "
        f"{checked} END AS {checked}"
    )
    return f"SELECT {', '.join(value if name == checked else name for name in columns)} FROM {base}"


def _unmatched(session: "SparkSession", output: TableOutput, merge: Merge, rows_sql: str) -> tuple[str, str]:
    """The guard that a deleted row is not inserted, and the rows with what it needs: a row that the table
    lacks has only nulls there.
    """
    if merge.delete_if is None:
        return "", rows_sql
    if all(parts[0].lower() != "t" or len(parts) == 1 for parts in _attributes(session, merge.delete_if)):
        return f" AND NOT coalesce(({merge.delete_if}), false)", rows_sql
    nothing = ", ".join(
        f"CAST(NULL AS {spark_type(column.type)}) AS {quote(column.name)}" for column in output.columns
    )
    judged = (
        f"SELECT s.*, coalesce(({merge.delete_if}), false) AS {_DELETED} FROM ({rows_sql}) s "
        f"CROSS JOIN (SELECT {nothing}) t"
    )
    return f" AND NOT s.{_DELETED}", judged


def _refuse_dependent(session: "SparkSession", output: TableOutput) -> None:
    """Tombstones are written before the table is asked for its rows."""
    for parts in _attributes(session, rule(output).delete_if):
        if len(parts) > 1 and parts[0].lower() == "t":
            why = (
                f"delete_if of the output {output.tombstones_of or output.name!r} reads {'.'.join(parts)}, a "
                "column of the table's row. With tombstones it is a condition on s alone."
            )
            raise Refusal("TOMBSTONES_INCOMPLETE", why)


def _refuse_missing(output: TableOutput, merge: Merge, given: Sequence[str], rows: NewRows) -> None:
    names = {name.lower() for name in given}
    if missing := [key for key in merge.on if key.lower() not in names]:
        why = (
            f"The output {output.name!r} merges by {', '.join(missing)}, which {output.source!r} and the "
            "table do not both have."
        )
        raise Refusal("MERGE_KEY_MISSING", why)
    if merge.latest_by is not None and merge.latest_by.lower() not in {name.lower() for name in rows.columns}:
        why = (
            f"The output {output.name!r} takes the latest row by {merge.latest_by}, which "
            f"{output.source!r} does not give."
        )
        raise Refusal("MERGE_ORDER_MISSING", why)


def _attributes(session: "SparkSession", condition: str | None) -> list[list[str]]:
    """The column names in a condition, each in its parts. Raises Spark's ``ParseException``."""
    if condition is None:
        return []
    leaves = session._jsparkSession.sessionState().sqlParser().parseExpression(condition).collectLeaves()
    names = []
    for at in range(leaves.size()):
        leaf = leaves.apply(at)
        if leaf.getClass().getSimpleName() == "UnresolvedAttribute":
            parts = leaf.nameParts()
            names.append([str(parts.apply(index)) for index in range(parts.size())])
    return names
