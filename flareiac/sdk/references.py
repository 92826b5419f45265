"""A resource as those see it that refer to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from flareiac.kernel.data import Attributes


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A resource as others see it: ``attributes`` are canonical (planned where it changes); ``identity`` is what its driver answered
    last (empty until applied, and always empty for connections and declarations).
    """

    address: str
    type: str
    attributes: Attributes
    identity: Attributes = field(default_factory=dict)


References: TypeAlias = Mapping[str, Resolved]
"""Every connection, declaration and managed resource that a resource refers to, directly or through others, by address."""
