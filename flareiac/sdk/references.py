"""A resource as those see it that refer to it."""

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any, TypeAlias, TypedDict

from flareiac.kernel.addresses import block_type
from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import UNSTORED, Form, Mismatch, decode, encode
from flareiac.sdk.lakehouse import TableHistory


@dataclass(frozen=True, slots=True, kw_only=True)
class LastUser:
    """The last user of a resource, which has left the state since (see ``Recording.kept_by``), as it was
    recorded.
    """

    address: str
    attributes: Attributes
    identity: Attributes


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A resource as others see it: ``attributes`` are canonical (planned where it changes); ``identity`` is
    what its driver answered last (empty until applied, and always empty for connections and declarations).
    ``history``: of a table that was looked at, what of it can be read as a stream (None: not known).
    ``last_user``: of what is recorded, what left the state and could go on from it. ``ignored``: what its
    ``lifecycle`` block leaves as it is, which may differ from what is declared. ``implied``: True of a
    connection without a block, which stands for its type as none is declared. Its name tells nothing: a block
    may have the same.
    """

    address: str
    type: str
    attributes: Attributes
    identity: Attributes = field(default_factory=dict)
    history: TableHistory | None = field(default=None, metadata=UNSTORED)
    last_user: LastUser | None = field(default=None, metadata=UNSTORED)
    ignored: frozenset[str] = field(default=frozenset(), metadata=UNSTORED)
    implied: bool = field(default=False, metadata=UNSTORED)


References: TypeAlias = Mapping[str, Resolved]
"""Every connection, declaration and managed resource that a resource refers to, directly or through others,
by address.
"""


def encode_references(references: References) -> dict[str, Any]:
    """As JSON, by address."""
    parts = {address: encode(reference) for address, reference in sorted(references.items())}
    return {
        address: {name: part for name, part in fields.items() if name != "address"}
        for address, fields in parts.items()
    }


def decode_references(data: Any) -> References:
    """The inverse of ``encode_references``. Raises ``Mismatch``."""
    return {address: _decode_reference(address, encoded) for address, encoded in data.items()}


def _decode_reference(address: str, data: Any) -> Resolved:
    reference = decode(Resolved, {**data, "address": address}, f"[{address}]", complete=True)
    if reference.type != block_type(address):
        raise Mismatch(f"[{address}].type", f"is {reference.type!r:.60}, expected that of its address")
    return reference


class _Written(TypedDict):
    """A reference in JSON, without its address."""

    type: str
    attributes: Attributes
    identity: Attributes


StoredReferences: TypeAlias = Annotated[
    References, Form(encode_references, decode_references, Mapping[str, _Written])
]
"""In JSON the address of each is its key alone."""
