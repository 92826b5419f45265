"""What the installed providers offer, by name. A record; discovering them is the application's business."""

from collections.abc import Mapping

from flareiac.config.backend import NO_BACKENDS, BackendKinds
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.provider import Function
from flareiac.sdk.resource_type import Kind, ResourceType
from flareiac.sdk.schema import Block


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """Resource types by block type, the provider of each, and the functions that providers add."""

    types: Mapping[str, ResourceType]
    provider_of: Mapping[str, str]
    functions: tuple[Function, ...] = ()
    backends: BackendKinds = NO_BACKENDS

    @property
    def schemas(self) -> Mapping[str, Block]:
        """The schema of each block type."""
        return {name: kind.schema for name, kind in self.types.items()}

    def connection_defaults(self) -> Mapping[str, ResourceType]:
        """The connection types that have an embedded instance."""
        return {
            name: kind
            for name, kind in self.types.items()
            if kind.kind is Kind.CONNECTION and kind.default is not None
        }

    def implied_connections(self) -> frozenset[str]:
        """The connection types of which the only one declared is meant where none is named."""
        return frozenset(
            name
            for name, kind in self.types.items()
            if kind.kind is Kind.CONNECTION and (kind.default is not None or kind.is_implied)
        )
