"""The folders that a job's queries keep, and the places that they write. Pure."""

from flareiac_spark_runtime.control import (
    JobSpec,
    Output,
    StreamInput,
    TableOutput,
    Target,
    tables_among,
)
from flareiac_spark_runtime.sources.resolved import StreamedTable
from flareiac_spark_runtime.storage import Place, place_at


def folders(spec: JobSpec) -> dict[str, tuple[Place, tuple[Output, ...]]]:
    """A job's queries by the name of their folders, with the outputs that each writes."""
    queries: dict[str, tuple[Place, tuple[Output, ...]]] = {}
    for output in spec.outputs:
        if output.checkpoint is not None:
            name = spec.query_of(output.name)
            folder, outputs = queries.get(name, (place_at(output.checkpoint), ()))
            queries[name] = (folder, (*outputs, output))
    return queries


def streamed_tables(spec: JobSpec) -> dict[str, StreamedTable]:
    """The tables that a job reads as streams, by the name of the input."""
    return {
        job_input.name: table
        for job_input in spec.inputs
        if isinstance(job_input, StreamInput) and (table := job_input.source.table) is not None
    }


def noted_starts(spec: JobSpec, start_from: str, moment: int | None) -> dict[str, int | None]:
    """The notes of a generation that begins at ``start_from``, by the name of the input. ``moment``: UTC
    milliseconds, None for the beginning.
    """
    return {
        job_input.name: job_input.source.noted_start(start_from, moment)
        for job_input in spec.inputs
        if isinstance(job_input, StreamInput) and job_input.source.begins_at_times
    }


def target(output: TableOutput, spec: JobSpec) -> Target:
    """Iceberg's own sink is used, and its epochs are the marks, where one query appends to main or replaces
    it.
    """
    epochs = output.bad_records or (
        not spec.foreach_batch and output.branch in (None, "main") and output.mode in ("append", "complete")
    )
    return Target(
        output=output.name,
        identifier=output.identifier,
        uuid=output.uuid,
        branch=output.branch,
        epochs=epochs,
    )


def redirected(old: JobSpec, new: JobSpec, *, cautious: bool = False) -> tuple[str, ...]:
    """The names (before) of the queries whose rows go elsewhere, or another way, on the same checkpoint
    folder. A batch in flight is done again by the next start, under the new definition: if its rows are in an
    old table, branch or by another way of writing already, the new place would get them once more. A topic
    is none of these places: it may hold records of such a batch in any case.

    ``cautious``: which table a new name stands for is not known yet, so that it counts as another place.
    """
    after = dict(folders(new).values())
    return tuple(
        name
        for name, (folder, outputs) in folders(old).items()
        if folder in after and not _same(_targets(outputs, old), _targets(after[folder], new), cautious)
    )


def _targets(outputs: tuple[Output, ...], spec: JobSpec) -> dict[str, Target]:
    return {output.name: target(output, spec) for output in tables_among(outputs)}


def _same(before: dict[str, Target], after: dict[str, Target], cautious: bool) -> bool:
    return before.keys() == after.keys() and all(
        _same_place(before[name], after[name], cautious) for name in before
    )


def _same_place(before: Target, after: Target, cautious: bool) -> bool:
    """A table under a new name is the same place; which table of one name it is, is a question of its own."""
    renamed = not cautious and before.uuid is not None and before.uuid == after.uuid
    return (before.identifier == after.identifier or renamed) and (before.branch, before.epochs) == (
        after.branch,
        after.epochs,
    )
