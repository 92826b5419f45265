"""Puts the definition back that was stable last, where the new one fails and has left nothing behind that it
could contradict. Touches the application and what should run.
"""

from dataclasses import field, replace

from flareiac.kernel.data import Data
from flareiac.kernel.diagnostics import Diagnostic, Failure
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import OPTIONAL, SPARSE, decode, encode
from flareiac.sdk.requests import ChangeRequest
from flareiac.sdk.results import NotApplied
from flareiac_spark.checkpoint_files.generations import damage
from flareiac_spark.checkpoint_files.reader import read_checkpoint
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.job_identity import recorded_identity
from flareiac_spark.engine.engine_definition import EngineDefinition
from flareiac_spark.generation import rollback
from flareiac_spark.generation.operation_client import OperationClient
from flareiac_spark.generation.perform import marked
from flareiac_spark.generation.rollback import Fallback, WrittenBatch
from flareiac_spark.generation.targets import folders
from flareiac_spark.job.confirm import await_settled
from flareiac_spark.job.running import RunningJobs, changed_job
from flareiac_spark.job.target import Target
from flareiac_spark_runtime.checkpoint_log import Damaged
from flareiac_spark_runtime.control import DesiredJob


@dataclass(frozen=True, slots=True, kw_only=True)
class _Note:
    """The definition that can be put back, or the reason that none can."""

    point: Fallback | None = field(default=None, metadata=OPTIONAL)
    why: str = field(default="", metadata=SPARSE)

    @property
    def data(self) -> Data:
        return encode(self)


def rollback_point(request: ChangeRequest, target: Target, running: RunningJobs) -> Data:
    """A note for ``put_back``: the definition that can be put back if the new one fails, or the reason that
    none can. The old one has stopped: each commit from now on is made under the new one. Raises ``Failure``.
    """
    if _is_unproven(request, running):
        return _Note(why="it had not committed its first batch, so that it is not known to be stable").data
    entry = running.entry(target.engine, changed_job(request))
    entry_or_reason = rollback.fallback(request, entry, target.digest, running.applications.project)
    if isinstance(entry_or_reason, str):
        return _Note(why=entry_or_reason).data
    point = Fallback(
        entry=entry_or_reason,
        committed=rollback.committed(target.spec),
        written=_written(request, target, running),
    )
    return _Note(point=point).data


def put_back(
    request: ChangeRequest, target: Target, note: Data, outcome: NotApplied, running: RunningJobs
) -> NotApplied:
    """The outcome of a change that failed, after the definition before was put back, or with the reason why
    not.
    """
    point = _point(request, target, note, running)
    if isinstance(point, str):
        return _left(outcome, request, point)
    restored = False
    try:
        request.progress("putting the definition before back")
        running.want(request, target.engine, replace(target.job(), state="stopped"))
        running.await_stop(changed_job(request), target.engine, request.cancel)
        if why := _contradiction(request, target, point, running):
            running.want(request, target.engine, target.job())
            return _left(outcome, request, why)
        queries = {**target.queries, **point.entry.queries}
        entry = replace(point.entry, nonce=target.nonce + 1, queries=queries)
        running.want(request, target.engine, entry)
        restored = True
        again = _runs_again(request, target.engine, entry, running)
    except Failure as failure:
        return replace(outcome, diagnostics=(*outcome.diagnostics, *failure.diagnostics), restored=restored)
    return replace(outcome, diagnostics=(*outcome.diagnostics, *again), restored=True)


def _point(request: ChangeRequest, target: Target, note: Data, running: RunningJobs) -> Fallback | str:
    if note is not None:
        noted = decode(_Note, note)
        return noted.point or noted.why
    entry_or_reason = rollback.fallback(request, None, target.digest, running.applications.project)
    return (
        entry_or_reason
        if isinstance(entry_or_reason, str)
        else "the plan did not say that its definition changes"
    )


def _contradiction(request: ChangeRequest, target: Target, point: Fallback, running: RunningJobs) -> str:
    """The work of the new definition from which the old one could not go on; empty if there is none."""
    if rollback.committed(target.spec) != point.committed:
        return (
            "a batch was committed under the new one before it failed, and the old one would go on after it"
        )
    if _written(request, target, running) != point.written:
        return "some outputs have a batch as the new one made it, and the old one would leave it so"
    return ""


def _left(outcome: NotApplied, request: ChangeRequest, why: str) -> NotApplied:
    return replace(outcome, diagnostics=(*outcome.diagnostics, rollback.not_restored(request.address, why)))


def _written(request: ChangeRequest, target: Target, running: RunningJobs) -> tuple[WrittenBatch, ...]:
    """The batches in flight as the outputs have them."""
    client, batches = OperationClient(request, target.engine, running.applications), []
    for folder, outputs in folders(target.spec).values():
        try:
            on_disk = read_checkpoint(folder)
        except Damaged as error:
            raise Failure(damage(request.address, error)) from None
        if on_disk is not None and (batch := on_disk.in_flight) is not None:
            names = marked(client, on_disk.query_id, batch, outputs, target.spec)
            batches += [WrittenBatch(folder=str(folder), batch=batch, output=name) for name in sorted(names)]
    return tuple(batches)


def _is_unproven(request: ChangeRequest, running: RunningJobs) -> bool:
    """Returns True if the recorded definition was at work on its first batch when it was applied, and has
    committed none since.
    """
    recorded = request.action.recorded
    identity = recorded_identity(recorded)
    if recorded is None or not identity.unproven:
        return False
    job = running.status(JobDefinition.of(recorded.attributes).runs_in, changed_job(request))
    runs_it = job is not None and job.digest == identity.digest and bool(job.queries)
    return not (runs_it and job is not None and all(query.batch is not None for query in job.queries))


def _runs_again(
    request: ChangeRequest, engine: EngineDefinition, entry: DesiredJob, running: RunningJobs
) -> tuple[Diagnostic, ...]:
    recorded = request.action.recorded
    assert recorded is not None, "only what was recorded is put back"
    if entry.state == "running":
        attributes = {**recorded.attributes, "application": encode(engine)}
        again = await_settled(request, attributes, entry, running, {})
        if isinstance(again, NotApplied):
            return again.diagnostics
    return (rollback.restored(request.address),)
