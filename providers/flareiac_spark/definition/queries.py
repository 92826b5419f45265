"""What the inputs of a job read, whatever they are called, and whether its steps declare state. Pure."""

from typing import assert_never

from flareiac_spark.definition.job_definition import FilesInput, Input, JobDefinition, StreamInput, TableInput
from flareiac_spark.sql.state import stateful_steps
from flareiac_spark.stream.stream_definition import (
    FilesSource,
    RateSource,
    Source,
    TableSource,
    UnknownSource,
)


def declares_state(job: JobDefinition) -> bool:
    """Whether some step keeps state."""
    own = any(step.dedup or step.stateful for step in job.steps.values())
    return own or bool(stateful_steps(job.queries, [*job.streams, *job.python_steps]))


def identity_of(item: Input) -> str:
    """What an input reads, whatever it is called."""
    match item:
        case StreamInput(source=source):
            return source_of(source)
        case TableInput(table=table):
            return f"{table}"
        case FilesInput(path=path):
            return f"the files in {path}"
        case _:
            assert_never(item)


def source_of(source: Source) -> str:
    """A streamed source as its kind and place."""
    match source:
        case FilesSource(path=path):
            return f"files in {path}"
        case TableSource(table=table):
            return f"{table}"
        case RateSource() | UnknownSource():
            return f"a {source.kind} stream"
        case _:
            assert_never(source)
