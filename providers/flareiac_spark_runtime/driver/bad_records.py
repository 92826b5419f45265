"""The treatment of the records that a source marks as bad.

The marker is taken off on the far side of a node that no filter of a step passes: on the near side it would
drop a record before it is judged, or have it decoded twice. Where bad records are counted, that is the node
which counts (``observe``); where the first one ends the query, a filter that Spark takes for not
deterministic, because a count for each row costs a tenth of the work of a simple query (measured).
"""

from typing import TYPE_CHECKING, Any, Final

from flareiac_spark_runtime.control import StreamInput, TableOutput
from flareiac_spark_runtime.driver import logical_plan
from flareiac_spark_runtime.driver.column_types import quote
from flareiac_spark_runtime.driver.raised import raised
from flareiac_spark_runtime.sources.bad_records import (
    COMPLAINT,
    DROP,
    GOOD,
    MARKED,
    MARKER,
    NAME,
    OWN,
    QUARANTINE,
)
from flareiac_spark_runtime.sources.decoding import ONCE, STAYS, literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ERROR_CLASS: Final = "BAD_RECORD"
_OF: Final = "A record of the input {name} cannot be read: "
_RECORD: Final = "__flareiac_record"
_COUNT: Final = "bad"
_WAY_ON: Final = (
    'To go on without such records, write in its stream: bad_records = { action = "drop" }; to keep what is '
    "known of them: bad_records = { quarantine = table.NAME }; to keep their rows with null columns, where "
    'the tables take nulls: bad_records = { action = "null" }.'
)
_FIXED: Final = "Or correct the record, or the columns of the stream."


def taken_off(frame: "DataFrame", stream_input: StreamInput) -> Any:
    """The frame of an input without what marks bad records, and with what becomes of them."""
    if GOOD not in frame.columns:
        return frame
    names = [name for name in frame.columns if name not in OWN]
    if not stream_input.bad_records:
        judgement = f"CASE WHEN {GOOD} THEN {STAYS} ELSE raise_error({_complaint(stream_input.name)}) END"
        return frame.where(judgement).selectExpr(*map(quote, names))
    judged = {column.name for column in stream_input.source.judged_columns}
    record = f"struct({', '.join(quote(name) for name in names if name in judged)})"
    beside = [quote(name) for name in names if name not in judged]
    judgement = f"CASE WHEN {GOOD} THEN {record} END AS {_RECORD}"
    judged_rows = _counted(frame.selectExpr(judgement, *beside), f"{NAME}{stream_input.name}")
    if stream_input.bad_records in (DROP, QUARANTINE):
        judged_rows = judged_rows.where(f"{_RECORD} IS NOT NULL")
    return judged_rows.selectExpr(
        *(f"{_RECORD}.{quote(name)} AS {quote(name)}" if name in judged else quote(name) for name in names)
    )


def bad_rows(frame: "DataFrame", stream_input: StreamInput, output: TableOutput, job: str) -> Any:
    """The rows of the quarantine table for the bad records of a marked frame, by the names of the table's
    columns.
    """
    names = [quote(name) for name in frame.columns if name not in OWN]
    record = f"CASE WHEN {GOOD} THEN struct({', '.join(names)}) END AS {_RECORD}"
    counted = _counted(frame.selectExpr(record, MARKER), f"quarantine.{stream_input.name}")
    return counted.where(f"{_RECORD} IS NULL").selectExpr(*_known(output, stream_input.name, job))


def empty_bad_rows(empty: "DataFrame", stream_input: StreamInput, output: TableOutput, job: str) -> Any:
    """The same of no record. ``empty``: the frame of the input without rows."""
    fields = ", ".join(f"{name}: {kind}" for name, kind in MARKED.items())
    return empty.selectExpr(f"CAST(NULL AS STRUCT<{fields}>) AS {MARKER}").selectExpr(
        *_known(output, stream_input.name, job)
    )


def judges(node: Any) -> bool:
    """Returns True if a node of a plan decodes or judges each record. It gives the same rows each time,
    although Spark takes it for not deterministic.
    """
    match logical_plan.kind(node):
        case "Project":
            return ONCE in logical_plan.columns(node)
        case "Filter":
            return GOOD in logical_plan.condition_columns(node)
        case _:
            return False


def counts(observed: dict[str, dict[str, int]]) -> dict[str, int]:
    """Bad records by input, of what Spark observed in one batch."""
    return {
        name.removeprefix(NAME): int(values[_COUNT])
        for name, values in observed.items()
        if name.startswith(NAME) and _COUNT in values
    }


def complaint_in(message: str) -> str | None:
    """The message of a failed query about the bad record that ended it, with the ways out; None for other
    errors.
    """
    said = raised(ERROR_CLASS, message)
    return None if said is None else f"{said}\n{_WAY_ON} {_FIXED}"


def is_of(complaint: str, input_name: str) -> bool:
    """Returns True if a complaint is about a record of this input."""
    return complaint.startswith(_OF.format(name=input_name))


def ways_on() -> str:
    """The lines to paste."""
    return _WAY_ON


def _counted(frame: "DataFrame", name: str) -> Any:
    from pyspark.sql import functions as F  # noqa: N812 - the name under which everybody knows it

    # The counts make Spark read and decode every column, also those that no step reads.
    bad = F.count(F.when(F.col(_RECORD).isNull(), 1))
    return frame.observe(name, bad.alias(_COUNT), F.count(_RECORD).alias("good"))


def _known(output: TableOutput, input_name: str, job: str) -> list[str]:
    selected: list[str] = []
    for column in output.columns:
        if column.name in MARKED:
            kind = "STRING" if column.type == "string" else "BINARY" if column.name == "raw" else ""
            value = f"CAST({MARKER}.{column.name} AS {kind})" if kind else f"{MARKER}.{column.name}"
            if kind == "STRING":  # bytes that are no text would make a table that others cannot read
                value = f"make_valid_utf8({value})"
            selected.append(f"{value} AS {quote(column.name)}")
        elif column.name in ("input", "job"):
            said = {"input": input_name, "job": job}[column.name]
            selected.append(f"{literal(said)} AS {quote(column.name)}")
    return selected


def _complaint(input_name: str) -> str:
    begin = literal(f"[{ERROR_CLASS}] {_OF.format(name=input_name)}")
    return f"concat({begin}, {COMPLAINT}, '.')"
