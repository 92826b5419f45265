"""The reason code of each change: one stable word that a program can match on. Pure."""

from collections.abc import Mapping
from typing import Final

from flareiac.model.plan import PlannedResource
from flareiac.sdk.changes import Action, Effect, Origin

BLOCKED: Final = "blocked_"
"""Begins the reason of what is blocked; the code of the first blocker follows, as in ``blocked_fik069``."""
_BY_ACTION: Final[Mapping[Action, str]] = {
    Action.DELETE: "destroyed",
    Action.FORGET: "forgotten",
    Action.CREATE: "created",
}
_BY_EFFECT: Final[Mapping[Effect, str]] = {
    Effect.LOSES_DATA: "loses_data",
    Effect.NEW_GENERATION: "new_generation",
    Effect.RESULTS_CHANGE: "results_change",
    Effect.IRREVERSIBLE: "irreversible",
    Effect.RESTART: "restart",
    Effect.STOPS: "stop",
    Effect.STARTS: "start",
    Effect.RENAMES: "renamed",
    Effect.REWRITES_DATA: "rewrites_data",
    Effect.MOVES_FILES: "moves_files",
    Effect.NEW_SNAPSHOT: "new_snapshot",
}
"""Most serious first: the first effect that a change has decides."""
_REPLACED: Final = {True: "replaced_by_request", False: "replaced"}
_IMPORTED: Final = {True: "imported_and_changed", False: "imported"}
REASONS: Final = (
    *_BY_ACTION.values(),
    *_REPLACED.values(),
    *_BY_EFFECT.values(),
    *_IMPORTED.values(),
    "drift_restored",
    "changed",
)
"""All reasons but those of what is blocked."""


def reason_of(resource: PlannedResource) -> str:
    """The one reason of a planned resource: its blocker, else its action, else its most serious effect."""
    if resource.proposal.blockers:
        return BLOCKED + resource.proposal.blockers[0].code.lower()
    if resource.action in _BY_ACTION:
        return _BY_ACTION[resource.action]
    if resource.action is Action.REPLACE:
        return _REPLACED[resource.replace and not resource.triggered_by]
    if (serious := decisive_effect(resource)) is not None:
        return _BY_EFFECT[serious]
    if resource.action is Action.ADOPT:
        return _IMPORTED[bool(resource.proposal.changes)]
    origins = {change.origin for change in resource.proposal.changes}
    return "drift_restored" if origins == {Origin.DRIFT} else "changed"


def decisive_effect(resource: PlannedResource) -> Effect | None:
    """The most serious effect of its steps; None where no effect is more than a change in place."""
    effects = {step.effect for step in resource.proposal.steps}
    return next((effect for effect in _BY_EFFECT if effect in effects), None)


def effect_reason(effect: Effect | None) -> str:
    """The reason of a change that its most serious effect decides; empty where none does."""
    return "" if effect is None else _BY_EFFECT[effect]
