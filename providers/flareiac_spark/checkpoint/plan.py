"""What would apply do with one checkpoint? Pure."""

from collections.abc import Sequence
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.sdk.changes import Action, AttributeChange, Blocker, Effect, Proposal, Step
from flareiac.sdk.classify import classify
from flareiac.sdk.provider import Missing, PlanRequest, Present

_NOTED: Final = ("start_from", "keep_generations", "on_destroy", "min_batches_to_retain", "state_store")


class CheckpointPlanner:
    """A checkpoint is a folder and the number of the generation in use."""

    def plan(self, request: PlanRequest) -> Proposal:
        fingerprint = {"generation": _generation(request), "there": isinstance(request.observed, Present)}
        if request.desired is None:
            return _removed(request, fingerprint)
        if request.recorded is None:
            return _new(request, request.desired, fingerprint)
        return _updated(request, request.desired, request.recorded.attributes, fingerprint)


def _generation(request: PlanRequest) -> int | None:
    return request.recorded.attributes["generation"] if request.recorded else None


def _removed(request: PlanRequest, fingerprint: Attributes) -> Proposal:
    missing = isinstance(request.observed, Missing)
    recorded = request.recorded.attributes if request.recorded else {}
    if missing or not (recorded.get("on_destroy") == "delete" or request.destroy_object):
        return Proposal(
            action=Action.FORGET,
            planned=None,
            reasons=("it is no longer declared" + ("" if missing else "; its files stay"),),
            drift=("its folder is gone",) if missing else (),
            fingerprint=fingerprint,
        )
    step = Step(
        text=f"deletes {recorded['location']} with all generations", effect=Effect.LOSES_DATA, why="the offsets and state go with it"
    )
    return Proposal(action=Action.DELETE, planned=None, steps=(step,), reasons=("it is no longer declared",), fingerprint=fingerprint)


def _new(request: PlanRequest, desired: Attributes, fingerprint: Attributes) -> Proposal:
    changes = classify(desired, None, None)
    if isinstance(request.observed, Missing):
        blockers = (_nothing_to_import(desired),) if request.importing else ()
        steps = (Step(text=f"makes the folder {desired['location']}", effect=Effect.METADATA),)
        return Proposal(
            action=Action.CREATE,
            planned=desired,
            changes=changes,
            steps=steps,
            reasons=("it is not there yet",),
            blockers=blockers,
            fingerprint=fingerprint,
        )
    if request.importing:
        changes = classify(desired, None, request.observed.attributes if isinstance(request.observed, Present) else None)
        reason = "the offsets and state that are there are taken over"
        return Proposal(action=Action.ADOPT, planned=desired, changes=changes, reasons=(reason,), fingerprint=fingerprint)
    return Proposal(action=Action.CREATE, planned=desired, changes=changes, blockers=(_in_use(request, desired),), fingerprint=fingerprint)


def _updated(request: PlanRequest, desired: Attributes, recorded: Attributes, fingerprint: Attributes) -> Proposal:
    observed = request.observed.attributes if isinstance(request.observed, Present) else None
    changes = classify(desired, recorded, observed)
    drift = ("its folder is gone",) if isinstance(request.observed, Missing) else ()
    blockers = _refusals(request, desired, recorded)
    steps = _steps(desired, recorded, bool(drift))
    return Proposal(
        action=Action.CREATE if drift else _action(changes, steps, blockers),
        planned=desired,
        changes=changes,
        steps=steps,
        reasons=drift or tuple(f"{change.path[0]} takes effect later, or is not part of what runs" for change in changes if not steps)[:1],
        blockers=blockers,
        drift=drift,
        fingerprint=fingerprint,
    )


def _action(changes: Sequence[AttributeChange], steps: Sequence[Step], blockers: Sequence[Blocker]) -> Action:
    if steps or blockers:
        return Action.UPDATE
    return Action.RECORD if changes else Action.NO_OP


def _steps(desired: Attributes, recorded: Attributes, gone: bool) -> tuple[Step, ...]:
    steps: list[Step] = []
    if desired["generation"] > recorded["generation"]:
        why = f"generation {recorded['generation']} is left as it is"
        steps.append(Step(text=f"begins generation {desired['generation']}", effect=Effect.NEW_GENERATION, why=why))
    if desired["location"] != recorded["location"] or gone:
        steps.append(Step(text=f"makes the folder {desired['location']}", effect=Effect.METADATA))
    return tuple(steps)


def _refusals(request: PlanRequest, desired: Attributes, recorded: Attributes) -> tuple[Blocker, ...]:
    found: list[Blocker] = []
    before, after = recorded["generation"], desired["generation"]
    if after < before:
        found.append(
            Blocker(
                code="FIK022",
                summary=f"The generation goes from {before} down to {after}",
                why="An older generation does not know what was read since, so rows would be written twice. Generations only go up.",
                ways_out=(f"write generation = {before}",),
            )
        )
    if after > before and desired["start_from"] != "earliest":
        found.append(
            Blocker(
                code="FIK023",
                summary=f"Generation {after} can not start from {desired['start_from'] or 'carry_over'} yet",
                why='Offsets can not be taken over into a new generation yet: this version starts one with start_from = "earliest".',
                ways_out=(
                    f"keep generation = {before}",
                    'read everything again, and repeat rows in append tables:\n  start_from = "earliest"',
                ),
            )
        )
    if desired["location"] != recorded["location"] and isinstance(request.observed, Present) and request.observed.identity.get("used"):
        found.append(
            Blocker(
                code="FIK024",
                summary="A checkpoint that has been used can not move",
                why=f"The offsets and state are in {recorded['location']}; an empty folder would read everything again.",
                ways_out=(f'write location = "{recorded["location"]}"',),
            )
        )
    return tuple(found)


def _in_use(request: PlanRequest, desired: Attributes) -> Blocker:
    location = desired["location"]
    return Blocker(
        code="FIK025",
        summary=f"{location} holds a checkpoint that the state does not know",
        why="A query has run there, and its offsets decide what is read. Nothing is taken over or written over without being asked for.",
        ways_out=(
            f'take it over:\n  import {{\n    to = {request.address}\n    id = "{location}"\n  }}',
            "choose another location, or move the folder away to start from the beginning",
        ),
    )


def _nothing_to_import(desired: Attributes) -> Blocker:
    return Blocker(
        code="FIK026",
        summary=f"There is no checkpoint in {desired['location']}",
        why="The import block asks to take over what is there, and nothing is.",
        ways_out=("correct the location and the id", "remove the import block to start from the beginning"),
    )
