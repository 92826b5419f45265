"""A recorded resource under another address, with everything in the state that refers to it. Pure."""

from collections.abc import Mapping
from dataclasses import replace

from flareiac.kernel.data import Data, Reference
from flareiac.model.applied_from import AppliedFrom
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.sdk.resource_type import ResourceType


def renamed(snapshot: Snapshot, old: str, new: str, types: Mapping[str, ResourceType]) -> Snapshot:
    """The state in which what was recorded as ``old`` is recorded as ``new``.

    Dropped resources keep the addresses that they had, and refer to the new one.
    """
    rename = _Renaming(old, new, types)
    records = [rename.record(record) for record in snapshot.resources.values()]
    return replace(
        snapshot,
        resources={record.address: record for record in records},
        dropped=tuple(replace(rename.record(record), address=record.address) for record in snapshot.dropped),
        applied=rename.applied(snapshot.applied),
    )


class _Renaming:
    def __init__(self, old: str, new: str, types: Mapping[str, ResourceType]) -> None:
        self._old, self._new, self._types = old, new, types

    def record(self, record: ResourceRecord) -> ResourceRecord:
        kind = self._types.get(record.type)
        identity = (
            record.identity if kind is None else kind.recording.renamed(record.identity, self._old, self._new)
        )
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
        return self._new if address == self._old else address

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
