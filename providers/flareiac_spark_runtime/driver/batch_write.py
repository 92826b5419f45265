"""Writes a frame of a definite set of rows in one commit, in the output's mode, to the table or a branch of
it.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from flareiac.kernel import kill_points
from flareiac_spark_runtime.control import TableOutput
from flareiac_spark_runtime.driver import commit_marks, merge_rows, tables
from flareiac_spark_runtime.driver.column_types import quote, spark_columns
from flareiac_spark_runtime.driver.earlier_layouts import refuse_rows_left
from flareiac_spark_runtime.driver.outputs import write_options
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.driver.stored_values import as_stored

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def write(
    frame: "DataFrame", output: TableOutput, carry: Mapping[str, str], tombstones: TableOutput | None = None
) -> None:
    """Writes a frame that has the output's shape. ``carry`` goes into the snapshot's summary. ``tombstones``
    keeps the output's deletes, and has those of this frame already.

    Raises what Spark raises, and ``Refusal`` for what no second try can change.
    """
    with commit_marks.carried(frame.sparkSession, carry):
        _write(as_stored(frame, output), output, tombstones)


def has_deletes(frame: "DataFrame", output: TableOutput) -> bool:
    """Returns True if some row of a merge is a delete, which its tombstones are to keep."""
    rows = as_stored(frame, output)
    return not rows.alias("s").where(merge_rows.deletes(frame.sparkSession, output)).isEmpty()


def _write(frame: "DataFrame", output: TableOutput, tombstones: TableOutput | None) -> None:
    from pyspark.sql import functions as F  # noqa: N812 - the name under which everybody knows it

    writer = frame.writeTo(tables.quoted_target(output)).options(**write_options(output))
    match output.mode:
        case "append":
            writer.append()
        case "complete" | "overwrite":
            writer.overwrite(F.lit(True))
        case "overwrite_partitions":
            refuse_rows_left(frame, output)
            writer.overwritePartitions()
        case "merge":
            _merge(frame, output, tombstones)


def _merge(frame: "DataFrame", output: TableOutput, tombstones: TableOutput | None) -> None:
    session, view = frame.sparkSession, f"__flareiac_{output.name}"
    frame.createOrReplaceTempView(quote(view))
    try:
        rows = _rows(frame, view)
        if output.tombstones_of:
            statement = merge_rows.tombstones_statement(session, output, rows)
        else:
            statement = merge_rows.statement(session, output, rows, tombstones)
        kill_points.reach("driver.in-merge", output.name)
        session.sql(statement)
    except Exception as failure:
        if merge_rows.NOT_UNIQUE in str(failure) or "MERGE_CARDINALITY_VIOLATION" in str(failure):
            raise _several(output) from failure
        raise
    finally:
        session.catalog.dropTempView(view)


def check_merge(session: "SparkSession", frame: "DataFrame", output: TableOutput) -> None:
    """Raises what is wrong with a merge's keys and conditions; touches no table. ``frame`` may be a
    stream.
    """
    from pyspark.sql.types import StructType

    merge = merge_rows.rule(output)
    if output.tombstones_of:
        merge_rows.tombstones_statement(session, output, _rows(frame, ""))
        frame.alias("s").where(merge_rows.deletes(session, output))
        return
    merge_rows.statement(session, output, _rows(frame, ""))
    row = cast("StructType", StructType.fromDDL(spark_columns(output.columns)))
    there = session.createDataFrame([], row).alias("t")
    for condition in (merge.update_if, merge.delete_if):
        if condition is not None:
            there.crossJoin(frame.alias("s")).where(condition)


def _rows(frame: "DataFrame", view: str) -> merge_rows.NewRows:
    orderable = tuple(field.name for field in frame.schema if _is_orderable(field.dataType))
    return merge_rows.NewRows(view=view, columns=tuple(frame.columns), orderable=orderable)


def _several(output: TableOutput) -> Refusal:
    on = ", ".join(merge_rows.rule(output).on)
    why = (
        f"The output {output.name!r} merges by {on}, and there is more than one row for some value of it, so "
        "that it is not certain which one counts. Say it: merge = { latest_by = ... } takes the row with "
        "the greatest value; or make the rows unique in a step."
    )
    return Refusal("MERGE_CARDINALITY", why)


def _is_orderable(kind: Any) -> bool:
    from pyspark.sql import types

    match kind:
        case types.MapType() | types.VariantType() | types.CalendarIntervalType():
            return False
        case types.ArrayType():
            return _is_orderable(kind.elementType)
        case types.StructType():
            return all(_is_orderable(field.dataType) for field in kind)
        case _:
            return True
