"""Deletes rows older than a time: by whole files where their metadata proves that all their rows are older,
which only touches metadata; else row by row.

Iceberg is never given a filter to choose files by. It takes null for the least value of a partition, and an
hour of the far future for one of the far past.
"""

from dataclasses import field
from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.table_tasks import OPERATION, KnownRefusal, Performed, Performer, TableWork, TaskRefusal
from flareiac_iceberg_runtime import codes
from flareiac_iceberg_runtime.civil_time import DAY_MS, date_text, time_text
from flareiac_iceberg_runtime.kinds.retention.ages import (
    FAR_PAST,
    Told,
    unit_of,
    whole_and_doubtful,
)
from flareiac_iceberg_runtime.performing import current

_TYPES: Final = {
    "timestamptz": "TIMESTAMP_LTZ",
    "timestamp": "TIMESTAMP_NTZ",
    "timestamp_ntz": "TIMESTAMP_NTZ",
    "date": "DATE",
}
"""Iceberg's types that say how old a row is, and Spark's names for them."""
_STATISTICS: Final = ("null_value_counts", "lower_bounds", "upper_bounds")
_SPARSE: Final = {"optional": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteRows:
    """Rows whose ``column`` (of type ``type``: Iceberg's name) is before a time (ms since 1970, UTC).

    ``forecast_rows``: exactly so many there are in the snapshot ``snapshot``; None where that is not known.
    """

    column: str
    type: str
    before_ms: int
    snapshot: int | None = field(default=None, metadata=_SPARSE)
    forecast_rows: int | None = field(default=None, metadata=_SPARSE)


def delete_rows(work: TableWork, task: DeleteRows) -> Performed:
    """One commit, or none where there is no such row: an empty delete would end streams that read the table
    for nothing.
    """
    before, snapshot = work.steps(), current(work)
    _type(task)
    if not before and snapshot is not None and task.before_ms * 1000 > FAR_PAST:
        _delete(work, task, snapshot)
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
        KnownRefusal(
            error_class="MORE_THAN_FORECAST",
            code=codes.MORE_ROWS_THAN_FORECAST,
            advice="Nothing was deleted. Plan again: the forecast is made from the files as they are now. If "
            "it comes again, the metadata of a file says other than its rows: look at the rows of the column "
            "before you delete them by hand.",
        ),
    ),
)


def _delete(work: TableWork, task: DeleteRows, snapshot: int) -> None:
    """Deletes what is old in a snapshot. Raises ``TaskRefusal``, with nothing deleted, where that is more
    than was forecast for this very snapshot.
    """
    candidates = list(whole_and_doubtful(_files(work, task, snapshot), task.before_ms * 1000))
    whole = {path: rows for path, rows, is_whole in candidates if is_whole}
    old = _old_rows(work, task, snapshot) if len(whole) < len(candidates) else whole
    if old.keys() <= whole.keys():
        _refuse_more(task, snapshot, sum(whole.values()))
        _delete_files(work, whole)
    else:
        _refuse_more(task, snapshot, sum(old.values()))
        with work.marked():
            work.session.sql(f"DELETE FROM {work.name} WHERE {_condition(task)}")  # noqa: S608 - names are quoted


def _refuse_more(task: DeleteRows, snapshot: int, rows: int) -> None:
    if task.forecast_rows is not None and task.snapshot == snapshot and rows > task.forecast_rows:
        raise TaskRefusal(
            "MORE_THAN_FORECAST",
            f"{rows:,} rows of snapshot {snapshot} would go, and the forecast for the same snapshot is "
            f"{task.forecast_rows:,}.",
        )


def _delete_files(work: TableWork, paths: dict[str, int]) -> None:
    """These very files, or none: where another commit took one of them away, all is judged again.

    A path must not reach the JVM as a string: beside the public ``deleteFile(CharSequence)`` there is a
    protected ``deleteFile(String)``, which the bridge prefers, and which removes the file itself.
    """
    if not paths:
        return
    characters = work.session._jvm.java.lang.StringBuilder
    delete = work.table.newDelete().set(OPERATION, work.key).validateFilesExist()
    for path in paths:
        delete.deleteFile(characters(path))
    delete.commit()


def _files(work: TableWork, task: DeleteRows, snapshot: int) -> "list[tuple[str, Told]]":
    """The facts about the column that the metadata of each live data file holds, by path."""
    column = work.table.schema().findField(task.column)
    if column is None:
        raise TaskRefusal("NOT_A_TIME", f"The table no longer has a column {task.column}.")
    number = int(column.fieldId())
    times = _partition_times(work, task, number)
    listed = ", ".join(
        (
            "spec_id",
            "file_path",
            "record_count",
            *(
                f"try_element_at({name}, {number})"
                for name in ("null_value_counts", "lower_bounds", "upper_bounds")
            ),
            *(text for _, _, text in times),
        )
    )
    sql = f"SELECT {listed} FROM {work.name}.data_files VERSION AS OF {snapshot}"  # noqa: S608 - names are quoted
    return [
        (
            row[1],
            Told(
                records=int(row[2]),
                partition=tuple(
                    (units[row[0]], value)
                    for (_, units, _), value in zip(times, row[6:], strict=True)
                    if row[0] in units
                ),
                nulls=row[3],
                lower=None if row[4] is None else bytes(row[4]),
                upper=None if row[5] is None else bytes(row[5]),
            ),
        )
        for row in work.session.sql(sql).collect()
    ]


def _partition_times(work: TableWork, task: DeleteRows, column: int) -> list[tuple[int, dict[int, str], str]]:
    """The partition fields, over all specs, that are times of a column: field id, unit by spec id, and the
    value as a number in Spark's SQL.
    """
    units: dict[int, dict[int, str]] = {}
    for spec in work.table.specs().values():
        for partition_field in spec.fields():
            unit = unit_of(str(partition_field.transform()), task.type)
            if int(partition_field.sourceId()) == column and unit is not None:
                units.setdefault(int(partition_field.fieldId()), {})[int(spec.specId())] = unit
    if not units:
        return []
    kind = work.session._jvm.org.apache.iceberg.Partitioning.partitionType(work.table)
    fields = (
        (int(partition_field.fieldId()), str(partition_field.name()), str(partition_field.type()))
        for partition_field in kind.fields()
    )
    return [
        (number, units[number], _as_number(f"partition.{_quoted(name)}", kind))
        for number, name, kind in fields
        if number in units
    ]


def _as_number(value: str, kind: str) -> str:
    """A date in days, a time in microseconds since 1970, as they are stored."""
    match kind:
        case "date":
            return f"unix_date({value})"
        case "timestamptz":
            return f"unix_micros({value})"
        case "timestamp":
            return f"timestampdiff(MICROSECOND, TIMESTAMP_NTZ'1970-01-01 00:00:00', {value})"
        case _:
            return value


def _old_rows(work: TableWork, task: DeleteRows, snapshot: int) -> dict[str, int]:
    """The number of old rows by the data file that they are in: counted from the rows themselves."""
    sql = (
        f"SELECT _file, count(*) FROM {work.name} VERSION AS OF {snapshot} "  # noqa: S608 - names are quoted
        f"WHERE {_condition(task)} GROUP BY _file"
    )
    return {row[0]: int(row[1]) for row in work.session.sql(sql).collect()}


def _condition(task: DeleteRows) -> str:
    """The old rows. The comparison of numbers is one that Iceberg cannot take over from Spark, which it would
    answer for whole files from their partition values.
    """
    kind, column = _type(task), ".".join(_quoted(part) for part in task.column.split("."))
    stored = {"DATE": "date", "TIMESTAMP_LTZ": "timestamptz", "TIMESTAMP_NTZ": "timestamp"}[kind]
    number = task.before_ms // DAY_MS if kind == "DATE" else task.before_ms * 1000
    return (
        f"{column} IS NOT NULL AND {column} < {kind}'{_spelled(task)}' "
        f"AND {_as_number(column, stored)} < {number}L"
    )


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _spelled(task: DeleteRows) -> str:
    """The time as Spark reads it; a day counts from its beginning, so that the day of the time stays."""
    match _type(task):
        case "DATE":
            return date_text(task.before_ms // DAY_MS)
        case "TIMESTAMP_LTZ":
            return f"{time_text(task.before_ms)}.{task.before_ms % 1000:03d}Z"
        case _:
            return f"{time_text(task.before_ms)}.{task.before_ms % 1000:03d}"


def _type(task: DeleteRows) -> str:
    """Spark's name of the column's type."""
    if task.type not in _TYPES:
        raise TaskRefusal(
            "NOT_A_TIME", f"The column {task.column} has the type {task.type}, by which no row has an age."
        )
    return _TYPES[task.type]
