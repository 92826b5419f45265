"""Counts the changes of a plan and of an apply: the numbers every renderer shows."""

from collections.abc import Collection, Iterable
from dataclasses import replace

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.plan import Operation, Plan, PlannedResource, Verb
from flareiac.sdk.changes import Action, Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Changes by kind. A replacement counts as one added and one destroyed; an adopted object that also
    changes counts twice, as in Terraform. The others say more about resources that are counted already:
    ``restart``, ``generation`` (checkpoints that begin one), ``lose_data``, and ``lose`` (data or state of a
    resource that stays). ``blocked`` ones are not counted. ``record`` and ``due`` (maintenance) are not
    changes.
    """

    add: int = 0
    change: int = 0
    destroy: int = 0
    imported: int = 0
    forget: int = 0
    restart: int = 0
    lose: int = 0
    lose_data: int = 0
    generation: int = 0
    record: int = 0
    blocked: int = 0
    due: int = 0


def counts(plan: Plan) -> Counts:
    """Counts what apply would do; a blocked resource counts as blocked only."""
    free = _count(resource for resource in plan.resources if not resource.proposal.blockers)
    return replace(free, blocked=len(plan.blocked), due=len(plan.due))


def applied(plan: Plan, done: Collection[str]) -> Counts:
    """Counts what an apply did; ``done`` are the ids of the operations that succeeded. A resource counts once
    all its own operations did.
    """
    finished = set(done)
    changing = [operation for operation in plan.operations if operation.verb is not Verb.MAINTAIN]
    wanting = {item.address for item in changing if item.id not in finished}
    touched = {item.address for item in changing}
    maintained = sum(item.verb is Verb.MAINTAIN and item.id in finished for item in plan.operations)
    return replace(
        _count(resource for resource in plan.resources if resource.address in touched - wanting),
        due=maintained,
    )


def change_of(operation: Operation) -> tuple[str, str] | None:
    """Returns the change that people count and that the operation is a part of: a resource, or one of its
    maintenance tasks. None for an operation that only records.
    """
    return None if operation.verb is Verb.RECORD else (operation.address, operation.task)


def changes_of(operations: Iterable[Operation]) -> dict[tuple[str, str], set[str]]:
    """The ids of the operations of each change."""
    found: dict[tuple[str, str], set[str]] = {}
    for operation in operations:
        if (key := change_of(operation)) is not None:
            found.setdefault(key, set()).add(operation.id)
    return found


def plan_line(found: Counts) -> str:
    """``Plan: 1 to import, 2 to add, 1 to change, 0 to destroy. Restarts: 1.``, after what is blocked."""
    imports = f"{found.imported} to import, " if found.imported else ""
    line = f"Plan: {imports}{found.add} to add, {found.change} to change, {found.destroy} to destroy."
    blocked = f"Blocked: {found.blocked}. Nothing can be applied. " if found.blocked else ""
    beside = (
        ("Restarts", found.restart),
        ("New generations", found.generation),
        ("Lose data", found.lose_data),
        ("To forget", found.forget),
        ("Due", found.due),
    )
    return blocked + line + "".join(f" {name}: {number}." for name, number in beside if number)


def new_generations(resources: Iterable[PlannedResource]) -> list[PlannedResource]:
    """The resources whose state is left behind: checkpoints, or jobs where no checkpoint is in the plan."""
    found = [
        resource
        for resource in resources
        if resource.loses and any(step.effect is Effect.NEW_GENERATION for step in resource.proposal.steps)
    ]
    return [resource for resource in found if not resource.restarts] or found


def _count(resources: Iterable[PlannedResource]) -> Counts:
    items = list(resources)

    def of(*actions: Action) -> int:
        return sum(item.action in actions for item in items)

    adopted_and_changed = sum(item.action is Action.ADOPT and bool(item.proposal.changes) for item in items)
    return Counts(
        add=of(Action.CREATE, Action.REPLACE),
        change=of(Action.UPDATE) + adopted_and_changed,
        destroy=of(Action.DELETE, Action.REPLACE),
        imported=of(Action.ADOPT),
        forget=of(Action.FORGET),
        restart=sum(item.restarts for item in items),
        lose=sum(item.loses for item in items),
        lose_data=sum(item.loses_data for item in items),
        generation=len(new_generations(items)),
        record=of(Action.RECORD),
    )
