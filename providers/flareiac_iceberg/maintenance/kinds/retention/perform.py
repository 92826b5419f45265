"""Deletes rows older than a time: by whole files where all their rows are older, which only touches
metadata.
"""

from datetime import UTC, datetime
from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.table_tasks import OPERATION, KnownRefusal, Performed, Performer, TableWork, TaskRefusal
from flareiac_iceberg import codes
from flareiac_iceberg.maintenance.performing import current, java_exception

_TYPES: Final = {
    "timestamptz": "TIMESTAMP_LTZ",
    "timestamp": "TIMESTAMP_NTZ",
    "timestamp_ntz": "TIMESTAMP_NTZ",
    "date": "DATE",
}
"""Iceberg's types that say how old a row is, and Spark's names for them."""
_PARTLY: Final = "Cannot delete file where some, but not all, rows match filter"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteRows:
    """Rows whose ``column`` (of type ``type``: Iceberg's name) is before a time (ms since 1970, UTC)."""

    column: str
    type: str
    before_ms: int


def delete_rows(work: TableWork, task: DeleteRows) -> Performed:
    """One commit, or none where there is no such row: an empty delete would end streams that read the table
    for nothing.
    """
    before = work.steps()
    if not before and _any(work, task) and not _by_whole_files(work, task):
        with work.marked():
            work.session.sql(f"DELETE FROM {work.name} WHERE {_condition(task)}")  # noqa: S608 - names are quoted
    result = work.outcome(work.steps())
    old, new = result["rows_before"], result["rows_after"]
    deleted = None if old is None or new is None else old - new
    return Performed(result={**result, "deleted_rows": deleted}, found=bool(before))


PERFORMER: Final = Performer(
    kind="delete_rows",
    task=DeleteRows,
    perform=delete_rows,
    doing="deleting rows",
    refusals=(
        KnownRefusal(
            error_class="NOT_A_TIME",
            code=codes.ROWS_WITHOUT_AGE,
            advice="Write a column of type timestamptz, timestamp_ntz or date in retention.",
        ),
    ),
)


def _any(work: TableWork, task: DeleteRows) -> bool:
    return current(work) is not None and not work.session.table(work.name).where(_condition(task)).isEmpty()


def _by_whole_files(work: TableWork, task: DeleteRows) -> bool:
    """Whether it could be done so. Iceberg refuses where only some rows of a file are meant."""
    expressions = work.session._jvm.org.apache.iceberg.expressions.Expressions
    old = expressions.lessThan(task.column, _spelled(task))
    try:
        work.table.newDelete().set(OPERATION, work.key).deleteFromRowFilter(old).commit()
    except Exception as failure:
        refused = java_exception(failure)
        if refused is None or _PARTLY not in str(refused.getMessage()):
            raise
        return False
    return True


def _condition(task: DeleteRows) -> str:
    kind, time = _type(task), _spelled(task)
    name = ".".join(f"`{part.replace('`', '``')}`" for part in task.column.split("."))
    return f"{name} < {kind}'{time}'"


def _spelled(task: DeleteRows) -> str:
    """The time as Iceberg and Spark both read it; a day counts from its beginning, so that the day of the
    time stays.
    """
    at = datetime.fromtimestamp(task.before_ms / 1000, UTC)
    match _type(task):
        case "DATE":
            return at.date().isoformat()
        case "TIMESTAMP_LTZ":
            return at.isoformat(timespec="microseconds")
        case _:
            return at.replace(tzinfo=None).isoformat(timespec="microseconds")


def _type(task: DeleteRows) -> str:
    """Spark's name of the column's type."""
    if task.type not in _TYPES:
        raise TaskRefusal(
            "NOT_A_TIME", f"The column {task.column} has the type {task.type}, by which no row has an age."
        )
    return _TYPES[task.type]
