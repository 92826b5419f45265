"""The state: what the last applies recorded. JSON with a format version; readers refuse what they do not understand."""

import json
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from flareiac.kernel.data import Attributes, Data, digest, from_json, read_json, to_json
from flareiac.model.damage import UNREADABLE, damage
from flareiac.model.desired import OutputValue
from flareiac.model.shape import check
from flareiac.sdk.provider import Recorded
from flareiac.sdk.state import Damaged

FORMAT_VERSION = 1
KNOWN_FEATURES: frozenset[str] = frozenset()
KEPT_DROPPED = 100
_EDITED = (
    "Put back the newest intact snapshot from the history directory beside it, or restore the file from a backup. If it was edited on "
    'purpose, remove "digest" from it, and review the next plan with care.'
)
_NEWER = "A newer FlareIaC wrote it: use that version, or a later one."


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceRecord:
    """One managed instance as last applied."""

    address: str
    type: str
    provider: str
    attributes: Attributes
    identity: Attributes = field(default_factory=dict)
    dependencies: tuple[str, ...] = ()
    protected: bool = False
    schema_version: int = 1
    resolved: Mapping[str, Attributes] = field(default_factory=dict)
    """The connections and declarations it referred to, by address: what it takes to reach it when its block is gone."""
    upkeep: Mapping[str, Attributes] = field(default_factory=dict)
    """The last run of each kind of maintenance: ``at`` (UTC seconds), ``id``, ``forecast``, ``result``."""
    user: "ResourceRecord | None" = None
    """What used it last and has left the state: what it would need to go on is still held (see ``sdk.provider.ResourceType.kept_by``)."""

    @property
    def uuid(self) -> Data:
        """What tells it from another object of its name; None where its kind has no such thing."""
        return self.identity.get("uuid")

    @property
    def exact_name(self) -> str:
        """``ADDRESS@UUID``, which tells it from all that the address has been; without a uuid, the address."""
        return self.address if self.uuid is None else f"{self.address}@{self.uuid}"

    def is_same(self, other: "ResourceRecord") -> bool:
        """Whether both are of one object, whatever its address was; without a uuid, the address is all there is to tell."""
        known = (self.uuid, other.uuid) != (None, None)
        return self.type == other.type and (self.uuid == other.uuid if known else self.address == other.address)

    def with_places(self, places: Callable[[Data], Data]) -> "ResourceRecord":
        """The record with the places of its connections and declarations as ``places`` gives them."""
        user = self.user.with_places(places) if self.user is not None else None
        return replace(self, resolved=places(dict(self.resolved)), user=user) if self.resolved or user is not None else self

    def recorded(self) -> Recorded:
        """The part of it that planners and drivers see."""
        user = (self.user.address, self.user.attributes) if self.user is not None else None
        return Recorded(attributes=self.attributes, identity=self.identity, schema_version=self.schema_version, user=user)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Everything recorded. ``serial`` grows with every write; ``lineage`` never changes."""

    lineage: str
    serial: int = 0
    resources: Mapping[str, ResourceRecord] = field(default_factory=dict)
    outputs: Mapping[str, OutputValue] = field(default_factory=dict)
    features: tuple[str, ...] = ()
    dropped: tuple[ResourceRecord, ...] = ()
    """What is gone and can be brought back, the newest last, at most ``KEPT_DROPPED``; several may have had one address."""
    sealed: bool = field(default=True, compare=False)
    """Whether a digest vouches for it: without one, any part of it may have any shape."""

    def dropped_by_name(self) -> dict[str, ResourceRecord]:
        """What is dropped by what commands call it: its address, with its uuid where the address alone means another one too."""
        often = Counter([*self.resources, *(item.address for item in self.dropped)])
        return {item.address if often[item.address] == 1 else item.exact_name: item for item in self.dropped}


def with_dropped(dropped: tuple[ResourceRecord, ...], record: ResourceRecord) -> tuple[ResourceRecord, ...]:
    """These and one more; the oldest go when there are too many."""
    return (*without_dropped(dropped, record), record)[-KEPT_DROPPED:]


def without_dropped(dropped: tuple[ResourceRecord, ...], record: ResourceRecord) -> tuple[ResourceRecord, ...]:
    """These but for this object, which is there again."""
    return tuple(item for item in dropped if not item.is_same(record))


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


def encode_record(record: ResourceRecord) -> Data:
    """One record as JSON data."""
    return {
        "address": record.address,
        "type": record.type,
        "provider": record.provider,
        "schema_version": record.schema_version,
        "attributes": to_json(record.attributes),
        "identity": to_json(record.identity),
        "dependencies": list(record.dependencies),
        "protected": record.protected,
        "resolved": to_json(dict(record.resolved)),
        **({"upkeep": to_json(dict(record.upkeep))} if record.upkeep else {}),
        **({"user": encode_record(record.user)} if record.user is not None else {}),
    }


def decode_record(data: Data) -> ResourceRecord:
    """The inverse of ``encode_record``. Raises KeyError, TypeError or ValueError for what is no record."""
    return ResourceRecord(
        address=_text(data["address"]),
        type=_text(data["type"]),
        provider=_text(data["provider"]),
        schema_version=int(data["schema_version"]),
        attributes=_mapping(from_json(data["attributes"])),
        identity=_mapping(from_json(data["identity"])),
        dependencies=tuple(map(_text, data["dependencies"])),
        protected=bool(data["protected"]),
        resolved={key: _mapping(value) for key, value in _mapping(from_json(data["resolved"])).items()},
        upkeep={key: _mapping(value) for key, value in _mapping(from_json(data.get("upkeep", {}))).items()},
        user=decode_record(data["user"]) if data.get("user") is not None else None,
    )


def encode_output(output: OutputValue) -> dict[str, Data]:
    """An output as plain data; its type is left out where it is not known."""
    told = {"type": output.type} if output.type is not None else {}
    return {"value": to_json(output.value), "sensitive": output.sensitive, **told}


def decode_output(data: Data) -> OutputValue:
    """The inverse of ``encode_output``. Early versions recorded no types."""
    output = OutputValue(value=from_json(data["value"]), sensitive=bool(data["sensitive"]), type=data.get("type"))
    check(output, OutputValue)
    return output


def encode_snapshot(snapshot: Snapshot) -> bytes:
    """The snapshot's bytes; equal snapshots have equal bytes."""
    document: dict[str, Data] = {
        "format_version": FORMAT_VERSION,
        "features": list(snapshot.features),
        "lineage": snapshot.lineage,
        "serial": snapshot.serial,
        "outputs": {name: encode_output(output) for name, output in sorted(snapshot.outputs.items())},
        "resources": [encode_record(snapshot.resources[address]) for address in sorted(snapshot.resources)],
        **({"dropped": [encode_record(record) for record in snapshot.dropped]} if snapshot.dropped else {}),
    }
    document["digest"] = digest(document)
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def decode_snapshot(content: bytes, where: str) -> Snapshot:
    """The inverse of ``encode_snapshot``. Raises ``Damaged`` for what this version cannot understand."""
    try:
        document = read_json(content)
        version = document["format_version"]
        if version != FORMAT_VERSION:
            raise Damaged(where, f"it has format version {version}; this FlareIaC reads version {FORMAT_VERSION}", _NEWER)
        unknown = sorted(set(document["features"]) - KNOWN_FEATURES)
        if unknown:
            raise Damaged(where, f"it needs features that this FlareIaC does not have: {', '.join(unknown)}", _NEWER)
        sealed = "digest" in document  # early versions wrote none
        if sealed and document.pop("digest") != digest(document):
            raise Damaged(where, "it is not as FlareIaC wrote it: it was edited, or damaged", _EDITED)
        records = [decode_record(item) for item in document["resources"]]
        return Snapshot(
            lineage=_text(document["lineage"]),
            serial=int(document["serial"]),
            sealed=sealed,
            features=tuple(document["features"]),
            resources={record.address: record for record in records},
            dropped=tuple(map(decode_record, document.get("dropped", ()))),
            outputs={name: decode_output(item) for name, item in _mapping(document["outputs"]).items()},
        )
    except UNREADABLE as problem:
        raise Damaged(where, damage(problem, "a FlareIaC state")) from problem


def _text(value: Data) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, found {value!r}")
    return value


def _mapping(value: Data) -> Attributes:
    if not isinstance(value, dict):
        raise TypeError(f"expected an object, found {value!r}")
    return value
