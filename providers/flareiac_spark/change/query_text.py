"""The text of a job's query, token by token: white space and comments outside of strings do not count.
Pure.
"""

from flareiac.kernel.records import encode
from flareiac_spark.change.changes import TakenAsSame
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.sql.raw_parse import words


def same_texts(recorded: JobDefinition, desired: JobDefinition) -> bool:
    """True where both are one text: nothing needs to be proven of them."""
    return _written(recorded) == _written(desired) or query_text(recorded) == query_text(desired)


def _written(job: JobDefinition) -> object:
    """The query as it is written. Most are as they were, and need no lexer to be compared."""
    sources = {name: output.source for name, output in job.outputs.items()}
    return job.steps, job.step_order, sources, job.foreach_batch


def query_text(job: JobDefinition) -> object:
    """The steps in their order, token by token, and what each output takes its rows from."""
    steps = [
        [name, tokens(step.sql), encode(step.dedup), encode(step.watermark), step.python]
        for name, step in job.ordered_steps.items()
    ]
    return [steps, {name: output.source for name, output in job.outputs.items()}, job.foreach_batch]


def tokens(sql: str) -> object:
    """The tokens that Spark's lexer would make of it; the text itself where they cannot be determined."""
    sql_words = words(sql)
    return sql if sql_words is None else [list(token) for token in sql_words]


def same_sql(old: str, new: str) -> bool:
    """True where two texts are one, token by token."""
    return old == new or tokens(old) == tokens(new)


def reworded(recorded: JobDefinition, desired: JobDefinition, proven: str = "") -> list[TakenAsSame]:
    """A change for each step of both whose text differs. ``proven``: see ``TakenAsSame``."""
    return [
        TakenAsSame(path=("steps", name, "sql"), text=f'step "{name}": text', proven=proven)
        for name, step in desired.ordered_steps.items()
        if name in recorded.steps and not same_sql(recorded.steps[name].sql, step.sql)
    ]
