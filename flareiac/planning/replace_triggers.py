"""The planned changes of others that replace a resource (``replace_triggered_by``). Pure."""

from collections.abc import Mapping

from flareiac.kernel.paths import Path, render_path
from flareiac.model.desired import DesiredResource
from flareiac.model.plan import PlannedResource
from flareiac.sdk.changes import Action
from flareiac.sdk.resource_type import ResourceType


def triggered_by(
    desired: DesiredResource | None,
    planned: Mapping[str, PlannedResource],
    types: Mapping[str, ResourceType],
) -> str:
    """The first thing among the triggers of a resource that changes; an empty text where none does. As in
    Terraform, what is created triggers nothing.
    """
    for trigger in desired.lifecycle.triggers if desired is not None else ():
        for address in trigger.addresses:
            other = planned.get(address)
            if other is None or other.action not in (Action.UPDATE, Action.REPLACE):
                continue
            if not trigger.path:
                return address
            if _changes(other, trigger.path, types[other.type]):
                return f"{address}.{render_path(trigger.path)}"
    return ""


def _changes(other: PlannedResource, path: Path, kind: ResourceType) -> bool:
    if path[0] in kind.computed:
        return other.action is Action.REPLACE or other.loses
    return any(
        change.path[: len(path)] == path or path[: len(change.path)] == change.path
        for change in other.proposal.changes
    )
