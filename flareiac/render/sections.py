"""The sections of a plan, most urgent first, and the one that a resource belongs to. Pure."""

from enum import StrEnum
from typing import Final

from flareiac.model.plan import PlannedResource
from flareiac.sdk.changes import Action, Effect

DESTRUCTIVE: Final = frozenset(
    {Effect.LOSES_DATA, Effect.IRREVERSIBLE, Effect.RESULTS_CHANGE, Effect.NEW_GENERATION}
)
"""Effects that put a resource into the first section of changes."""
INTERRUPTING: Final = frozenset({Effect.RESTART, Effect.STOPS})
SHOWN: Final = frozenset(Action) - {Action.NO_OP, Action.RECORD}
"""The actions that a reader of a plan has to know about."""


class Section(StrEnum):
    """The sections that changes are sorted into."""

    BLOCKED = "blocked"
    DESTRUCTIVE = "destructive"
    RESTARTS = "restarts"
    OTHERS = "others"


def section_of(planned_resource: PlannedResource) -> Section | None:
    """The section of a resource; None of one that stays as it is."""
    if planned_resource.proposal.blockers:
        return Section.BLOCKED
    if planned_resource.action not in SHOWN:
        return None
    effects = {step.effect for step in planned_resource.proposal.steps}
    if planned_resource.action in (Action.DELETE, Action.REPLACE) or effects & DESTRUCTIVE:
        return Section.DESTRUCTIVE
    return Section.RESTARTS if effects & INTERRUPTING else Section.OTHERS
