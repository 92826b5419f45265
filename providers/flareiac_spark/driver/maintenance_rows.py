"""Deletes rows older than a time: by whole files where all their rows are older, which only touches
metadata.
"""

from datetime import UTC, datetime
from typing import Any

from flareiac.sdk.table_tasks import OPERATION, DeleteRows
from flareiac_spark.control import Maintained
from flareiac_spark.driver.column_types import quote
from flareiac_spark.driver.commit_marks import carried
from flareiac_spark.driver.maintenance_marks import TableWork, outcome, steps
from flareiac_spark.driver.refusal import Refusal


def delete_rows(bench: TableWork, work: DeleteRows) -> Maintained:
    """One commit, or none where there is no such row: an empty delete would end streams that read the table
    for nothing.
    """
    before = steps(bench)
    if not before and _any(bench, work) and not _by_whole_files(bench, work):
        with carried(bench.session, {OPERATION: bench.key}):
            bench.session.sql(f"DELETE FROM {bench.name} WHERE {_condition(work)}")  # noqa: S608 - names are quoted
    after = steps(bench)
    result = outcome(bench, after)
    old, new = result["rows_before"], result["rows_after"]
    return Maintained(
        result={**result, "deleted_rows": None if old is None or new is None else old - new},
        found=bool(before),
    )


def _any(bench: TableWork, work: DeleteRows) -> bool:
    return bench.current is not None and not bench.session.table(bench.name).where(_condition(work)).isEmpty()


def _by_whole_files(bench: TableWork, work: DeleteRows) -> bool:
    """Whether it could be done so. Iceberg refuses where only some rows of a file are meant."""
    from py4j.protocol import Py4JJavaError

    column = work.column
    old = bench.jvm.org.apache.iceberg.expressions.Expressions.lessThan(column, _spelled(work))
    try:
        bench.table.newDelete().set(OPERATION, bench.key).deleteFromRowFilter(old).commit()
    except Py4JJavaError as failure:
        if "Cannot delete file where some, but not all, rows match filter" not in str(
            failure.java_exception.getMessage()
        ):
            raise
        return False
    return True


def _condition(work: DeleteRows) -> str:
    kind = {
        "timestamptz": "TIMESTAMP_LTZ",
        "timestamp": "TIMESTAMP_NTZ",
        "timestamp_ntz": "TIMESTAMP_NTZ",
        "date": "DATE",
    }[_type(work)]
    name = ".".join(quote(part) for part in work.column.split("."))
    return f"{name} < {kind}'{_spelled(work)}'"


def _spelled(work: DeleteRows) -> str:
    """The time as Iceberg and Spark both read it; a day counts from its beginning, so that the day of the
    time stays.
    """
    at: Any = datetime.fromtimestamp(work.before_ms / 1000, UTC)
    match _type(work):
        case "date":
            return str(at.date().isoformat())
        case "timestamptz":
            return str(at.isoformat(timespec="microseconds"))
        case _:
            return str(at.replace(tzinfo=None).isoformat(timespec="microseconds"))


def _type(work: DeleteRows) -> str:
    if work.type in ("timestamptz", "timestamp", "timestamp_ntz", "date"):
        return work.type
    raise Refusal(
        "NOT_A_TIME", f"The column {work.column} has the type {work.type}, by which no row has an age."
    )
