"""The things that the inputs of a job read, whatever their names, and the check for declared state. Pure."""

from typing import assert_never

from flareiac_spark.definition.input_definition import FilesInput, Input, StreamInput, TableInput
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.sql.state import stateful_steps


def declares_state(job: JobDefinition) -> bool:
    """Returns True if some step keeps state."""
    own = any(step.dedup or step.stateful for step in job.steps.values())
    return own or bool(stateful_steps(job.queries, [*job.streams, *job.python_steps]))


def folder_of(job_input: Input) -> str | None:
    """The path or pattern of the files that an input reads, as it is recorded."""
    match job_input:
        case StreamInput(source=source):
            return source.folder
        case FilesInput(path=path):
            return path
        case TableInput():
            return None
        case _:
            assert_never(job_input)


def what_is_read(job_input: Input) -> str:
    """The thing that an input reads, whatever its name."""
    match job_input:
        case StreamInput(source=source):
            return source.shown
        case TableInput(table=table):
            return f"{table}"
        case FilesInput(path=path):
            return f"the files in {path}"
        case _:
            assert_never(job_input)
