"""The parts of a streaming job's SQL that Spark certainly does not run as a stream. Pure."""

from collections.abc import Mapping
from typing import Final

from flareiac.kernel.diagnostics import Diagnostics
from flareiac_spark import codes
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.sql.relations import relations
from flareiac_spark.sql.stream_limits import StreamLimit, reached, stream_reading

_INSTEAD: Final[Mapping[StreamLimit, str]] = {
    StreamLimit.SORT: (
        "Remove ORDER BY: a stream has no last row. Sort where the table is read, or give the table an order "
        "with sort_by."
    ),
    StreamLimit.OFFSET: "Remove OFFSET: a stream has no first row that all others come after.",
    StreamLimit.WINDOW: (
        "Remove OVER (...): group by window(...) of a time column, or compute it in a batch job."
    ),
    StreamLimit.DISTINCT_AGGREGATE: (
        "Use approx_count_distinct, or write the rows to a table and count them in a batch job."
    ),
    StreamLimit.SAMPLE: "Take some of the rows by a condition, as in WHERE pmod(hash(id), 10) = 0.",
    StreamLimit.EXCEPT: "Use a LEFT ANTI JOIN with a table.",
    StreamLimit.INTERSECT: "Use a join.",
    StreamLimit.UNION: "Unite streams with streams. Write the rows of the table by a batch job.",
    StreamLimit.OUTER_JOIN: (
        "Which row of a table has no partner is known only when the stream has ended. Keep the rows of the "
        "stream: write it on the side that the join keeps, or write JOIN."
    ),
}


def check_stream_limits(job: JobDefinition, diagnostics: Diagnostics) -> None:
    """Reports the steps that an output is made of, each limit once.

    With ``foreach_batch`` some steps run on each micro-batch by itself, where all of this is possible.
    """
    if job.mode != "stream" or job.foreach_batch:
        return
    known: dict[str, bool | None] = {
        name.lower(): job_input.kind == "stream" for name, job_input in job.inputs.items()
    }
    reads = {
        name.lower(): [each.lower() for each in (relations(step.sql) if step.sql else None) or ()]
        for name, step in job.ordered_steps.items()
    }
    outputs = job.declared_outputs.values()
    written = set(reached([output.source for output in outputs], reads))
    complete = set(reached([output.source for output in outputs if output.mode == "complete"], reads))
    for name, step in job.ordered_steps.items():
        lowered = name.lower()
        if not step.sql:
            known[lowered] = None
            continue
        reading = stream_reading(step.sql, known, lowered in complete)
        known[lowered] = reading.streams
        for limited in reading.limits if lowered in written else ():
            why = (
                f"Spark does not run the step {name} as a stream: {limited.limit}. {_INSTEAD[limited.limit]}"
            )
            within = None if limited.start is None or limited.end is None else (limited.start, limited.end)
            diagnostics.error(codes.NOT_FOR_STREAMS, why, attribute=("step", name, "sql"), within=within)
