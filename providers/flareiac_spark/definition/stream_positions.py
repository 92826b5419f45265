"""The streams that a query of a job reads, once for each position that Spark gives them in its offsets.
Pure.
"""

from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.sql.raw_parse import words
from flareiac_spark.sql.relations import relations, streams_in_order
from flareiac_spark_runtime.control.step_graph import StepGraph


def read_in_order(job: JobDefinition, output: str) -> list[str] | None:
    """The names of the streams that an output's query reads, in the order of its positions; None where that
    cannot be determined.
    """
    start = _end_of_query(job, output)
    if start is None or job.python_steps or not all(map(_names_plainly, job.queries.values())):
        return None
    streams = {name.lower(): name for name in job.streams}
    names = streams_in_order(job.queries, start, list(streams))
    return None if names is None else [streams[name] for name in names]


def _names_plainly(sql: str) -> bool:
    """True where the relations of a query are those that its tree names: pipes are put into another form when
    they are parsed, and IDENTIFIER('x') is a name that no tree knows.
    """
    tokens = words(sql)
    return tokens is not None and not any(text.lower() in ("|>", "identifier") for _kind, text in tokens)


def _end_of_query(job: JobDefinition, output: str) -> str | None:
    """The step (or input) up to which a query is one of streams. What follows the last one that several
    outputs of one query share runs on each batch.
    """
    query = job.query_of(output)
    fed = {
        job_output.source.lower() for name, job_output in job.outputs.items() if job.query_of(name) == query
    }
    if len(fed) == 1:
        return fed.pop()
    reads = {name.lower(): relations(sql) for name, sql in job.queries.items()}
    inputs = [name.lower() for name in job.inputs]
    known = {
        name: frozenset(each.lower() for each in names) for name, names in reads.items() if names is not None
    }
    if len(known) < len(reads) or not fed <= {*inputs, *known}:
        return None
    graph = StepGraph(inputs=inputs, streams=[name.lower() for name in job.streams], reads=known)
    return None if graph.unstreamed(fed) else graph.last_common_step(fed)
