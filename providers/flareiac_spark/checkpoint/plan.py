"""The planner of checkpoints. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Diagnostic, warning
from flareiac.sdk.changes import Action, AttributeChange, Blocker, Effect, Proposal, Step, blocker
from flareiac.sdk.classify import classify
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.results import Missing, Present
from flareiac.sdk.takeover import takes_over, ways_out
from flareiac_spark import codes
from flareiac_spark.checkpoint import move_plan as moving
from flareiac_spark.checkpoint_files.layout import recorded_layout
from flareiac_spark.definition.checkpoint_definition import CheckpointDefinition
from flareiac_spark.generation import steps
from flareiac_spark.generation.snapshot_holds import needed_tables, no_longer_held
from flareiac_spark.instance_lines import line
from flareiac_spark.observation.checkpoint import (
    QueryFacts,
    is_another_state,
    observed_facts,
    removable,
    used,
)


class CheckpointPlanner:
    """A checkpoint is a folder and the number of the generation in use."""

    def plan(self, request: PlanRequest) -> Proposal:
        if request.desired is None:
            return _removed(request)
        desired, recorded = CheckpointDefinition.of(request.desired), _recorded(request)
        if recorded is None:
            proposal = _new(request, request.desired, desired)
        else:
            proposal = _updated(request, request.desired, desired, recorded)
        # What was observed is the folder as it is recorded
        return _managed(request, proposal, (recorded or desired).location)

    def fingerprint(self, request: PlanRequest) -> Data:
        """A raised generation also assumes that its folder is no one's; offsets and batches move all the time
        and are no part of it.
        """
        recorded = _recorded(request)
        before = recorded.generation if recorded is not None else None
        assumed: Attributes = {"generation": before, "there": isinstance(request.observed, Present)}
        if request.desired is not None and before is not None:
            number = CheckpointDefinition.of(request.desired).generation
            if number > before:
                ways = [fact.standing.value for fact in _facts(request) if fact.number == number]
                assumed["in the way"] = ways
        other = _other_state(request)
        if other:
            assumed |= {"managed by": other}
        return {**assumed, **moving.fingerprint(observed_facts(request.observed))}


def _other_state(request: PlanRequest) -> str:
    """The lineage of another state that manages the checkpoint; empty where none does."""
    facts = observed_facts(request.observed)
    manager = facts.manager if facts is not None else ""
    return manager if is_another_state(manager, request.project.lineage) else ""


def _managed(request: PlanRequest, proposal: Proposal, location: str) -> Proposal:
    """The proposal where no other state manages the checkpoint, or it is taken over."""
    other = _other_state(request)
    if not other:
        return proposal
    if takes_over(request) and not isinstance(proposal.payload, dict):
        text = f"take the checkpoint over from the state {other}"
        why = "That state refuses to use it from then on."
        step = Step(text=text, effect=Effect.METADATA, why=why)
        return replace(proposal, steps=(step, *proposal.steps), payload=other)
    action = Action.UPDATE if proposal.action is Action.NO_OP else proposal.action
    taken = (f"the state {other} has taken the checkpoint over",) if request.recorded is not None else ()
    return replace(
        proposal,
        action=action,
        steps=(),
        blockers=(_managed_elsewhere(request, location, other),),
        drift=(*taken, *proposal.drift),
    )


def _managed_elsewhere(request: PlanRequest, location: str, other: str) -> Blocker:
    detail = f"The checkpoint in {location} is managed by the state {other}"
    if request.recorded is None:
        why = f"{detail}: of another project, of another workspace, or one that was lost."
    else:
        why = f"{detail}, which has taken it over."
    unused = "no job of the other state runs on it any more"
    ways = ways_out(request, location, "choose another location", where=unused)
    return blocker(codes.CHECKPOINT_MANAGED_ELSEWHERE, why=why, ways_out=ways)


def _recorded(request: PlanRequest) -> CheckpointDefinition | None:
    recorded = request.recorded
    return CheckpointDefinition.of(recorded.attributes) if recorded is not None else None


def _facts(request: PlanRequest) -> tuple[QueryFacts, ...]:
    facts = observed_facts(request.observed)
    return facts.queries if facts is not None else ()


def _removed(request: PlanRequest) -> Proposal:
    missing = isinstance(request.observed, Missing)
    recorded, steps = _recorded(request), _released(request)
    destroys = recorded is not None and (recorded.on_destroy == "delete" or request.destroy_object)
    if missing or recorded is None or not destroys:
        return Proposal(
            action=Action.FORGET,
            planned=None,
            steps=steps,
            reasons=("it is no longer declared" + ("" if missing else "; its files stay"),),
            drift=("its folder is gone",) if missing else (),
        )
    step = Step(
        text=f"deletes {recorded.location} with all generations",
        effect=Effect.LOSES_DATA,
        why="the offsets and state go with it",
    )
    other = _other_state(request)
    left = recorded_layout(request.recorded.identity).left if request.recorded else ()
    copies = f", and the copies that moves left in {' and '.join(left)}" if left else ""
    step = replace(step, text=f"{step.text}{copies}")
    return Proposal(
        action=Action.DELETE,
        planned=None,
        steps=(step, *steps),
        reasons=("it is no longer declared",),
        blockers=(_managed_elsewhere(request, recorded.location, other),) if other else (),
    )


def _released(request: PlanRequest) -> tuple[Step, ...]:
    """It holds no longer for the job that used it last."""
    user = request.recorded.user if request.recorded else None
    tables = needed_tables(user[1]) if user is not None else ()
    if user is None or not tables:
        return ()
    return (no_longer_held(" and ".join(tables), user[0], "the checkpoint held it, and leaves the state"),)


def _new(request: PlanRequest, planned: Attributes, desired: CheckpointDefinition) -> Proposal:
    changes = classify(planned, None, None)
    facts = observed_facts(request.observed)
    if facts is not None and (facts.gone_to or facts.going_to):
        gone = moving.has_left(desired.location, facts.gone_to or facts.going_to)
        return Proposal(action=Action.CREATE, planned=planned, changes=changes, blockers=(gone,))
    if isinstance(request.observed, Missing):
        blockers = (_nothing_to_import(desired),) if request.importing else ()
        steps = (Step(text=f"makes the folder {desired.location}", effect=Effect.METADATA),)
        return Proposal(
            action=Action.CREATE,
            planned=planned,
            changes=changes,
            steps=steps,
            blockers=blockers,
        )
    if request.importing:
        changes = classify(
            planned, None, request.observed.attributes if isinstance(request.observed, Present) else None
        )
        return Proposal(
            action=Action.ADOPT,
            planned=planned,
            changes=changes,
            reasons=("the offsets and state that are there are taken over",),
            diagnostics=tuple(
                _may_run(request, desired.location, fact) for fact in _facts(request) if fact.fresh
            ),
        )
    return Proposal(
        action=Action.CREATE,
        planned=planned,
        changes=changes,
        blockers=(_in_use(request, desired),),
    )


def _updated(
    request: PlanRequest, planned: Attributes, desired: CheckpointDefinition, recorded: CheckpointDefinition
) -> Proposal:
    observed = request.observed.attributes if isinstance(request.observed, Present) else None
    changes = classify(planned, request.recorded.attributes if request.recorded else None, observed)
    drift = ("its folder is gone",) if isinstance(request.observed, Missing) else ()
    moved = None if drift else moving.move_of(request, desired, recorded)
    blockers = (*_refusals(request, desired, recorded), *(moved.blockers if moved is not None else ()))
    steps = (*(moved.steps if moved is not None else ()), *_steps(request, desired, recorded, bool(drift)))
    return Proposal(
        action=Action.CREATE if drift else _action(changes, steps, blockers),
        planned=planned,
        changes=changes if moved is None else moving.noted(changes, moved),
        steps=steps,
        reasons=(*(drift or _later(changes, steps)), *_removable(request, desired)),
        blockers=blockers,
        drift=drift,
        disturbs=moved.disturbs if moved is not None else (),
        payload=moved.payload if moved is not None else None,
        closing=moved.closing if moved is not None else "",
    )


def _action(changes: Sequence[AttributeChange], steps: Sequence[Step], blockers: Sequence[Blocker]) -> Action:
    if steps or blockers:
        return Action.UPDATE
    return Action.RECORD if changes else Action.NO_OP


def _later(changes: Sequence[AttributeChange], steps: Sequence[Step]) -> tuple[str, ...]:
    """The reason that a change does nothing now, in one line; empty where there are steps or no change."""
    if steps or not changes:
        return ()
    names = {str(change.path[0]) for change in changes}
    if names == {"start_from"}:
        return ("start_from takes effect when the generation is raised",)
    return (f"{min(names)} is only recorded: no running query uses it",)


def _removable(request: PlanRequest, desired: CheckpointDefinition) -> tuple[str, ...]:
    numbers = sorted(
        removable({fact.number for fact in _facts(request)}, desired.generation, desired.keep_generations)
    )
    if not numbers:
        return ()
    shown = ", ".join(map(str, numbers))
    return (
        (
            f"generation{'s' * (len(numbers) > 1)} {shown} can be removed: flareiac checkpoint gc "
            f"{request.address}"
        ),
    )


def _steps(
    request: PlanRequest, desired: CheckpointDefinition, recorded: CheckpointDefinition, gone: bool
) -> tuple[Step, ...]:
    all_steps: list[Step] = []
    if desired.generation > recorded.generation:
        facts = observed_facts(request.observed)
        queries = used(facts.queries, recorded.generation) if facts is not None else None
        all_steps += steps.steps(desired, recorded.generation, queries)
    if gone:
        all_steps.append(Step(text=f"makes the folder {desired.location}", effect=Effect.METADATA))
    return tuple(all_steps)


def _refusals(
    request: PlanRequest, desired: CheckpointDefinition, recorded: CheckpointDefinition
) -> tuple[Blocker, ...]:
    blockers: list[Blocker] = []
    before, after = recorded.generation, desired.generation
    if after < before:
        blockers.append(
            blocker(
                codes.GENERATION_GOES_DOWN,
                why=f"The generation goes from {before} down to {after}. An older generation does not know "
                "what was read since, so rows would be written twice. Generations only go up.",
                ways_out=(f"write {line(request.address, 'generation', before, after)}",),
            )
        )
    if after > before:
        blockers += steps.blockers(desired, _facts(request))
    return tuple(blockers)


def _in_use(request: PlanRequest, desired: CheckpointDefinition) -> Blocker:
    location = desired.location
    return blocker(
        codes.CHECKPOINT_IN_USE,
        why=(
            f"A query has run in {location}, and its offsets decide what is read. It is neither adopted "
            "nor overwritten without a request."
        ),
        ways_out=(
            f'take it over:\n  import {{\n    to = {request.address}\n    id = "{location}"\n  }}',
            "choose another location, or move the folder away to start from the beginning",
        ),
    )


def _may_run(request: PlanRequest, place: str, query: QueryFacts) -> Diagnostic:
    return warning(
        codes.QUERY_MAY_RUN,
        f"Query {query.query_id} on {place} began its batch {query.started} less than a minute ago. Stop the "
        "program that runs it before you apply: if two queries use one checkpoint, one of them fails.",
        address=request.address,
    )


def _nothing_to_import(desired: CheckpointDefinition) -> Blocker:
    return blocker(
        codes.NO_CHECKPOINT_TO_IMPORT,
        why=f"The import block asks to adopt the checkpoint in {desired.location}, and there is none.",
        ways_out=("correct the location and the id", "remove the import block to start from the beginning"),
    )
