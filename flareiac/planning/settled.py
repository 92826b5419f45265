"""Resources about which no planner is asked: declared, recorded and found alike. Pure.

Most resources of most plans are such. Only what the type is certain of counts (see
``Planning.is_settled``); the planner answers for everything else.
"""

from collections.abc import Mapping
from dataclasses import field

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.desired import DesiredResource
from flareiac.model.references import connections_of
from flareiac.model.snapshot import ResourceRecord
from flareiac.sdk.changes import Usage
from flareiac.sdk.project import Project
from flareiac.sdk.references import Resolved
from flareiac.sdk.requests import Unchanged
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.results import Observation, Present


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """Answers for the resources of one configuration."""

    declared: Mapping[str, Resolved]
    """Every declared resource as those that refer to it see it."""
    types: Mapping[str, ResourceType]
    project: Project
    usages: Mapping[str, tuple[Usage, ...]]
    """By subject."""
    imported: frozenset[str] = frozenset()
    """The addresses of import blocks."""
    _connections: dict[tuple[str, ...], dict[str, Attributes]] = field(default_factory=dict)

    def holds(
        self, address: str, resource: DesiredResource, record: ResourceRecord, observed: Observation
    ) -> bool:
        """Returns True if nothing is to be done to a resource, nor to what the state holds of it."""
        lifecycle = resource.lifecycle
        return (
            isinstance(observed, Present)
            and address not in self.imported
            and not lifecycle.ignore_changes
            and record.user is None
            and record.protected == lifecycle.prevent_destroy
            and record.owner == resource.owner
            and record.dependencies == resource.dependencies
            and record.attributes == resource.attributes
            and record.resolved == self._reached(resource)
            and self.types[resource.address.type].planning.is_settled(
                Unchanged(
                    address=address,
                    recorded=record.recorded(),
                    observed=observed,
                    connections=record.resolved,
                    usages=self.usages.get(address, ()),
                    project=self.project,
                )
            )
        )

    def _reached(self, resource: DesiredResource) -> dict[str, Attributes]:
        """Returns what the state would hold of the connections that a resource reaches. Its dependencies
        contain everything that its attributes refer to, and many resources have the same ones.
        """
        connections = self._connections.get(resource.dependencies)
        if connections is None:
            connections = connections_of(resource.dependencies, {}, self.declared, self.types)
            self._connections[resource.dependencies] = connections
        return connections
