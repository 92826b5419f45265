"""The effects of each change on the resources that run on the changed one. Pure: reports them at the change,
by the names of those that run.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from flareiac.model.plan import PlannedResource
from flareiac.planning.usages import applies, by_subject
from flareiac.sdk.changes import Action, Impact, Proposal, Reaction, Usage

HARD: Final = (Reaction.STOPS_FIRST, Reaction.CAN_NOT)
"""Reactions for which a running query has stopped before the change is made."""
_RANKS: Final = {
    reaction: rank
    for rank, reaction in enumerate(
        (Reaction.RUNS_ON, Reaction.RESTARTS, Reaction.STOPS_FIRST, Reaction.CAN_NOT)
    )
}
_WORDS: Final = {
    Reaction.RESTARTS: "restarts after this",
    Reaction.STOPS_FIRST: "stops before this and starts after it",
    Reaction.CAN_NOT: "cannot go on after this",
}
_AT_REMOVAL: Final = {**_WORDS, Reaction.STOPS_FIRST: "stops before this"}
_REMOVED: Final = (Action.DELETE, Action.FORGET)


def stopping_for(proposals: Mapping[str, Proposal], running: Iterable[Usage]) -> Iterator[tuple[str, str]]:
    """Each changed subject with a holder that must have stopped first."""
    for usage in running:
        proposal = proposals.get(usage.subject)
        if proposal is not None and any(
            disturb.reaction in HARD and applies(disturb, usage, usage.subject)
            for disturb in proposal.disturbs
        ):
            yield usage.subject, usage.holder


def with_reactions(
    planned: Mapping[str, PlannedResource], running: Sequence[Usage]
) -> dict[str, PlannedResource]:
    """The resources, with what their changes do to what runs on them among the reasons."""
    held = by_subject(running)
    return {
        address: _with_impacts(resource, planned, held.get(address, ()))
        for address, resource in planned.items()
    }


def _with_impacts(
    planned_resource: PlannedResource, planned: Mapping[str, PlannedResource], usages: Sequence[Usage]
) -> PlannedResource:
    by_holder: dict[str, list[Impact]] = {}
    for usage in usages:
        impacts = [
            each
            for each in planned_resource.proposal.disturbs
            if applies(each, usage, planned_resource.address)
        ]
        if impacts and usage.holder in planned:
            by_holder.setdefault(usage.holder, []).extend(impacts)
    lines = tuple(_lines(by_holder, planned, _AT_REMOVAL if planned_resource.action in _REMOVED else _WORDS))
    return (
        replace(
            planned_resource,
            proposal=replace(planned_resource.proposal, reasons=(*planned_resource.proposal.reasons, *lines)),
        )
        if lines
        else planned_resource
    )


def _lines(
    by_holder: Mapping[str, Sequence[Impact]],
    planned: Mapping[str, PlannedResource],
    words: Mapping[Reaction, str],
) -> Iterator[str]:
    hardest = {
        holder: max((impact.reaction for impact in impacts), key=_RANKS.__getitem__)
        for holder, impacts in by_holder.items()
    }
    for holder, reaction in sorted(hardest.items()):
        if reaction is Reaction.RUNS_ON:
            continue
        why = "; ".join(
            dict.fromkeys(impact.reason for impact in by_holder[holder] if impact.reaction is reaction)
        )
        yield (
            f"{holder} is removed first"
            if planned[holder].action in _REMOVED
            else f"{holder} {words[reaction]}: {why}"
        )
    unhurt = sorted(holder for holder, reaction in hardest.items() if reaction is Reaction.RUNS_ON)
    if not unhurt:
        return
    why = "; ".join(dict.fromkeys(impact.reason for holder in unhurt for impact in by_holder[holder]))
    # Without names where no one is hurt, so that many changes that are alike stay one entry.
    named = ", ".join(unhurt) if len(unhurt) < len(hardest) else "what runs on it"
    yield (
        f"{named} needs no stop: {why}"
        if len(unhurt) == 1 or named == "what runs on it"
        else f"{named} need no stop: {why}"
    )
