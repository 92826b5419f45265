"""Would a plan let recorded resources start as they were recorded? Pure: the configuration has no part in
it.
"""

from collections.abc import Mapping
from dataclasses import replace

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, Severity
from flareiac.model.desired import Desired
from flareiac.model.references import reached_by_declaration
from flareiac.model.snapshot import Snapshot
from flareiac.planning.drift import recorded_configuration
from flareiac.planning.make_plan import Inputs
from flareiac.planning.propose import Context, propose
from flareiac.sdk.changes import Blocker
from flareiac.sdk.resource_type import ResourceType


def needed_by(snapshot: Snapshot, types: Mapping[str, ResourceType], addresses: frozenset[str]) -> Desired:
    """Returns the recorded configuration of these resources and of everything that they refer to."""
    whole = recorded_configuration(snapshot, types)
    needed = set(reached_by_declaration(addresses, whole.resources))
    return replace(
        whole,
        resources={address: resource for address, resource in whole.resources.items() if address in needed},
    )


def refused_starts(inputs: Inputs, starting: Mapping[str, Attributes]) -> tuple[Diagnostic, ...]:
    """Returns the reasons why a plan would not start these definitions (given by address): their blockers, or
    what cannot be known of what they need.
    """
    resources = {
        address: replace(inputs.desired.resources[address], attributes=attributes)
        for address, attributes in starting.items()
    }
    desired = replace(inputs.desired, resources={**inputs.desired.resources, **resources})
    context = Context(
        desired=desired,
        snapshot=inputs.snapshot,
        types=inputs.types,
        project=inputs.project,
        observations=inputs.observations,
    )
    planned, unplanned = propose(context, Diagnostics())
    unknown = [
        unplanned_resource.diagnostic
        for unplanned_resource in unplanned.values()
        if unplanned_resource.diagnostic.severity is Severity.ERROR
    ]
    blocked = [
        _refusal(address, blocker)
        for address in starting
        if address in planned
        for blocker in planned[address].proposal.blockers
    ]
    return tuple(dict.fromkeys([*unknown, *blocked]))


def _refusal(address: str, blocker: Blocker) -> Diagnostic:
    ways = "".join(f"\n- {way}" for way in blocker.ways_out)
    detail = f"A plan would not start it either. {blocker.why}" + (
        f"\nWays out, by an apply:{ways}" if ways else ""
    )
    return blocker.as_error(detail, address=address)
