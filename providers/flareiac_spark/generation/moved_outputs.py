"""Finishes a batch in flight before the rows of an output go to another table.

A batch in flight is done again by the next start, under the new definition. If its rows are in an old table,
branch or by another way of writing already, the new place would get them once more. So it is finished where
it was begun, with the old definition.
"""

from dataclasses import replace

from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.requests import ApplyRequest
from flareiac_spark.checkpoint_files.generations import damage
from flareiac_spark.checkpoint_files.reader import Damaged, read_checkpoint
from flareiac_spark.control import Finish, JobSpec, Marks, Output, Target, job_spec_to_json
from flareiac_spark.engine.application import Applications
from flareiac_spark.generation.operation_client import A_BATCH, A_WHILE, OperationClient
from flareiac_spark.generation.switch_generation import await_jvm, folders, target


def moved_outputs(old: JobSpec, new: JobSpec) -> tuple[str, ...]:
    """The names (before) of the queries whose rows go elsewhere, or another way, on the same checkpoint
    folder.
    """
    after = dict(folders(new).values())
    return tuple(
        name
        for name, (folder, outputs) in folders(old).items()
        if folder in after and not _same(_ways(outputs, old), _ways(after[folder], new))
    )


def finish_batch_of(
    request: ApplyRequest, old: JobSpec, names: tuple[str, ...], applications: Applications
) -> None:
    """The queries must have been asked to stop. Raises ``Failure``."""
    await_jvm(request, applications)
    assert request.planned is not None, "a removal redirects nothing"
    asking = OperationClient(request, request.planned["application"], applications)
    for name in names:
        folder, outputs = folders(old)[name]
        try:
            found = read_checkpoint(folder)
        except Damaged as trouble:
            raise Failure(damage(request.address, trouble)) from None
        if found is None or found.in_flight is None:
            continue
        targets = tuple(target(output, old) for output in outputs)
        if asking.ask(Marks(query_id=found.query_id, batch=found.in_flight, targets=targets), A_WHILE).marked:
            request.progress(f"finishing batch {found.in_flight} where it was begun")
            spec = job_spec_to_json(replace(old, outputs=tuple(outputs)))
            asking.ask(
                Finish(spec=spec, checkpoint=str(outputs[0].checkpoint), batch=found.in_flight), A_BATCH
            )


def _ways(outputs: list[Output], spec: JobSpec) -> dict[str, Target]:
    return {output.name: target(output, spec) for output in outputs}


def _same(before: dict[str, Target], after: dict[str, Target]) -> bool:
    """Whether every output goes where it went, by the same marks. A table under a new name is the same place;
    which table of one name it is, is a question of its own.
    """
    return before.keys() == after.keys() and all(_same_way(before[name], after[name]) for name in before)


def _same_way(before: Target, after: Target) -> bool:
    renamed = before.uuid is not None and before.uuid == after.uuid
    return (before.identifier == after.identifier or renamed) and (before.branch, before.epochs) == (
        after.branch,
        after.epochs,
    )
