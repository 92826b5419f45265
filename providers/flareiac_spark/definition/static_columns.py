"""The faults of a job's columns that show without Spark: names in its SQL and attributes that are no columns,
and types that no column takes. Pure; what is not certain is left to Spark.
"""

from collections.abc import Sequence
from typing import Final

from flareiac.kernel.codes import Code
from flareiac.kernel.data import Reference
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.kernel.paths import Path
from flareiac.sdk.references import References
from flareiac_spark import codes
from flareiac_spark.column_types import Column, table_columns
from flareiac_spark.definition.input_columns import input_columns
from flareiac_spark.definition.input_definition import Input, StreamInput, TableInput
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.output_definition import Merge, TableOutput
from flareiac_spark.sources.source import TableRead
from flareiac_spark.sql.certain_types import cannot_store
from flareiac_spark.sql.parse import unread
from flareiac_spark.sql.static_reading import (
    Columns,
    GivenColumn,
    Mistake,
    NotGrouped,
    UnknownColumn,
    UnknownField,
    read,
)

_COLUMN: Final = "column"
"""The blocks of a table's columns, as ``ignore_changes`` names them."""


def columns_of_inputs(job: JobDefinition, references: References) -> dict[str, Columns | None]:
    """The columns of each input by its lower-case name, None where they are not known."""
    return {name.lower(): _columns(job_input, references) for name, job_input in job.inputs.items()}


def _columns(job_input: Input, references: References) -> Columns | None:
    table = _table_of(job_input)
    if table is not None and _columns_are_ignored(table, references):
        return None
    columns = tuple(
        GivenColumn(name=each.name, type=each.type or None) for each in input_columns(job_input, references)
    )
    return columns or None


def check_columns(job: JobDefinition, references: References, diagnostics: Diagnostics) -> None:
    """Reports what is certainly wrong."""
    known = columns_of_inputs(job, references)
    unsure = {name.lower() for name, job_input in job.inputs.items() if _may_change(job_input, references)}
    for name, step in job.steps.items():
        if not step.sql:
            known[name.lower()] = None
            continue
        _check_readable(name, job, diagnostics)
        reading = read(step.sql, known, unsure)
        certain = set(reading.mistakes)
        # What leaves a table of this project is said with the table's change, where the plan has one
        mistakes = read(step.sql, known).mistakes if unsure else ()
        later = [each for each in mistakes if each not in certain and not _is_hidden(each)]
        for mistake in (*reading.mistakes, *later):
            code, why = _said(mistake, name)
            at = mistake.start, mistake.end
            within = None if at[0] is None or at[1] is None else (at[0], at[1])
            diagnostics.error(
                code, why, attribute=("step", name, "sql"), within=within, left_to_plan=mistake in later
            )
        known[name.lower()] = reading.columns
        _check_step(name, job, known[name.lower()], diagnostics)
    for name, output in job.declared_outputs.items():
        if isinstance(output, TableOutput):
            _check_output(name, output, known.get(output.source.lower()), references, diagnostics)


def _is_hidden(mistake: Mistake) -> bool:
    """True where it may be about a column that Iceberg has beside those of a table, such as ``_file``."""
    return isinstance(mistake, UnknownColumn) and mistake.name.rpartition(".")[2].startswith("_")


def _check_readable(name: str, job: JobDefinition, diagnostics: Diagnostics) -> None:
    """SQL that is not read here is nothing of which anything is known."""
    unread_sql = unread(job.steps[name].sql)
    if unread_sql is None:
        return
    sql = job.steps[name].sql
    at, within = ("step", name, "sql"), (unread_sql.start, unread_sql.end)
    line, column = (
        sql.count("\n", 0, unread_sql.start) + 1,
        unread_sql.start - sql.rfind("\n", 0, unread_sql.start),
    )
    place = f"line {line}, column {column} of the query"
    if unread_sql.wrong and not _has_other_parser(job):
        why = f"The SQL of step {name} is not valid at {place}. {unread_sql.wrong}"
        diagnostics.error(codes.SQL_INVALID, why, attribute=at, within=within)
        return
    why = (
        f"At {place} the SQL of step {name} computes a name with IDENTIFIER, which only Spark resolves: "
        if unread_sql.names_by_text
        else f"FlareIaC cannot parse the SQL of step {name}, at {place}. If Spark cannot either, apply says "
        "so before it changes anything. Until then "
    ) + (
        "the columns, the types and the state of this step are not known, and what depends on them is not "
        "checked."
    )
    diagnostics.warning(codes.SQL_NOT_READ, why, attribute=at, within=within)


def _has_other_parser(job: JobDefinition) -> bool:
    """Returns True if settings may give Spark another grammar."""
    settings = {**(job.application.conf if job.application is not None else {}), **job.conf}
    return "spark.sql.extensions" in settings


def _may_change(job_input: Input, references: References) -> bool:
    """Returns True if the input reads a table of this project: the effect of a dropped column on readers is
    reported with the table's change, in the plan.
    """
    table = _table_of(job_input)
    known = references.get(table.address) if table is not None else None
    return known is not None and known.type == "table"


def _table_of(job_input: Input) -> Reference | None:
    """The table that an input reads."""
    read_of = job_input.source.table_read if isinstance(job_input, StreamInput) else job_input
    return read_of.table if isinstance(read_of, TableRead | TableInput) else None


def _columns_are_ignored(table: Reference, references: References) -> bool:
    """True where the table may have other columns than it declares, so that these prove nothing."""
    known = references.get(table.address)
    return known is not None and _COLUMN in known.ignored


def _said(mistake: Mistake, step: str) -> tuple[Code, str]:
    match mistake:
        case UnknownColumn(name=name, among=among):
            guess = did_you_mean(name.rpartition(".")[2], among)
            return codes.COLUMN_UNKNOWN, (
                f'There is no column "{name}" in what the step {step} reads. There are {", ".join(among)}.'
                f"{guess}"
            )
        case UnknownField(name=name, of=of, type=kind, among=among):
            has = f"Its fields are {', '.join(among)}." if among else "A value of this type has no fields."
            return codes.FIELD_UNKNOWN, (
                f'There is no field "{name}" in {of}, which the step {step} reads as {kind}. {has}'
                f"{did_you_mean(name, among)}"
            )
        case NotGrouped(name=name):
            return codes.COLUMN_NOT_GROUPED, (
                f"The step {step} selects {name} beside an aggregate, and does not group by it. Add {name} "
                f"to GROUP BY, or take one of its values, as in any_value({name})."
            )
        case _:
            raise AssertionError(mistake)


def _check_step(name: str, job: JobDefinition, given: Columns | None, diagnostics: Diagnostics) -> None:
    step = job.steps[name]
    if step.dedup is not None:
        at = ("step", name, "dedup")
        _named(f"The step {name} removes duplicates by", step.dedup.keys, given, at, diagnostics)
    if step.watermark is not None:
        at = ("step", name, "watermark")
        _named(f"The step {name} has a watermark on", [step.watermark.column], given, at, diagnostics)


def _check_output(
    name: str, output: TableOutput, given: Columns | None, references: References, diagnostics: Diagnostics
) -> None:
    if given is None:
        return
    ignored = _columns_are_ignored(output.table, references)
    table = [] if ignored else table_columns(output.table, references)
    if output.merge is not None and output.mode == "merge":
        _check_merge(name, output.merge, given, diagnostics)
        _check_conditions(name, output, output.merge, (given, table), diagnostics)
        taken = {column.name.lower() for column in table}
        for key in output.merge.on:
            if table and key.lower() in _names(given) and key.lower() not in taken:
                among = [column.name for column in table]
                diagnostics.error(
                    codes.OUTPUT_COLUMN_UNKNOWN,
                    f"Output {name} merges by {key}, which {output.table} does not have. It has "
                    f"{', '.join(among)}.{did_you_mean(key, among)}",
                    attribute=("output", name, "merge", "on"),
                )
    types = {column.name.lower(): column.type for column in table}
    for column in given:
        wanted = types.get(column.name.lower())
        if wanted is not None and _is_once(column.name, given) and cannot_store(column.type, wanted):
            diagnostics.error(
                codes.OUTPUT_TYPE_UNFIT,
                f"{output.source} gives {column.name} as {column.type}, and {output.table} has it as "
                f"{wanted}. Spark does not store one as the other: convert it in a step, or give the column "
                "another type.",
                attribute=("output", name, "table"),
            )


def _check_merge(name: str, merge: Merge, given: Columns, diagnostics: Diagnostics) -> None:
    at = ("output", name, "merge")
    _named(f"Output {name} merges by", merge.on, given, (*at, "on"), diagnostics)
    if merge.latest_by is not None:
        what = f"Output {name} takes the latest row by"
        _named(what, [merge.latest_by], given, (*at, "latest_by"), diagnostics)


def _check_conditions(
    name: str,
    output: TableOutput,
    merge: Merge,
    columns: tuple[Columns, Sequence[Column]],
    diagnostics: Diagnostics,
) -> None:
    """Reports columns that the conditions of a merge read and that are not there. ``s`` is the row that
    comes, and ``t`` that of the table, whose columns may be changed in the same plan.
    """
    given, table = columns
    there = tuple(GivenColumn(name=each.name, type=each.type or None) for each in table) or None
    for attribute, condition in (("update_if", merge.update_if), ("delete_if", merge.delete_if)):
        if condition is None:
            continue
        sql = f"SELECT ({condition}) AS met FROM s CROSS JOIN t"  # noqa: S608 - it is only parsed
        certain = list(read(sql, {"s": given, "t": None}).mistakes)
        both = read(sql, {"s": given, "t": there}).mistakes
        for mistake in (*certain, *(each for each in both if each not in certain)):
            if not isinstance(mistake, UnknownColumn):
                continue
            of_table = mistake.name.lower().startswith("t.")
            among = [column.name for column in (table if of_table else given)]
            what = (
                f"{output.table} does not have. It has" if of_table else "the query does not give. It gives"
            )
            diagnostics.error(
                codes.OUTPUT_COLUMN_UNKNOWN,
                f"{attribute} of output {name} reads {mistake.name}, which {what} {', '.join(among)}."
                f"{did_you_mean(mistake.name.rpartition('.')[2], among)}",
                attribute=("output", name, "merge", attribute),
                left_to_plan=mistake not in certain,
            )


def _named(
    what: str, names: Sequence[object], given: Columns | None, at: Path, diagnostics: Diagnostics
) -> None:
    """Reports names that are no columns of a query."""
    if given is None:
        return
    among = [column.name for column in given]
    for name in names:
        if isinstance(name, str) and name.lower() not in _names(given):
            diagnostics.error(
                codes.OUTPUT_COLUMN_UNKNOWN,
                f"{what} {name}, which the query does not give. It gives {', '.join(among)}."
                f"{did_you_mean(name, among)}",
                attribute=at,
            )


def _names(given: Columns) -> set[str]:
    return {column.name.lower() for column in given}


def _is_once(name: str, given: Columns) -> bool:
    return [column.name.lower() for column in given].count(name.lower()) == 1
