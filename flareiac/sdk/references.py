"""A resource as those see it that refer to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from flareiac.kernel.data import Attributes
from flareiac.sdk.lakehouse import TableHistory


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A resource as others see it: ``attributes`` are canonical (planned where it changes); ``identity`` is what its driver answered
    last (empty until applied, and always empty for connections and declarations). ``history``: of a table that was looked at, what of it
    can be read as a stream (None: not known).
    """

    address: str
    type: str
    attributes: Attributes
    identity: Attributes = field(default_factory=dict)
    history: TableHistory | None = None


References: TypeAlias = Mapping[str, Resolved]
"""Every connection, declaration and managed resource that a resource refers to, directly or through others, by address."""
