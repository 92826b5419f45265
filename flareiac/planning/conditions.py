"""The conditions of a configuration that a plan is about, and what the plan makes of their answers. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from flareiac.model.conditions import ConditionResult, Moment, Owning, Status
from flareiac.model.desired import Desired
from flareiac.model.plan import PlannedResource
from flareiac.sdk.changes import Action
from flareiac.sdk.resource_type import Kind


def decided(
    conditions: Iterable[ConditionResult],
    planned: Mapping[str, PlannedResource],
    desired: Desired,
    *,
    whole: bool,
) -> tuple[ConditionResult, ...]:
    """Returns the answers that count in a plan. ``whole``: no targets leave resources out of it.

    A postcondition of what is replaced is left to the apply: the new object has another identity.
    """
    return tuple(_after(each, planned) for each in conditions if whole or _concerns(each, planned, desired))


def _concerns(result: ConditionResult, planned: Mapping[str, PlannedResource], desired: Desired) -> bool:
    if result.owning is not Owning.RESOURCE or result.address in planned:
        return True
    resource = desired.resources.get(result.address)
    if resource is None:  # its precondition was not met, so that its block was not taken
        return False
    return resource.kind is not Kind.MANAGED and any(
        result.address in each.dependencies for each in planned.values()
    )


def _after(result: ConditionResult, planned: Mapping[str, PlannedResource]) -> ConditionResult:
    resource = planned.get(result.address)
    if (
        resource is not None
        and resource.action is Action.REPLACE
        and result.moment is Moment.AFTER
        and result.status is Status.PASS
    ):
        return replace(result, status=Status.UNKNOWN)
    return result
