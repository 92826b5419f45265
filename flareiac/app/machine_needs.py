"""Finds what this machine does not have for what an apply would start. Asks the providers, which read files
of this machine alone.
"""

from collections.abc import Iterator

from flareiac.app.workspace import Workspace
from flareiac.kernel.diagnostics import Diagnostic
from flareiac.model.plan import Plan, PlannedResource
from flareiac.model.references import planned_references
from flareiac.sdk.capabilities import Preparing
from flareiac.sdk.changes import Action, Effect

_STARTING = frozenset({Effect.STARTS, Effect.RESTART, Effect.NEW_GENERATION})


def lacking(workspace: Workspace, plan: Plan) -> tuple[Diagnostic, ...]:
    """The errors that what a plan starts would end with, each once: resources that start or restart, and
    those that carry maintenance out. None for a plan that is not applied as it stands.
    """
    if not plan.applyable:
        return ()
    diagnostics: dict[tuple[str, str], Diagnostic] = {}
    for starting, address in _starting(plan):
        session = workspace.session(workspace.installed.registry.provider_of[plan.references[starting].type])
        if isinstance(session, Preparing):
            references = planned_references(plan, (starting, address), lambda _address: {})
            for each in session.lacking(plan.references[starting], references):
                diagnostics.setdefault(
                    (each.code, each.detail), each if each.address else each.at(address=address)
                )
    return tuple(diagnostics.values())


def _starting(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yields the address of each thing that starts, and of the resource that it starts for."""
    for resource in plan.resources:
        if _starts(resource) and resource.address in plan.references:
            yield resource.address, resource.address
    for due in plan.due:
        if due.task.performer is not None and due.task.performer.address in plan.references:
            yield due.task.performer.address, due.address


def _starts(planned_resource: PlannedResource) -> bool:
    if planned_resource.action is Action.UPDATE:
        return any(step.effect in _STARTING for step in planned_resource.proposal.steps)
    return planned_resource.action in (Action.CREATE, Action.ADOPT, Action.REPLACE)
