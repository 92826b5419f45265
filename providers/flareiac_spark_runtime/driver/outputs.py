"""Shapes columns for a table: by name, cast as a store assignment; required columns are checked by value.

In the order of their names, whatever that of the table: Spark keeps the aggregates of its state by position,
and the columns that are taken last decide it. A column that moves in the table must not exchange one
aggregate's state for another's.
"""

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Final

from flareiac.sdk.secrets import resolve_all
from flareiac_spark_runtime.control import TableOutput
from flareiac_spark_runtime.driver.column_types import quote, spark_columns
from flareiac_spark_runtime.driver.raised import raised
from flareiac_spark_runtime.driver.refusal import Refusal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NULL_REQUIRED: Final = "NULL_IN_REQUIRED_COLUMN"
"""The error class of a row without a value that its table requires."""
_NULL: Final = re.compile(r"null in the required column (.+) of ")
_SAFE_OPTIONS = {"check-nullability": "false", "check-ordering": "false"}
"""Spark calls nearly every expression nullable; nulls in required columns are caught by value before Iceberg
sees them. Iceberg finds columns by name where their order is not checked.
"""


def shape(frame: "DataFrame", output: TableOutput, used: Collection[str] = ()) -> Any:
    """The frame with exactly the target's columns. Raises ``Refusal`` for extra and for missing required
    columns.

    For a merge: with those that the query gives, so that the others keep their values, and those that the
    merge itself uses (``used``, in lower case).
    """
    from pyspark.sql.types import StructType

    beside = [name for name in frame.columns if name.lower() in used and not _is_target(name, output)]
    _refuse_mismatch([name for name in frame.columns if name not in beside], output)
    given = {name.lower(): name for name in frame.columns}
    required = {column.name.lower() for column in output.columns if column.required}
    by_name = sorted(output.columns, key=lambda column: column.name.lower())
    target: Any = StructType.fromDDL(spark_columns(by_name))
    if output.mode == "merge":
        target = StructType(
            [field for field in target.fields if field.name.lower() in given]
            + [frame.schema[name] for name in beside]
        )
    checked = [
        _checked(given[name], output) if name in required else f"{quote(given[name])}" for name in given
    ]
    return frame.selectExpr(*checked).to(target)


def null_complaint_in(message: str) -> str | None:
    """The complaint of a failed query about a null in a required column, with the ways out; None for other
    errors.
    """
    said = (raised(NULL_REQUIRED, message) or "").rstrip(". ")
    match = _NULL.match(said)
    if match is None:
        return None
    return (
        f"{said[:1].upper()}{said[1:]}. A step gives no value for it; of a Kafka stream, so does a record "
        "without a value (a tombstone), and a bad one that is kept with null columns. Leave such rows out in "
        f"a step (WHERE {match.group(1)} IS NOT NULL), give them a value (coalesce), or let the table take "
        "nulls: write its column without not null."
    )


def write_options(output: TableOutput) -> dict[str, str]:
    return {**_SAFE_OPTIONS, **resolve_all(output.options)}


def _is_target(name: str, output: TableOutput) -> bool:
    return name.lower() in {column.name.lower() for column in output.columns}


def _refuse_mismatch(given: list[str], output: TableOutput) -> None:
    target, table = {column.name.lower() for column in output.columns}, ".".join(output.identifier)
    names = [name.lower() for name in given]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise Refusal(
            "OUTPUT_AMBIGUOUS_COLUMN",
            f"{output.source!r} gives the column {twice[0]} more than once; name each one once.",
        )
    if extra := [name for name in given if name.lower() not in target]:
        why = (
            f"{output.source!r} gives {', '.join(extra)}, which the table {table} does not have. Add the "
            "columns or leave them out."
        )
        raise Refusal("OUTPUT_EXTRA_COLUMN", why)
    if missing := [
        column.name for column in output.columns if column.required and column.name.lower() not in names
    ]:
        why = f"The table {table} requires {', '.join(missing)}, which {output.source!r} does not give."
        raise Refusal("OUTPUT_MISSING_COLUMN", why)


def _checked(name: str, output: TableOutput) -> str:
    said = f"null in the required column {name} of {'.'.join(output.identifier)}"
    complaint = f"[{NULL_REQUIRED}] {said}".replace("\\", "").replace("'", "")
    return f"coalesce({quote(name)}, raise_error('{complaint}')) AS {quote(name)}"
