"""The checks of the order of changes that a job merges. Pure; what is uncertain is a warning."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark import codes
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.output_definition import TableOutput
from flareiac_spark.sources.source import ChangeColumns
from flareiac_spark.sql.relations import relations, row_by_row

_OFFSET: Final = "kafka_offset"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Changes:
    """Changes that come to a step from an input. ``unchanged``: each of its rows is one of them."""

    input: str
    columns: ChangeColumns
    unchanged: bool


def check_change_order(
    job: JobDefinition, columns: Mapping[str, Sequence[str] | None], diagnostics: Diagnostics
) -> None:
    """``columns``: those of each input and step by its name in lower case, None where they are not known."""
    for name, output in job.declared_outputs.items():
        if not isinstance(output, TableOutput) or output.merge is None or output.mode != "merge":
            continue
        changes = next(iter(_changes(job, output.source)), None)
        if changes is not None:
            given = columns.get(output.source.lower())
            _check_order(name, output, changes, given, diagnostics)
            _check_deletes(name, output, changes, job, diagnostics)


def _check_order(
    name: str,
    output: TableOutput,
    changes: _Changes,
    given: Sequence[str] | None,
    diagnostics: Diagnostics,
) -> None:
    assert output.merge is not None, "it merges"
    latest, position = output.merge.latest_by, changes.columns.position
    at = ("output", name, "merge")
    if isinstance(latest, str) and latest.lower() == _OFFSET:
        diagnostics.warning(
            codes.ORDER_OF_PARTITIONS,
            f"Output {name} takes the row with the greatest {latest}. Offsets count within a partition: when "
            "partitions are added to the topic, keys move to others, and an older change may have the "
            f'greater offset. Write latest_by = "{position}", which is the order of changes at the source.',
            attribute=at,
        )
    if latest is not None:
        return
    lacks = given is not None and position not in {column.lower() for column in given}
    step = f" The step {output.source} has to give that column." if lacks else ""
    why = (
        f"Output {name} merges changes of input {changes.input} without an order: an older change that comes "
        "later would overwrite a newer one, and a batch with two changes of a row is refused. Write "
        f'latest_by = "{position}" in merge, and {position} as a column of the table.{step}'
    )
    if changes.unchanged:
        diagnostics.error(codes.CHANGES_WITHOUT_ORDER, why, attribute=at)
    else:
        diagnostics.warning(codes.CHANGES_WITHOUT_ORDER, why, attribute=at)


def _check_deletes(
    name: str, output: TableOutput, changes: _Changes, job: JobDefinition, diagnostics: Diagnostics
) -> None:
    """Deletes that no step and no condition looks at."""
    assert output.merge is not None, "it merges"
    if output.merge.delete_if is not None or not changes.unchanged:
        return
    op = changes.columns.operation
    if any(op in step.sql.lower() for step in job.steps.values() if step.sql):
        return
    diagnostics.warning(
        codes.DELETES_ARE_WRITTEN,
        f"Output {name} merges changes of input {changes.input}, and nothing looks at {op}: rows that were "
        f"deleted at the source stay, as they were before. Let the step give {op}, and write "
        f"delete_if = \"s.{op} = 'd'\" in merge.",
        attribute=("output", name, "merge"),
    )


def _changes(job: JobDefinition, relation: str, unchanged: bool = True) -> Iterator[_Changes]:
    """The inputs of changes that a relation is made of."""
    lowered = relation.lower()
    for name, stream in job.streams.items():
        if name.lower() == lowered and (columns := stream.source.change_columns) is not None:
            yield _Changes(input=name, columns=columns, unchanged=unchanged)
    earlier = list(job.ordered_steps)
    for at, (name, step) in enumerate(job.ordered_steps.items()):
        if name.lower() != lowered:
            continue
        same = unchanged and step.sql != "" and row_by_row(step.sql) and step.dedup is None
        known = {each.lower() for each in (*job.inputs, *earlier[:at])}
        read = relations(step.sql) if step.sql else None
        for each in read if read is not None else known:
            if each.lower() in known:
                yield from _changes(job, each, same)
