"""Who has files where? Of all that is declared or recorded, and of what was destroyed and can be brought back. Pure."""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Failure
from flareiac.model.snapshot import Snapshot
from flareiac.planning.observe import breakdown
from flareiac.sdk.maintenance import Neighbour
from flareiac.sdk.places import Occupied
from flareiac.sdk.provider import Observation, Present, Project, ResourceType
from flareiac.sdk.references import Resolved

Holder: TypeAlias = tuple[str, bool]
"""An address, and whether it is only what was dropped there; then it is what commands call it, which may be ``ADDRESS@UUID``."""


def occupied(
    declared: Mapping[str, Resolved],
    snapshot: Snapshot,
    observations: Mapping[str, Observation],
    types: Mapping[str, ResourceType],
    project: Project,
) -> Occupied[Holder]:
    """Where everything has its files: as declared, as recorded, and as observed. Raises ``Failure`` for a record edited by hand."""
    found: dict[tuple[str, Holder], None] = {}

    def add(address: str, kind: str, attributes: Attributes, identity: Attributes, *, dropped: bool = False) -> None:
        for place in _places(address, types.get(kind), attributes, identity, project):
            found[place, (address, dropped)] = None

    for address, item in declared.items():
        add(address, item.type, item.attributes, _observed(observations.get(address)) or item.identity)
    for address, record in snapshot.resources.items():
        add(address, record.type, record.attributes, record.identity)
        add(address, record.type, record.attributes, _observed(observations.get(address)))
    for name, record in snapshot.dropped_by_name().items():
        add(name, record.type, record.attributes, record.identity, dropped=True)
    return Occupied(found)


def neighbours(address: str, places: tuple[str, ...], taken: Occupied[Holder]) -> tuple[Neighbour, ...]:
    """Who else has files where a resource has its own."""
    found: dict[Holder, list[str]] = {}
    for place in places:
        for other, holder in taken.sharing(place):
            if holder != (address, False):
                found.setdefault(holder, []).append(other)
    return tuple(_neighbours(found))


def _neighbours(found: Mapping[Holder, list[str]]) -> Iterator[Neighbour]:
    for (address, dropped), places in found.items():
        yield Neighbour(address=address, places=tuple(dict.fromkeys(places)), dropped=dropped)


def _observed(observation: Observation | None) -> Attributes:
    return observation.identity if isinstance(observation, Present) else {}


def _places(address: str, kind: ResourceType | None, attributes: Attributes, identity: Attributes, project: Project) -> tuple[str, ...]:
    if kind is None:
        return ()
    try:
        return kind.places(attributes, identity, project)
    except Exception as bug:
        raise Failure(breakdown(address, bug)) from bug
