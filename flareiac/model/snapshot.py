"""The state: what the last applies recorded. JSON with a format version; readers refuse what they do not
understand.
"""

import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Annotated, TypeAlias

from flareiac.kernel.data import Attributes, Data, digest, holds_exact_number, read_json, write_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import SPARSE, UNSTORED, Form, decode, encode, named
from flareiac.model.applied_from import AppliedFrom
from flareiac.model.damage import UNREADABLE, damage
from flareiac.model.desired import OutputValue
from flareiac.model.remark import Remark
from flareiac.sdk.maintenance import LastRun
from flareiac.sdk.owner import Owner
from flareiac.sdk.references import Resolved
from flareiac.sdk.results import Recorded
from flareiac.sdk.state import Damaged, WrittenByNewer

FORMAT_VERSION = 1
EXACT_NUMBERS = "exact-numbers"
"""The feature of a state with an output that a float would round: an older reader would take it for
damaged.
"""
KNOWN_FEATURES: frozenset[str] = frozenset({EXACT_NUMBERS})
KEPT_DROPPED = 100
_EDITED = (
    "Record an earlier state again (flareiac state history, flareiac state rollback), or restore it from a "
    'backup. If it was edited on purpose, remove "digest" from it, and review the next plan with care.'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceRecord:
    """One managed instance as last applied."""

    address: str
    type: str
    provider: str
    schema_version: int = 1
    attributes: Attributes
    identity: Attributes = field(default_factory=dict)
    dependencies: tuple[str, ...] = ()
    protected: bool = False
    owner: Owner | None = field(default=None, metadata=SPARSE)
    resolved: Mapping[str, Attributes] = field(default_factory=dict)
    """The connections and declarations it referred to, by address: what it takes to reach it when its block
    is gone.
    """
    maintenance: Mapping[str, LastRun] = field(default_factory=dict, metadata={**SPARSE, **named("upkeep")})
    """The last run of each maintenance task, by name."""
    user: "ResourceRecord | None" = field(default=None, metadata=SPARSE)
    """The resource that used it last, has left the state, and still holds what it would need to continue (see
    ``Recording.kept_by``).
    """

    @property
    def uuid(self) -> Data:
        """The uuid that tells the object from another one of its name; None for a type without uuids."""
        return self.identity.get("uuid")

    @property
    def exact_name(self) -> str:
        """``ADDRESS@UUID``, which tells it from all that the address has been; without a uuid, the
        address.
        """
        return self.address if self.uuid is None else f"{self.address}@{self.uuid}"

    def is_same(self, other: "ResourceRecord") -> bool:
        """Returns True if both records are of one object, whatever its address was; without a uuid, only the
        address can tell.
        """
        known = (self.uuid, other.uuid) != (None, None)
        return self.type == other.type and (
            self.uuid == other.uuid if known else self.address == other.address
        )

    def with_places(self, places: Callable[[Data], Data]) -> "ResourceRecord":
        """The record with the places of its connections and declarations as ``places`` gives them."""
        user = self.user.with_places(places) if self.user is not None else None
        return (
            replace(self, resolved=places(dict(self.resolved)), user=user)
            if self.resolved or user is not None
            else self
        )

    def referenced(self) -> Resolved:
        """The resource as those that refer to it see it."""
        return Resolved(
            address=self.address, type=self.type, attributes=self.attributes, identity=self.identity
        )

    def recorded(self) -> Recorded:
        """The part of it that planners and drivers see."""
        user = (self.user.address, self.user.attributes) if self.user is not None else None
        return Recorded(
            attributes=self.attributes, identity=self.identity, schema_version=self.schema_version, user=user
        )


def _encode_resources(resources: Mapping[str, ResourceRecord]) -> Data:
    return [encode(resources[address]) for address in sorted(resources)]


def _decode_resources(data: Data) -> dict[str, ResourceRecord]:
    records = [
        decode(ResourceRecord, encoded, f"[{_name_of(encoded, number)}]", complete=True)
        for number, encoded in enumerate(data)
    ]
    return {record.address: record for record in records}


def _name_of(encoded: Data, number: int) -> str:
    address = encoded.get("address") if isinstance(encoded, dict) else None
    return address if isinstance(address, str) else str(number)


StoredResources: TypeAlias = Annotated[
    Mapping[str, ResourceRecord], Form(_encode_resources, _decode_resources, tuple[ResourceRecord, ...])
]
"""In JSON a list, in the order of addresses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintainedSpan:
    """Serials between which nothing but maintenance was recorded. It speaks of the state with the serial
    ``until`` alone: whatever else writes one raises the serial, and leaves the span behind.
    """

    since: int
    until: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Everything recorded. ``serial`` grows with every write; ``lineage`` never changes."""

    features: tuple[str, ...] = ()
    lineage: str
    serial: int = 0
    outputs: Mapping[str, OutputValue] = field(default_factory=dict)
    resources: StoredResources = field(default_factory=dict)
    dropped: tuple[ResourceRecord, ...] = field(default=(), metadata=SPARSE)
    """The dropped resources that can be brought back, the newest last, at most ``KEPT_DROPPED``; several may
    have had one address.
    """
    maintained: MaintainedSpan | None = field(default=None, metadata=SPARSE)
    """The serials before this one from which it differs by maintenance alone."""
    applied: AppliedFrom | None = field(default=None, metadata=SPARSE)
    """The origin of the last apply; None in a state of a version that did not record it."""
    named_after: Mapping[str, str] = field(default_factory=dict, metadata=SPARSE)
    """The address that the names of a block are made of that it does not write, where it has had another
    address: the first one, by the one of now.
    """
    remark: Remark | None = field(default=None, metadata=SPARSE)
    """What the command that wrote it said of itself."""
    sealed: bool = field(default=True, compare=False, metadata=UNSTORED)
    """True if a digest vouches for it: without one, any part of it may have any shape."""

    def identity(self, address: str) -> Attributes:
        """Returns the last recorded answer of the world about an address; empty where nothing is recorded."""
        record = self.resources.get(address)
        return record.identity if record else {}

    def dropped_by_name(self) -> dict[str, ResourceRecord]:
        """Returns the dropped records by the names that commands use: the address, with the uuid where the
        address alone means another one too.
        """
        often = Counter([*self.resources, *(record.address for record in self.dropped)])
        return {
            record.address if often[record.address] == 1 else record.exact_name: record
            for record in self.dropped
        }


def after_maintenance(before: Snapshot, after: Snapshot) -> Snapshot:
    """``after``, the state that maintenance is about to write, with what it has in common with ``before``."""
    span = None
    if _apart_from_maintenance(before) == _apart_from_maintenance(after):
        span = MaintainedSpan(since=_unchanged_since(before), until=after.serial)
    return replace(after, maintained=span)


def differs_by_maintenance_alone(snapshot: Snapshot, serial: int) -> bool:
    """Returns True if nothing but maintenance was recorded after an earlier serial."""
    return _unchanged_since(snapshot) <= serial <= snapshot.serial


def _unchanged_since(snapshot: Snapshot) -> int:
    span = snapshot.maintained
    return span.since if span is not None and span.until == snapshot.serial else snapshot.serial


def _apart_from_maintenance(snapshot: Snapshot) -> Snapshot:
    records = {address: replace(record, maintenance={}) for address, record in snapshot.resources.items()}
    return replace(snapshot, serial=0, resources=records, maintained=None)


def with_dropped(dropped: tuple[ResourceRecord, ...], record: ResourceRecord) -> tuple[ResourceRecord, ...]:
    """These and one more; the oldest go when there are too many."""
    return (*without_dropped(dropped, record), record)[-KEPT_DROPPED:]


def without_dropped(
    dropped: tuple[ResourceRecord, ...], record: ResourceRecord
) -> tuple[ResourceRecord, ...]:
    """These but for this object, which is there again."""
    return tuple(other for other in dropped if not other.is_same(record))


def known_addresses(snapshot: Snapshot) -> list[str]:
    """All that the state knows under an address: the resources, and the connections and declarations that are
    recorded with them.
    """
    others = (address for record in snapshot.resources.values() for address in record.resolved)
    return list(dict.fromkeys([*snapshot.resources, *others]))


def with_names_in_use(snapshot: Snapshot) -> Snapshot:
    """The snapshot without the earlier addresses of what it no longer knows."""
    if not snapshot.named_after:
        return snapshot
    known = set(known_addresses(snapshot))
    kept = {now: first for now, first in snapshot.named_after.items() if now in known}
    return replace(snapshot, named_after=kept)


def with_places(snapshot: Snapshot, places: Callable[[Data], Data]) -> Snapshot:
    """The snapshot with the places of its recorded connections and declarations as ``places`` gives them."""
    return replace(
        snapshot,
        resources={address: record.with_places(places) for address, record in snapshot.resources.items()},
        dropped=tuple(record.with_places(places) for record in snapshot.dropped),
    )


def new_snapshot() -> Snapshot:
    """An empty state with a lineage of its own."""
    return Snapshot(lineage=str(uuid.uuid4()))


def encode_snapshot(snapshot: Snapshot) -> bytes:
    """The snapshot's bytes; equal snapshots have equal bytes."""
    ordered = replace(snapshot, features=_features(snapshot), outputs=dict(sorted(snapshot.outputs.items())))
    document: dict[str, Data] = {"format_version": FORMAT_VERSION, **encode(ordered)}
    document["digest"] = digest(document)
    return write_json(document, compact=True, ensure_ascii=False).encode() + b"\n"


def _features(snapshot: Snapshot) -> tuple[str, ...]:
    is_exact = any(holds_exact_number(output.value) for output in snapshot.outputs.values())
    others = [feature for feature in snapshot.features if feature != EXACT_NUMBERS]
    return (*others, EXACT_NUMBERS) if is_exact else tuple(others)


def decode_snapshot(content: bytes, where: str) -> Snapshot:
    """The inverse of ``encode_snapshot``. Raises ``Damaged`` for what this version cannot understand."""
    try:
        document = read_json(content)
        version = document["format_version"]
        if version != FORMAT_VERSION:
            raise WrittenByNewer(
                where, f"it has format version {version}; this FlareIaC reads version {FORMAT_VERSION}"
            )
        unknown = sorted(set(document["features"]) - KNOWN_FEATURES)
        if unknown:
            raise WrittenByNewer(
                where, f"it needs features that this FlareIaC does not have: {', '.join(unknown)}"
            )
        sealed = "digest" in document  # early versions wrote none
        if sealed and document.pop("digest") != digest(document):
            raise Damaged(where, "it is not as FlareIaC wrote it: it was edited, or damaged", _EDITED)
        del document["format_version"]
        return replace(decode(Snapshot, document, complete=True), sealed=sealed)
    except UNREADABLE as problem:
        raise Damaged(where, damage(problem, "a FlareIaC state")) from problem
