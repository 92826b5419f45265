"""Renders what a plan destroys or loses: the last text that is read before it is approved."""

from collections.abc import Iterator

from flareiac.model.plan import LOSING, Plan, PlannedResource
from flareiac.render.control_characters import printable
from flareiac.render.readers_text import readers_text
from flareiac.render.resource_text import wrapped
from flareiac.render.style import Style, Tone
from flareiac.sdk.changes import Action, Step

_GONE = {Action.DELETE: "is destroyed", Action.REPLACE: "is destroyed and created again"}


def losses_text(plan: Plan, *, width: int, colour: bool) -> str:
    """One line for each thing that is gone afterwards; empty when there is none."""
    lines = [
        wrapped(printable(line), width, "  - ", "    ")
        for resource in plan.resources
        for line in _lost(resource)
    ]
    if not lines:
        return ""
    return Style(colour).paint("\n".join(["This destroys or loses:", *lines]), Tone.REMOVE)


def _lost(resource: PlannedResource) -> Iterator[str]:
    """Yields the losses of a resource; for a destroyed one a line even if nothing else is lost."""
    steps = [_line(step) for step in resource.proposal.steps if step.effect in LOSING]
    if resource.action in _GONE:
        yield ": ".join([f"{resource.address} {_GONE[resource.action]}", *filter(None, ["; ".join(steps)])])
    elif resource.loses:
        yield from (f"{resource.address}: {step}" for step in steps)


def _line(step: Step) -> str:
    line = f"{step.text} [{step.effect.value}]"
    return f"{line}. {readers_text(step.readers)}" if step.readers else line
