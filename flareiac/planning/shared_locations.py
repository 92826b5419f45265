"""Indexes the owners of files by location: of all that is declared or recorded, and of what was destroyed and
can be brought back. Pure.
"""

from collections.abc import Iterator, Mapping

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.snapshot import Snapshot
from flareiac.planning.unanswered import provider_crashed
from flareiac.sdk.locations import LocationIndex, is_within
from flareiac.sdk.maintenance import Neighbour
from flareiac.sdk.project import Project
from flareiac.sdk.references import Resolved
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.results import Observation, Present


@dataclass(frozen=True, slots=True)
class Holder:
    """``dropped``: it is only what was dropped there; the address is then what commands call it, which may be
    ``ADDRESS@UUID``.

    ``reads``: others put files there that it needs; what lies beside them or around them is not its own.
    """

    address: str
    dropped: bool = False
    reads: bool = False


def occupied(
    declared: Mapping[str, Resolved],
    snapshot: Snapshot,
    observations: Mapping[str, Observation],
    types: Mapping[str, ResourceType],
    project: Project,
) -> LocationIndex[Holder]:
    """Indexes the locations of all files: as declared, as recorded, and as observed. Raises ``Failure`` for a
    record edited by hand.
    """
    occupants: dict[tuple[str, Holder], None] = {}

    def add(
        address: str, kind: str, attributes: Attributes, identity: Attributes, *, dropped: bool = False
    ) -> None:
        for place in _places(address, types.get(kind), attributes, identity, project):
            occupants[project.resolve(place), Holder(address, dropped)] = None
        for place in types[kind].locating.read(attributes, project) if kind in types and not dropped else ():
            occupants[project.resolve(place), Holder(address, reads=True)] = None

    for address, resource in declared.items():
        add(
            address,
            resource.type,
            resource.attributes,
            _observed(observations.get(address)) or resource.identity,
        )
    for address, record in snapshot.resources.items():
        add(address, record.type, record.attributes, record.identity)
        add(address, record.type, record.attributes, _observed(observations.get(address)))
    for name, record in snapshot.dropped_by_name().items():
        add(name, record.type, record.attributes, record.identity, dropped=True)
    return LocationIndex(occupants)


def neighbours(address: str, places: tuple[str, ...], taken: LocationIndex[Holder]) -> tuple[Neighbour, ...]:
    """Returns the other resources that have files where a resource has its own."""
    places_of: dict[Holder, list[str]] = {}
    for place in places:
        for other, holder in taken.sharing(place):
            if holder != Holder(address) and (not holder.reads or is_within(other, place)):
                places_of.setdefault(holder, []).append(other)
    return tuple(_neighbours(places_of))


def _neighbours(places_of: Mapping[Holder, list[str]]) -> Iterator[Neighbour]:
    for holder, places in places_of.items():
        yield Neighbour(address=holder.address, places=tuple(dict.fromkeys(places)), dropped=holder.dropped)


def _observed(observation: Observation | None) -> Attributes:
    return observation.identity if isinstance(observation, Present) else {}


def _places(
    address: str, kind: ResourceType | None, attributes: Attributes, identity: Attributes, project: Project
) -> tuple[str, ...]:
    if kind is None:
        return ()
    try:
        return kind.locating.own(attributes, identity, project)
    except Exception as bug:
        raise Failure(provider_crashed(address, bug)) from bug
