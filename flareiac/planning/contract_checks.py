"""What every planner promises, checked: a violations promise is the provider's bug and is reported as one."""

import re

from flareiac.kernel import codes
from flareiac.kernel.data import ABSENT, UNKNOWN, Attributes
from flareiac.kernel.diagnostics import Diagnostic, error
from flareiac.sdk.changes import QUIESCE, Action, Proposal
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.resource_type import ResourceType

_CHANGES = (Action.CREATE, Action.ADOPT, Action.UPDATE)
_STAGE_NAME = re.compile(r"[^\s#]+")
_MAKES = {Action.CREATE, Action.ADOPT, Action.UPDATE, Action.REPLACE, Action.RECORD}


def violations(
    request: PlanRequest, proposal: Proposal, kind: ResourceType, provider: str
) -> list[Diagnostic]:
    """One error for each promise that the proposal breaks."""
    found: list[str] = []
    planned = proposal.planned
    if request.desired is not None and planned is not None:
        found += _changed_wishes(request.desired, planned, _kept(request, proposal))
        found += _unknowns(planned, request.desired, kind)
    if proposal.action in _MAKES and request.desired is None:
        found.append(f"it proposes {proposal.action.value} for a resource that nobody declares")
    if proposal.action in _MAKES and planned is None:
        found.append(f"it proposes {proposal.action.value} without planned attributes")
    found += _stages(proposal)
    return [
        error(
            codes.PROMISE_BROKEN,
            f"The provider {provider}, asked about {request.address}: {text}. This is a bug of the "
            "provider, not of your configuration; please report it with the HCL of this block.",
            address=request.address,
        )
        for text in found
    ]


def _stages(proposal: Proposal) -> list[str]:
    names = [stage.name for stage in proposal.stages]
    found = [f"it names a stage {name!r}" for name in names if not _STAGE_NAME.fullmatch(name)]
    if len(set(names)) < len(names):
        found.append("it names two stages alike")
    if names and proposal.action not in _CHANGES:
        found.append(f"it proposes stages for {proposal.action.value}")
    early = [stage.early or stage.name == QUIESCE for stage in proposal.stages]
    if early != sorted(early, reverse=True):
        found.append("it proposes an early stage after a late one")
    return found


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
    """Whether a value is made of declared and recorded parts, and of nothing else."""
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
