"""The stages of a job's change, each an operation of its own: what must stop, be finished, be emptied and be
prepared before the new definition is what should run. Pure.

What cannot be excluded is planned: a stage that finds nothing to do says so, and one that is missing makes
apply ask for a new plan.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.changes import QUIESCE, Effect, Reaction, Stage
from flareiac.sdk.requests import PlanRequest
from flareiac_spark.change.drift import looked_at
from flareiac_spark.definition import written_schemas
from flareiac_spark.definition.build import spec_of
from flareiac_spark.definition.checkpoint_definition import start_of
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.job_identity import recorded_identity
from flareiac_spark.definition.moved_checkpoint import before_the_move, relocated_spec
from flareiac_spark.generation import rollback
from flareiac_spark.generation.generation_plan import begins, has_begun, has_no_rows, is_emptied
from flareiac_spark.generation.targets import redirected
from flareiac_spark.observation.job import ENDED, JobFacts
from flareiac_spark.start_from import EARLIEST, OLDEST_SNAPSHOT

REGISTER: Final = written_schemas.REGISTER
"""With the name of the output behind a dot."""
FINISH: Final = "finish"
EMPTY: Final = "empty"
"""With the name of the output behind a dot."""
PREPARE: Final = "prepare"
ROLLBACK_POINT: Final = "rollback-point"
START: Final = "start"
RESTART: Final = "restart"
SETTINGS: Final = "settings"
STOP: Final = "stop"
DECLARE: Final = "declare"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobUpdate:
    """The work of a plan on a job. ``changed``: another definition than the recorded one; ``live``: only what
    a running query takes; ``text_only``: only its text is recorded; ``moved``: its checkpoint is at another
    place from now on.
    """

    request: PlanRequest
    desired: JobDefinition
    recorded: JobDefinition | None
    facts: JobFacts
    changed: bool
    live: bool = False
    text_only: bool = False
    moved: bool = False

    @property
    def address(self) -> str:
        return self.request.address


def stages_of(update: JobUpdate) -> tuple[Stage, ...]:
    """In their order."""
    if update.text_only:
        return ()
    if update.live:
        text = f"give {update.address} its new settings while it runs"
        return (Stage(name=SETTINGS, text=text, effect=Effect.LIVE),)
    between = [
        *_finishes(update),
        *_generation(update),
        *_rollback_points(update),
    ]
    stops = update.recorded is not None and _may_start(update)
    # Also where nothing is left to do in between: which generation a job is in is decided while it stands.
    switches = begins(update.recorded, update.desired)
    needed = bool(between) or switches or _moves(update) or _disturbed_hard(update)
    quiesces = [_quiesce(update)] if stops and needed else []
    return (*_registrations(update), *quiesces, *between, _last(update, quiesced=bool(quiesces)))


def closing_of(update: JobUpdate) -> str:
    """The text of the work that is left after the stages."""
    if update.text_only:
        return f"record the text of {update.address}, which runs on"
    if not update.desired.starts_by_itself:
        return f"confirm that {update.address} does not run"
    if update.desired.is_finite:
        return f"wait for the run of {update.address} to end"
    return f"confirm that {update.address} is stable"


def _registrations(update: JobUpdate) -> Iterator[Stage]:
    """Before anything stops: what a registry refuses leaves the job as it runs."""
    for name, written in sorted(update.desired.avro.items()):
        if written.id is None:
            subject = update.desired.avro_outputs[name].subject
            text = f"register the schema of output {name} of {update.address} under the subject {subject}"
            yield Stage(name=f"{REGISTER}.{name}", text=text, effect=Effect.METADATA, early=True)


def _quiesce(update: JobUpdate) -> Stage:
    text = f"stop {update.address} after its current batch"
    return Stage(name=QUIESCE, text=text, effect=Effect.STOPS, early=True)


def _last(update: JobUpdate, *, quiesced: bool) -> Stage:
    address = update.address
    runs = _is_running(update) and not quiesced
    if not update.desired.starts_by_itself:
        if runs:
            return Stage(name=STOP, text=f"stop {address} after its current batch", effect=Effect.STOPS)
        return Stage(name=DECLARE, text=f"declare {address} without starting it", effect=Effect.METADATA)
    if runs:
        what = " with the new definition" if update.changed else ""
        return Stage(name=RESTART, text=f"restart {address}{what}", effect=Effect.RESTART)
    where = f" in the application of {update.desired.engine}" if _moves(update) else ""
    return Stage(name=START, text=f"start {address}{where}", effect=Effect.STARTS)


# What is finished where it was begun


def _finishes(update: JobUpdate) -> Iterator[Stage]:
    if update.recorded is None or not _must_finish(update, update.recorded):
        return
    in_flight = _in_flight(update)
    if in_flight is None:
        text = f"finish the batch of {update.address} that is in flight when it stops"
    elif in_flight:
        batches = " and ".join(f"batch {batch}" for batch in in_flight)
        text = f"finish {batches} of {update.address} where it was begun"
    else:
        return
    yield Stage(name=FINISH, text=text, early=True)


def _must_finish(update: JobUpdate, recorded: JobDefinition) -> bool:
    """Returns True if a batch in flight cannot be left to the new definition."""
    if begins(recorded, update.desired):
        if has_begun(update.desired, update.facts):
            return False
        start = start_of(update.desired, update.request.references)
        return start not in (EARLIEST, OLDEST_SNAPSHOT)
    place = update.desired.checkpoint_location
    return place is not None and recorded.checkpoint_location == place and _redirects(update, recorded)


def _redirects(update: JobUpdate, recorded: JobDefinition) -> bool:
    """Returns True if rows go to another place from now on than the application was last asked to write them
    to.
    """
    request, asked, desired = update.request, update.facts.spec, update.desired
    if asked is None or request.recorded is None:
        return _places(recorded, desired) != _places(desired, recorded)
    references, project = request.references, request.project
    try:
        new = spec_of(request.address, desired.attributes, references, project, analysis=True)
    except (Failure, KeyError):
        return False  # nothing of it can be applied, and apply says why
    was = JobDefinition.of(request.recorded.attributes)
    old = relocated_spec(asked, desired, references, project)
    return bool(redirected(old, before_the_move(new, was, desired, references, project), cautious=True))


def _places(job: JobDefinition, other: JobDefinition) -> object:
    outputs = {
        name: (output.table, output.branch, output.mode)
        for name, output in job.table_outputs.items()
        if job.foreach_batch or name in other.outputs
    }
    return job.foreach_batch, outputs


def _in_flight(update: JobUpdate) -> list[int] | None:
    """The batches that were begun and not committed; None where that is only known once it has stopped."""
    facts, recorded = update.facts, update.request.recorded
    known = recorded is not None and facts.digest in (None, recorded_identity(recorded).digest)
    if not looked_at(update.request) or _is_running(update) or not known:
        return None
    return facts.in_flight


# A generation that begins


def _generation(update: JobUpdate) -> Iterator[Stage]:
    """The stages of a new generation. Where a job is new, it takes over what a query has begun in the folders
    of its generation.
    """
    recorded, desired, references = update.recorded, update.desired, update.request.references
    begun = update.facts.checkpoints if recorded is None else {}
    queries = [name for name in desired.query_names if name not in begun]
    if not queries or not begins(recorded, desired) or has_begun(desired, update.facts):
        return
    number, start = desired.generation, start_of(desired, references)
    for name, output in sorted(desired.table_outputs.items()):
        if desired.query_of(name) in queries and is_emptied(output, start):
            branch = f" (branch {output.branch})" if output.branch else ""
            yield Stage(
                name=f"{EMPTY}.{name}",
                text=f"empty {output.table}{branch} for generation {number}",
                effect=Effect.NEW_SNAPSHOT if has_no_rows(output, references) else Effect.LOSES_DATA,
            )
    text = f"prepare generation {number} of {desired.checkpoint}"
    yield Stage(name=PREPARE, text=text, effect=Effect.NEW_GENERATION)


# What a rollback goes back to


def _rollback_points(update: JobUpdate) -> Iterator[Stage]:
    if (
        update.changed
        and not update.moved
        and update.desired.starts_by_itself
        and rollback.is_asked_for(update.desired)
        and not rollback.never(update.recorded, update.desired)
    ):
        yield Stage(name=ROLLBACK_POINT, text=f"note where {update.address} can be rolled back to")


# What runs


def _is_running(update: JobUpdate) -> bool:
    """Returns True if a query may be at work."""
    facts = update.facts
    if not looked_at(update.request):
        return update.recorded is not None and update.recorded.starts_by_itself
    return bool(facts.silent) or (facts.alive and facts.phase not in (None, *ENDED))


def _may_start(update: JobUpdate) -> bool:
    """Returns True if a query is at work, or would be if its application were started."""
    return update.facts.state == "running" or _is_running(update)


def _moves(update: JobUpdate) -> bool:
    return update.recorded is not None and update.recorded.moves_to(update.desired)


def _disturbed_hard(update: JobUpdate) -> bool:
    soft: Iterable[Reaction] = (Reaction.RUNS_ON, Reaction.RESTARTS)
    return any(disturbance.reaction not in soft for disturbance in update.request.disturbances)
