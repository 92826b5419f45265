"""The offers of the installed providers, by name. A record; discovering them is the application's
business.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Generic, TypeVar

from flareiac.config.backend import NO_BACKENDS, BackendKinds
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.types import RefType
from flareiac.sdk.provider import Function, Offered
from flareiac.sdk.resource_type import Kind, ResourceType
from flareiac.sdk.schema import Block

T = TypeVar("T")


class _Made(Mapping[str, T], Generic[T]):
    """Values that are made when they are asked for; the names are known before."""

    def __init__(self, names: Mapping[str, object], make: Callable[[str], T]) -> None:
        self._names, self._make = names, make
        self._made: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        made = self._made.get(name)
        if made is None:
            if name not in self._names:
                raise KeyError(name)
            made = self._made[name] = self._make(name)
        return made

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """Block types as they are offered, the provider of each, and the functions that providers add.

    ``types`` and ``schemas``, by block type, are loaded when they are asked for.
    """

    offered: Mapping[str, Offered]
    provider_of: Mapping[str, str]
    functions: tuple[Function, ...] = ()
    backends: BackendKinds = NO_BACKENDS
    types: Mapping[str, ResourceType] = field(init=False)
    schemas: Mapping[str, Block] = field(init=False)
    _fallbacks: dict[str, tuple[str, ...]] = field(init=False, default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        types = _Made(self.offered, lambda name: self.offered[name].load())
        object.__setattr__(self, "types", types)
        object.__setattr__(self, "schemas", _Made(self.offered, lambda name: types[name].schema))

    def embedded_connections(self) -> Mapping[str, ResourceType]:
        """The connection types that have an embedded instance."""
        return {name: self.types[name] for name, offer in self.offered.items() if offer.embedded}

    def fallbacks(self, name: str) -> tuple[str, ...]:
        """The types of connections that attributes of a type fall back to where they are left out."""
        if name not in self._fallbacks:
            wanted = set(referred_types(self.schemas[name]))
            self._fallbacks[name] = tuple(sorted(filter(self.is_implied, wanted)))
        return self._fallbacks[name]

    def is_implied(self, name: str) -> bool:
        """Returns True if an omitted reference resolves to the only declared connection of this type, or to
        the embedded one.
        """
        if name not in self.offered:
            return False
        return self.offered[name].embedded or (
            self.types[name].kind is Kind.CONNECTION and self.types[name].declaring.is_implied
        )


def referred_types(schema: Block) -> Iterator[str]:
    """The types that attributes of a block and of the blocks inside refer to, each as often as it occurs."""
    for attribute in schema.attributes.values():
        if isinstance(attribute.type, RefType):
            yield from attribute.type.to
    for nested in schema.blocks.values():
        yield from referred_types(nested.block)
