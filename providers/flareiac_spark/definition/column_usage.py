"""The columns that a job certainly reads of an input or gives to an output. Pure; what is uncertain is left
out.
"""

from collections.abc import Iterable, Sequence

from flareiac.sdk.references import References
from flareiac_spark.definition.input_columns import input_columns
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.sql.column_usage import columns_named
from flareiac_spark.sql.static_reading import columns_given


def columns_by_relation(job: JobDefinition, references: References) -> dict[str, tuple[str, ...] | None]:
    """The columns that each input and step gives, all in lower case; None where only Spark can tell."""
    known: dict[str, Sequence[str] | None] = {
        name.lower(): [column.name for column in input_columns(job_input, references)] or None
        for name, job_input in job.inputs.items()
    }
    for name, step in job.ordered_steps.items():
        known[name.lower()] = columns_given(step.sql, known) if step.sql else None
    return {
        name: None if names is None else tuple(column.lower() for column in names)
        for name, names in known.items()
    }


def columns_read(queries: Iterable[str], relation: str) -> tuple[str, ...]:
    """Columns that the steps name of a relation, in lower case, sorted: those of queries that read nothing
    else beside it.
    """
    return tuple(sorted({column for sql in queries for column in columns_named(sql, relation)}))
