"""Checks what every planner promises: a broken promise is the provider's bug and is reported as one."""

import re
from collections.abc import Sequence

from flareiac.kernel import codes
from flareiac.kernel.data import ABSENT, UNKNOWN, Attributes
from flareiac.kernel.diagnostics import Diagnostic, error
from flareiac.sdk.changes import QUIESCE, Action, Effect, Proposal
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.resource_type import ResourceType

_CHANGES = (Action.CREATE, Action.ADOPT, Action.UPDATE)
_STAGE_NAME = re.compile(r"[^\s#]+")
_RUNS = (Effect.RESTART, Effect.STARTS, Effect.STOPS)
_STOPPED_INSTEAD = ((Action.NO_OP, Action.UPDATE), (Action.RECORD, Action.UPDATE))
"""The pairs of actions that running on becomes where it has to stop."""
_MAKES = {Action.CREATE, Action.ADOPT, Action.UPDATE, Action.REPLACE, Action.RECORD}
_REWORKS = {Action.UPDATE, Action.REPLACE}


def violations(
    request: PlanRequest, proposal: Proposal, kind: ResourceType, provider: str
) -> list[Diagnostic]:
    """One error for each promise that the proposal breaks."""
    problems: list[str] = []
    planned = proposal.planned
    if request.desired is not None and planned is not None:
        problems += _changed_wishes(request.desired, planned, _kept(request, proposal))
        problems += _unknowns(planned, request.desired, kind)
    if proposal.action in _MAKES and request.desired is None:
        problems.append(f"it proposes {proposal.action.value} for a resource that is not declared")
    if proposal.action in _REWORKS and request.recorded is None:
        problems.append(f"it proposes {proposal.action.value} for a resource that is not recorded")
    if proposal.action in _MAKES and planned is None:
        problems.append(f"it proposes {proposal.action.value} without planned attributes")
    problems += _stages(proposal)
    return _reported(problems, request.address, provider)


def second_round(first: Proposal, second: Proposal, address: str, provider: str) -> list[Diagnostic]:
    """One error for each promise that a planner breaks when it is asked again because other changes disturb
    what runs.

    The second answer may stop and start, and be blocked; whatever else happens was said in the first. So
    nothing is disturbed by a second answer alone, and two rounds are enough.
    """
    problems = [
        f"it changes its mind about {name} because of what others do"
        for name in ("planned", "changes", "disturbs", "drift", "fingerprint", "keeps", "at_rest")
        if getattr(first, name) != getattr(second, name)
    ]
    if first.action is not second.action and (first.action, second.action) not in _STOPPED_INSTEAD:
        problems.append(
            f"it proposes {second.action.value} instead of {first.action.value} because of others"
        )
    lost = [step.text for step in first.steps if step.effect not in _RUNS and step not in second.steps]
    problems += [f"it leaves out {text!r} because of what others do" for text in lost]
    more = [step.text for step in second.steps if step.effect not in _RUNS and step not in first.steps]
    problems += [f"it adds {text!r} because of what others do" for text in more]
    if set(first.blockers) - set(second.blockers):
        problems.append("it is blocked no longer because of what others do")
    return _reported(problems, address, provider)


def _reported(problems: Sequence[str], address: str, provider: str) -> list[Diagnostic]:
    return [
        error(
            codes.PROMISE_BROKEN,
            f"The provider {provider}, asked about {address}: {text}. This is a bug of the provider, not of "
            "your configuration; please report it with the HCL of this block.",
            address=address,
        )
        for text in problems
    ]


def _stages(proposal: Proposal) -> list[str]:
    names = [stage.name for stage in proposal.stages]
    problems = [f"it names a stage {name!r}" for name in names if not _STAGE_NAME.fullmatch(name)]
    if len(set(names)) < len(names):
        problems.append("it names two stages alike")
    if names and proposal.action not in _CHANGES:
        problems.append(f"it proposes stages for {proposal.action.value}")
    early = [stage.early or stage.name == QUIESCE for stage in proposal.stages]
    if early != sorted(early, reverse=True):
        problems.append("it proposes an early stage after a late one")
    return problems


def _kept(request: PlanRequest, proposal: Proposal) -> Attributes:
    """The recorded values that a planner says mean what is declared."""
    return (
        {name: request.recorded.attributes.get(name) for name in proposal.keeps}
        if request.recorded is not None
        else {}
    )


def _changed_wishes(desired: Attributes, planned: Attributes, kept: Attributes) -> list[str]:
    return [
        f"it plans {name} = {planned.get(name)!r} where the configuration says {value!r}"
        for name, value in desired.items()
        if value is not None
        and planned.get(name) != value
        and not (name in kept and _of_either(planned.get(name), value, kept[name]))
    ]


def _of_either(planned: object, desired: object, recorded: object) -> bool:
    """Returns True if a value consists of declared and recorded parts, and of nothing else."""
    if planned in (desired, recorded):
        return True
    if not (isinstance(planned, dict) and isinstance(desired, dict) and isinstance(recorded, dict)):
        return False
    names = {*planned, *desired, *recorded}
    return all(
        _of_either(planned.get(name, ABSENT), desired.get(name, ABSENT), recorded.get(name, ABSENT))
        for name in names
    )


def _unknowns(planned: Attributes, desired: Attributes, kind: ResourceType) -> list[str]:
    return [
        f"it makes {name} unknown although the schema does not say that it is computed"
        for name, value in planned.items()
        if value is UNKNOWN and desired.get(name) is not UNKNOWN and name not in kind.computed
    ]
