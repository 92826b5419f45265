"""A namespace as typed records: as it is declared or recorded, and as it was observed. Pure."""

from collections.abc import Mapping
from dataclasses import field

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import decode
from flareiac.sdk.definitions import Plain, Ref, definition_of
from flareiac.sdk.results import Recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceDefinition:
    """A ``namespace`` block. ``properties`` None: not managed."""

    catalog: Ref
    name: str
    properties: Mapping[str, Plain] | None
    on_destroy: str

    @classmethod
    def of(cls, attributes: Attributes) -> "NamespaceDefinition":
        """Raises ``Mismatch`` for attributes of another shape."""
        return definition_of(cls, attributes)

    @property
    def import_id(self) -> str:
        """``CATALOG.NAMESPACE``: the catalog by its block's label."""
        return f"{self.catalog.address.rpartition('.')[2]}.{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceIdentity:
    """``created_by``: the key of the operation that made it, where FlareIaC did."""

    created_by: str | None = None


def examine(recorded: Recorded) -> None:
    """Reads all that is recorded of a namespace. Raises what reading a wrong shape raises."""
    NamespaceDefinition.of(recorded.attributes)
    identity_of(recorded.identity)


def identity_of(data: Attributes) -> NamespaceIdentity:
    """A namespace's identity as it was recorded or observed."""
    return decode(NamespaceIdentity, data, "identity")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceFacts:
    """``tables``: those in a namespace that is no longer declared."""

    tables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyChange:
    """The changes of a plan to properties; for those in ``set`` the planned attributes hold the values, which
    may become known only then.
    """

    set: Mapping[str, Plain] = field(default_factory=dict)
    remove: tuple[str, ...] = ()
