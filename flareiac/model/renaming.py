"""Recorded resources under other addresses, with everything in the state that refers to them. Pure."""

from collections.abc import Mapping
from dataclasses import replace

from flareiac.kernel.data import Attributes, Data, Reference
from flareiac.model.applied_from import AppliedFrom
from flareiac.model.snapshot import ResourceRecord, Snapshot, known_addresses
from flareiac.sdk.resource_type import ResourceType


def renamed(snapshot: Snapshot, moves: Mapping[str, str], types: Mapping[str, ResourceType]) -> Snapshot:
    """The state in which what was recorded under the addresses of ``moves`` is recorded under the new ones.

    Dropped resources keep the addresses that they had, and refer to the new ones. A name that follows from a
    label stays what it was: the state remembers the address that names are made of.
    """
    known = {*known_addresses(snapshot), *snapshot.named_after}
    moves = {old: new for old, new in moves.items() if old in known}
    if not moves:
        return snapshot
    rename = _Renaming(moves, types)
    records = [rename.record(record) for record in snapshot.resources.values()]
    return replace(
        snapshot,
        resources={record.address: record for record in records},
        dropped=tuple(replace(rename.record(record), address=record.address) for record in snapshot.dropped),
        applied=rename.applied(snapshot.applied),
        named_after=_named_after(snapshot.named_after, moves),
    )


def by_old_address(by_new: Mapping[str, Attributes], moves: Mapping[str, str]) -> dict[str, Attributes]:
    """A mapping by new addresses, by those that the state has while nothing is moved yet."""
    before = {new: old for old, new in moves.items()}
    return {before.get(address, address): value for address, value in by_new.items()}


def _named_after(before: Mapping[str, str], moves: Mapping[str, str]) -> dict[str, str]:
    """The addresses that names are made of, by the address now; nothing of what is named after itself."""
    kept = {now: first for now, first in before.items() if now not in moves}
    moved = {new: before.get(old, old) for old, new in moves.items()}
    return {now: first for now, first in sorted({**kept, **moved}.items()) if now != first}


class _Renaming:
    def __init__(self, moves: Mapping[str, str], types: Mapping[str, ResourceType]) -> None:
        self._moves, self._types = moves, types

    def record(self, record: ResourceRecord) -> ResourceRecord:
        kind = self._types.get(record.type)
        identity = record.identity
        if kind is not None:
            identity = kind.recording.renamed(identity, record.address, self._moves)
        return replace(
            record,
            address=self._address(record.address),
            attributes=self._data(record.attributes),
            identity=self._data(identity),
            dependencies=tuple(self._address(dependency) for dependency in record.dependencies),
            resolved={
                self._address(address): self._data(attributes)
                for address, attributes in record.resolved.items()
            },
            user=self.record(record.user) if record.user is not None else None,
        )

    def applied(self, applied: AppliedFrom | None) -> AppliedFrom | None:
        if applied is None:
            return None
        readers = tuple(replace(reader, subject=self._address(reader.subject)) for reader in applied.readers)
        return replace(applied, readers=readers)

    def _address(self, address: str) -> str:
        return self._moves.get(address, address)

    def _data(self, value: Data) -> Data:
        match value:
            case Reference(address):
                return Reference(self._address(address))
            case dict():
                return {key: self._data(member) for key, member in value.items()}
            case list() | tuple():
                return [self._data(element) for element in value]
            case _:
                return value
