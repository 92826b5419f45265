"""The treatment of records that cannot be read, as a stream declares it, and the check that its quarantine
table can take them. Pure.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from flareiac.kernel.data import UNKNOWN, Data, Reference
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.sdk.references import References
from flareiac_spark import codes
from flareiac_spark.column_types import Column, table_columns
from flareiac_spark.sources.source import Source, UnknownSource
from flareiac_spark.stream.stream_definition import BadRecords
from flareiac_spark_runtime.sources.bad_records import (
    ACTIONS,
    ALWAYS_KNOWN,
    DECIDED_BY_BAD_RECORDS,
    FAIL,
    FIELDS,
    QUARANTINE,
)

_AT: Final = ("bad_records",)


def bad_records_of(
    value: Data, source: Source, references: References, diagnostics: Diagnostics
) -> BadRecords | None:
    """The treatment of bad records; None where they fail the job."""
    given = value if isinstance(value, dict) else {}
    table = given.get("quarantine")
    action: Any = given.get("action") or (QUARANTINE if table is not None else FAIL)
    if action is UNKNOWN or not _is_known(action, table, diagnostics):
        return None
    if action == FAIL or isinstance(source, UnknownSource):
        return None
    if not source.bad_record_fields:
        why = (
            f"A record of {source.shown} cannot be bad by itself: the source is read as a whole, or the job "
            'fails. Remove bad_records, or write { action = "fail" }.'
        )
        diagnostics.error(codes.NO_RECORDS_TO_JUDGE, why, attribute=_AT)
        return None
    _refuse_mode(source, diagnostics)
    if isinstance(table, Reference):
        _check_table(table, source, references, diagnostics)
    return BadRecords(action=action, quarantine=table if isinstance(table, Reference) else None)


def judges_records(value: Data) -> bool:
    """Returns True where bad_records says something else than that a bad record fails the job."""
    return isinstance(value, dict) and any(given not in (None, FAIL) for given in value.values())


def _is_known(action: Data, table: Data, diagnostics: Diagnostics) -> bool:
    if action not in ACTIONS:
        why = f"There is no action {action!r}. Write one of {', '.join(ACTIONS)}."
        why += did_you_mean(str(action), ACTIONS)
        diagnostics.error(codes.UNKNOWN_BAD_RECORDS_ACTION, why, attribute=_AT)
        return False
    if action == QUARANTINE and table is None:
        why = "Name the table that gets the bad records: bad_records = { quarantine = table.bad }."
        diagnostics.error(codes.QUARANTINE_WITHOUT_TABLE, why, attribute=_AT)
        return False
    if action != QUARANTINE and table is not None:
        why = (
            f'Bad records go to a table only where the action is "quarantine", and here it is "{action}". '
            "Remove the action, or quarantine."
        )
        diagnostics.error(codes.QUARANTINE_WITHOUT_TABLE, why, attribute=_AT)
        return False
    return True


def _refuse_mode(source: Source, diagnostics: Diagnostics) -> None:
    options = getattr(source, "options", {})
    for name in options:
        if name.lower() in DECIDED_BY_BAD_RECORDS:
            why = f"bad_records decides what becomes of bad records. Remove the option {name}."
            diagnostics.error(codes.BAD_RECORDS_DECIDED_TWICE, why, attribute=(source.kind, "options", name))


def _check_table(table: Reference, source: Source, references: References, diagnostics: Diagnostics) -> None:
    columns = table_columns(table, references)
    if not columns:
        return  # it is not declared, or its columns are not: the job that writes it says so
    for why in _misfits(table, columns, (*source.bad_record_fields, *ALWAYS_KNOWN), source):
        diagnostics.error(codes.QUARANTINE_TABLE_UNFIT, why, attribute=_AT)


def _misfits(
    table: Reference, columns: Sequence[Column], known: Sequence[str], source: Source
) -> Iterator[str]:
    takes = [column for column in columns if column.name in FIELDS]
    if not any(column.name in ("raw", "error") for column in takes):
        example = "; ".join(f'column "{name}" {{ type = "{types[0]}" }}' for name, types in FIELDS.items())
        yield (
            f"{table} has no column raw and no column error, so that a bad record would leave nothing "
            f"behind. Columns are filled by their names: {example}."
        )
    for column in takes:
        if column.type not in FIELDS[column.name]:
            types = " or ".join(FIELDS[column.name])
            yield f"The column {column.name} of {table} is {column.type}. For bad records it is {types}."
    for column in columns:
        if column.required and column.name not in known:
            yield (
                f"The column {column.name} of {table} is not null, and a bad record of {source.shown} has no "
                f"value for it: it has {', '.join(known)}. Make the column optional."
            )
