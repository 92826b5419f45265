"""Would a plan give what another environment applied the names of this one? So it is where two folders share
a state, and where one folder gets the variables of two. Pure.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from flareiac.kernel import codes
from flareiac.kernel.addresses import block_type
from flareiac.kernel.data import canonical
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.applied_from import AppliedFrom, Differences, differences
from flareiac.model.plan import PlannedResource
from flareiac.model.relocation import ROOT, stored
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.planning.usages import recorded_usages
from flareiac.sdk.changes import Action, Blocker, Relation, blocker
from flareiac.sdk.project import Project
from flareiac.sdk.references import Resolved
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.results import Observation, Present

_NAMES: Final = (Relation.REAL_NAME, Relation.OWNS_LOCATION)
_GOING: Final = (Action.DELETE, Action.FORGET, Action.REPLACE)
_RESTING: Final = (Action.NO_OP, Action.RECORD)
_SHOWN: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """``references``: all that is declared, as those that refer to it see it. ``shared``: see
    ``differences``.
    """

    snapshot: Snapshot
    observations: Mapping[str, Observation]
    types: Mapping[str, ResourceType]
    references: Mapping[str, Resolved]
    project: Project
    shared: bool


def with_strangers_blocked(
    planned: Mapping[str, PlannedResource], applied: AppliedFrom | None, around: Surroundings
) -> dict[str, PlannedResource]:
    """The same resources; where this is another environment than the one that the state was applied from,
    and something of that would get another name or go, the first such resource is blocked: one obstacle for
    all of them.
    """
    then = around.snapshot.applied
    if (
        applied is None
        or then is None
        or not (difference := differences(then, applied, shared=around.shared))
    ):
        return dict(planned)
    moves = {
        address: text
        for address, resource in planned.items()
        if (text := _move(resource, difference, around))
    }
    if not moves:
        return dict(planned)
    first = next(iter(moves))
    proposal = planned[first].proposal
    obstacle = _obstacle(then, applied, difference, moves)
    blocked = replace(proposal, blockers=(obstacle, *proposal.blockers))
    return {**planned, first: replace(planned[first], proposal=blocked)}


def _move(resource: PlannedResource, difference: Differences, around: Surroundings) -> str:
    """The change of the real names of a recorded resource, in words; empty where it keeps them."""
    record = around.snapshot.resources.get(resource.address)
    if record is None or record.type not in around.types:
        return ""
    if resource.action in (Action.DELETE, Action.FORGET):
        return f"{resource.address} would leave the state" if difference.is_elsewhere else ""
    if difference.folder and resource.action not in _RESTING and _lies_below(record, around):
        return f"{resource.address} (it lies below the folder of the project, and would be made again here)"
    before = _names(record, around, _recorded_references(record, around))
    after = _names(_with(record, resource), around, around.references)
    if before == after or (resource.action not in _GOING and _is_observed_there(record, resource, around)):
        return ""
    old, new = sorted(before - after), sorted(after - before)
    if not old or not new:
        return f"{resource.address} (its place would change)"
    return f"{resource.address} ({' and '.join(old)} would become {' and '.join(new)})"


def _names(
    record: ResourceRecord, around: Surroundings, references: Mapping[str, Resolved]
) -> frozenset[str]:
    """The real names that a resource has, and the places of what it is reached through."""
    usages = list(recorded_usages(record.address, record, around.types, references))
    for address in record.resolved:
        kind, connection = around.types.get(block_type(address)), references.get(address)
        if kind is not None and connection is not None:
            usages += kind.relations.usages(address, connection.attributes, references)
    return frozenset(usage.subject for usage in usages if usage.relation in _NAMES)


def _recorded_references(record: ResourceRecord, around: Surroundings) -> dict[str, Resolved]:
    """The connections and declarations as they were recorded with it, the others as they are declared."""
    recorded = {
        address: Resolved(address=address, type=block_type(address), attributes=attributes)
        for address, attributes in record.resolved.items()
    }
    return {**around.references, **recorded}


def _with(record: ResourceRecord, resource: PlannedResource) -> ResourceRecord:
    attributes = resource.proposal.planned if resource.proposal.planned is not None else resource.desired
    return record if attributes is None else replace(record, attributes=attributes)


def _is_observed_there(record: ResourceRecord, resource: PlannedResource, around: Surroundings) -> bool:
    """Returns True where it keeps its name, and the same object is reached where the connections lead now: an
    address of a server changed, not the server.
    """
    observed = around.observations.get(resource.address)
    if not isinstance(observed, Present) or not record.identity:
        return False
    known, there = (
        (record.identity, observed.identity)
        if record.uuid is None
        else (record.uuid, observed.identity.get("uuid"))
    )
    here = around.references
    return known == there and _names(record, around, here) == _names(_with(record, resource), around, here)


def _lies_below(record: ResourceRecord, around: Surroundings) -> bool:
    """Returns True where a place of it is relative to the folder, so that another folder has another one."""
    places = [
        usage.subject
        for usage in recorded_usages(record.address, record, around.types, around.references)
        if usage.relation is Relation.OWNS_LOCATION
    ]
    relative = any(not place.startswith("/") and ":" not in place for place in places)
    return relative or ROOT in canonical(stored(dict(record.resolved), str(around.project.root)))


def _obstacle(
    then: AppliedFrom, now: AppliedFrom, difference: Differences, moves: Mapping[str, str]
) -> Blocker:
    more = f", and {len(moves) - _SHOWN} more" if len(moves) > _SHOWN else ""
    why = (
        f"{' '.join(_sentences(then, now, difference))} This plan would move what was applied then: "
        f"{'; '.join(list(moves.values())[:_SHOWN])}{more}. If both are environments of one project, each "
        "needs a state of its own."
    )
    return blocker(codes.STATE_OF_ANOTHER_ENVIRONMENT, why, _ways_out(then, now, difference))


def _sentences(then: AppliedFrom, now: AppliedFrom, difference: Differences) -> Iterator[str]:
    if difference.owner:
        here = (
            f'the configuration here says "{now.owner}"' if now.owner else "the configuration here has none"
        )
        yield f'The state belongs to state_owner "{then.owner}", and {here}.'
    elif difference.folder:
        yield f"The state was last applied from the folder {_shown(then)}, and this is {_shown(now)}."
    if difference.variables:
        last = "" if difference.owner or difference.folder else " than when the state was last applied"
        names = ", ".join(difference.variables)
        yield (
            f"The variable {names} has another value{last}."
            if len(difference.variables) == 1
            else f"The variables {names} have other values{last}."
        )


def _shown(applied: AppliedFrom) -> str:
    return "the root of the repository" if applied.folder == "." else applied.folder


def _ways_out(then: AppliedFrom, now: AppliedFrom, difference: Differences) -> Iterator[str]:
    yield "for another environment: give it a workspace, flareiac workspace new NAME, and apply there"
    yield (
        "for another environment: give it a place of its own, another schema or prefix in its backend block, "
        "or flareiac init -reconfigure -backend-config=NAME=VALUE"
    )
    if then.owner and then.owner != now.owner:
        yield f'if this configuration goes on from there: flareiac {{ state_owner = "{then.owner}" }}'
    elif not now.owner:
        name = now.folder.rpartition("/")[2].strip(".") or "main"
        yield f'if the change is meant: flareiac {{ state_owner = "{name}" }}'
    elif difference.folder and difference.variables:
        yield "if both changes are meant: apply one of them first, the other folder or the other values"
