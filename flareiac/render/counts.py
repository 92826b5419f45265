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
    resource that stays). ``blocked`` ones are not counted. ``record``, ``due`` (maintenance) and
    ``moved`` (addresses) are not changes.
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
    moved: int = 0


def counts(plan: Plan) -> Counts:
    """Counts what apply would do; a blocked resource counts as blocked only."""
    free = _count(resource for resource in plan.resources if not resource.proposal.blockers)
    return replace(free, blocked=len(plan.blocked), due=len(plan.due), moved=len(plan.moves))


def applied(plan: Plan, done: Collection[str]) -> Counts:
    """Counts what an apply did; ``done`` are the ids of the operations that succeeded. A resource counts once
    all its own operations did.
    """
    finished = set(done)
    changing = [operation for operation in plan.operations if operation.verb is not Verb.MAINTAIN]
    wanting = {operation.address for operation in changing if operation.id not in finished}
    touched = {operation.address for operation in changing}
    maintained = sum(
        operation.verb is Verb.MAINTAIN and operation.id in finished for operation in plan.operations
    )
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
    by_change: dict[tuple[str, str], set[str]] = {}
    for operation in operations:
        if (key := change_of(operation)) is not None:
            by_change.setdefault(key, set()).add(operation.id)
    return by_change


class EndedChanges:
    """The changes of an apply, as the plan counts them, that have ended, well or not."""

    def __init__(self, operations: Iterable[Operation] = ()) -> None:
        self._changes = list(changes_of(operations).values())
        self._ended: set[str] = set()

    def end(self, operation_id: str) -> None:
        """An operation has ended; so has its change once all of its operations have."""
        self._ended.add(operation_id)

    @property
    def ended(self) -> int:
        return sum(change <= self._ended for change in self._changes)

    @property
    def total(self) -> int:
        return len(self._changes)


def plan_line(totals: Counts) -> str:
    """``Plan: 1 to import, 2 to add, 1 to change, 0 to destroy. Restarts: 1.``, after what is blocked."""
    imports = f"{totals.imported} to import, " if totals.imported else ""
    line = f"Plan: {imports}{totals.add} to add, {totals.change} to change, {totals.destroy} to destroy."
    blocked = f"Blocked: {totals.blocked}. Nothing can be applied. " if totals.blocked else ""
    beside = (
        ("Restarts", totals.restart),
        ("New generations", totals.generation),
        ("Lose data", totals.lose_data),
        ("To forget", totals.forget),
        ("Due", totals.due),
        ("Moved", totals.moved),
    )
    return blocked + line + "".join(f" {name}: {number}." for name, number in beside if number)


def new_generations(resources: Iterable[PlannedResource]) -> list[PlannedResource]:
    """The resources whose state is left behind: checkpoints, or jobs where no checkpoint is in the plan."""
    renewed = [
        resource
        for resource in resources
        if resource.loses and any(step.effect is Effect.NEW_GENERATION for step in resource.proposal.steps)
    ]
    return [resource for resource in renewed if not resource.restarts] or renewed


def _count(resources: Iterable[PlannedResource]) -> Counts:
    counted = list(resources)

    def of(*actions: Action) -> int:
        return sum(resource.action in actions for resource in counted)

    adopted_and_changed = sum(
        resource.action is Action.ADOPT and bool(resource.proposal.changes) for resource in counted
    )
    return Counts(
        add=of(Action.CREATE, Action.REPLACE),
        change=of(Action.UPDATE) + adopted_and_changed,
        destroy=of(Action.DELETE, Action.REPLACE),
        imported=of(Action.ADOPT),
        forget=of(Action.FORGET),
        restart=sum(resource.restarts for resource in counted),
        lose=sum(resource.loses for resource in counted),
        lose_data=sum(resource.loses_data for resource in counted),
        generation=len(new_generations(counted)),
        record=of(Action.RECORD),
    )
