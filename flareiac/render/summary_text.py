"""A plan in one sentence: what an apply creates, changes, restarts, destroys and loses, and what it runs too.
Pure.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from flareiac.model.plan import Plan, PlannedResource
from flareiac.render.control_characters import printable
from flareiac.render.counts import new_generations
from flareiac.sdk.changes import Action, Effect

_NAMED = 3
"""So many addresses are named; more of them are counted."""


def sentence(plan: Plan) -> str:
    """Empty where an apply would do nothing that has to be said."""
    free = [resource for resource in plan.resources if not resource.proposal.blockers]
    due = [f"{task.task.name} of {task.address}" for task in plan.tasks if task.task.due]
    parts = [
        *_by_type("imports", free, (Action.ADOPT,)),
        *_by_type("creates", free, (Action.CREATE,)),
        *_named("destroys", [resource.address for resource in free if resource.action is Action.DELETE]),
        *_named(
            "destroys and creates again",
            [resource.address for resource in free if resource.action is Action.REPLACE],
        ),
        *_losses(free),
        *_named("begins a new generation of", [resource.address for resource in new_generations(free)]),
        *_named("restarts", [resource.address for resource in free if resource.restarts]),
        *_named("stops", [resource.address for resource in free if _stops(resource)]),
        *_by_type(
            "changes",
            [resource for resource in free if not resource.restarts and not resource.loses],
            (Action.UPDATE,),
        ),
        *_by_type("forgets", free, (Action.FORGET,)),
        *_named("runs", due),
        *_moves(plan),
    ]
    if plan.errored or not (parts or plan.blocked):
        return ""
    does = _listed(parts) if parts else ""
    if not plan.blocked:
        return printable(f"This plan {does}.")
    blocked = f"Blocked by {_names([resource.address for resource in plan.blocked])}."
    return printable(f"{blocked} Once that is resolved, this plan {does}." if does else blocked)


def _moves(plan: Plan) -> list[str]:
    if len(plan.moves) <= _NAMED:
        moves = [f"{old} to {new}" for old, new in sorted(plan.moves.items())]
        return [f"moves {_listed(moves)}"] if moves else []
    return [f"moves {len(plan.moves)} resources to other addresses"]


def _stops(planned_resource: PlannedResource) -> bool:
    effects = {step.effect for step in planned_resource.proposal.steps}
    return (
        planned_resource.action is Action.UPDATE and Effect.STOPS in effects and not planned_resource.restarts
    )


def _by_type(verb: str, resources: Iterable[PlannedResource], actions: Sequence[Action]) -> list[str]:
    chosen = [resource for resource in resources if resource.action in actions]
    if 0 < len(chosen) <= _NAMED:
        return [f"{verb} {_names([resource.address for resource in chosen])}"]
    counted = Counter(resource.type for resource in chosen)
    return [f"{verb} {_listed([many(number, kind) for kind, number in counted.items()])}"] if chosen else []


def _named(verb: str, things: Sequence[str]) -> list[str]:
    return [f"{verb} {_names(things)}"] if things else []


def _names(things: Sequence[str]) -> str:
    if len(things) <= _NAMED:
        return _listed(things)
    return _listed([*things[: _NAMED - 1], f"{len(things) - _NAMED + 1} more"])


def _losses(resources: Iterable[PlannedResource]) -> list[str]:
    """The data that is gone afterwards, in the words of the steps that lose it."""
    texts = [
        f"{resource.address}: {step.text}"
        for resource in resources
        if resource.loses_data
        for step in resource.proposal.steps
        if step.effect is Effect.LOSES_DATA
    ]
    return [f"loses data ({'; '.join(texts[:_NAMED])}{_rest(texts)})"] if texts else []


def _rest(texts: Sequence[str]) -> str:
    return f"; and {len(texts) - _NAMED} more" if len(texts) > _NAMED else ""


def many(number: int, kind: str) -> str:
    """``1 table``, ``2 tables``."""
    return f"{number} {kind}{'' if number == 1 else 's'}"


def _listed(texts: Sequence[str]) -> str:
    *first, last = texts
    return f"{', '.join(first)} and {last}" if first else last
