"""The references of a resource, direct and through others: as declared, as planned and as recorded. Pure."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from flareiac.kernel.addresses import block_type
from flareiac.kernel.data import Attributes, references
from flareiac.kernel.graph import closure
from flareiac.model.desired import DesiredResource
from flareiac.model.plan import Plan, PlannedResource
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.sdk.project import Project
from flareiac.sdk.references import Resolved
from flareiac.sdk.resource_type import Kind, ResourceType


def reached(start: Iterable[str], known: Mapping[str, Resolved]) -> list[str]:
    """The known addresses among ``start`` and everything that their attributes refer to, directly or through
    others, each once.
    """
    return closure(start, lambda address: references(known[address].attributes) if address in known else None)


def reached_by_declaration(start: Iterable[str], resources: Mapping[str, DesiredResource]) -> list[str]:
    """The declared addresses among ``start`` and everything that they depend on, directly or through others,
    each once.
    """
    return closure(start, lambda address: resources[address].dependencies if address in resources else None)


def planned_references(
    plan: Plan, start: Iterable[str], identity: Callable[[str], Attributes]
) -> dict[str, Resolved]:
    """Everything among ``start`` that a plan knows, and what it refers to; ``identity``: what is recorded of
    an address by now.
    """
    return {
        address: replace(plan.references[address], identity=identity(address))
        for address in reached(start, plan.references)
    }


def recorded_connections(record: ResourceRecord | PlannedResource) -> dict[str, Resolved]:
    """The connections and declarations that a resource was recorded with: what it takes to reach it when its
    block is gone.
    """
    return {
        address: Resolved(address=address, type=block_type(address), attributes=attributes)
        for address, attributes in record.resolved.items()
    }


def recorded_references(snapshot: Snapshot, record: ResourceRecord) -> dict[str, Resolved]:
    """Returns everything that a recorded resource refers to, directly or through others, as recorded, by
    address.
    """
    resources = snapshot.resources
    others = closure(
        record.dependencies, lambda address: resources[address].dependencies if address in resources else None
    )
    resolved = {address: resources[address].referenced() for address in others}
    for each in (record, *(resources[address] for address in others)):
        resolved = {**recorded_connections(each), **resolved}
    return resolved


def connections_of(
    dependencies: Iterable[str],
    attributes: Attributes,
    known: Mapping[str, Resolved],
    types: Mapping[str, ResourceType],
) -> dict[str, Attributes]:
    """The attributes of every connection and declaration that a resource reaches, by address.

    An apply records this with the resource and the next plan compares with it, so both call this function.
    """
    addresses = reached((*dependencies, *references(attributes)), known)
    return {
        address: known[address].attributes for address in addresses if is_kept(types[known[address].type])
    }


def is_kept(kind: ResourceType) -> bool:
    """Returns True if attributes of this type are recorded with the resources that refer to it."""
    return kind.kind is not Kind.MANAGED and not kind.declaring.values_only


def connections_in_use(
    declared: Mapping[str, Resolved], snapshot: Snapshot, types: Mapping[str, ResourceType], project: Project
) -> frozenset[str]:
    """The declared connections whose home keeps something that is recorded, by whatever block it was reached
    when it was recorded.
    """
    # Many records refer to few connections: each is read once.
    recorded: dict[str, list[Attributes]] = {}
    for record in snapshot.resources.values():
        for address, attributes in record.resolved.items():
            known = recorded.setdefault(address, [])
            if attributes not in known:
                known.append(attributes)

    def home(kind: str, attributes: Attributes) -> str | None:
        place = types[kind].locating.home(attributes) if kind in types else None
        return None if place is None else project.resolve(place)

    used = {
        home(block_type(address), attributes)
        for address, variants in recorded.items()
        for attributes in variants
    } - {None}
    return frozenset(
        address
        for address, connection in declared.items()
        if home(connection.type, connection.attributes) in used
    )
