"""A record of a remote state: its header, its payload, and the bytes that both are kept as. Pure.

``flareiac-log 1 DIGEST``, the header as one line of JSON, the payload as it is. The digest is the SHA-256 of
all that follows its line. A header tells what a reader needs without the records before it: who holds the
lock, which snapshot counts, and which earlier ones are kept.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Final

from flareiac.kernel.data import read_json, write_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import decode, encode
from flareiac.sdk.state import Damaged, LockInfo, WrittenByNewer

HISTORY_KEPT: Final = 20
_ANY_VERSION: Final = b"flareiac-log "
_MAGIC: Final = b"flareiac-log 1 "
_FIRST_LINE: Final = len(_MAGIC) + 64 + 1
RESTORE: Final = (
    "Restore it from a backup, or from an earlier version where the place keeps versions. Or put an earlier "
    "snapshot back (flareiac state history, flareiac state rollback)."
)


class RecordKind(StrEnum):
    TAKE = "take"
    """The lock is taken: the holder before is fenced out, because this number is used."""
    RELEASE = "release"
    JOURNAL = "journal"
    """One or several records of the journal."""
    SNAPSHOT = "snapshot"
    DELETE = "delete"
    """The workspace was deleted: nothing before this counts, and the lock is released."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """The writer of a record. ``machine``, ``boot`` and ``namespace`` tell where its process can be looked
    for (see ``flareiac.kernel.host``).
    """

    lock: LockInfo
    machine: str = ""
    boot: str = ""
    namespace: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotMark:
    """A snapshot without its content. ``written`` is in UTC seconds by the clock of the place; 0 in the
    header of the snapshot itself, which is written before that is known.
    """

    number: int
    digest: str
    size: int
    written: float

    @property
    def revision(self) -> str:
        return f"{self.number}-{self.digest}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """``writer`` is unique to the record: two are the same only if one request was repeated. ``start`` is the
    number after which the journal begins, ``entries`` how many journal records there are since.
    """

    workspace: str
    number: int
    kind: RecordKind
    writer: str
    holder: Holder
    start: int = 0
    entries: int = 0
    snapshot: SnapshotMark | None = None
    earlier: tuple[SnapshotMark, ...] = ()

    @property
    def is_held(self) -> bool:
        """True if the lock is held after this record."""
        return self.kind not in (RecordKind.RELEASE, RecordKind.DELETE)

    def with_snapshot(self, content: bytes) -> "Header":
        """The header of the record that puts this snapshot in place."""
        mark = SnapshotMark(number=self.number, digest=short_digest(content), size=len(content), written=0.0)
        earlier = ((self.snapshot,) if self.snapshot else ()) + self.earlier
        return replace(self, snapshot=mark, earlier=earlier[:HISTORY_KEPT], start=self.number, entries=0)

    def dated(self, written: float) -> "Header":
        """The same with the time at which the record's own snapshot was written."""
        if self.snapshot is None or self.snapshot.written:
            return self
        return replace(self, snapshot=replace(self.snapshot, written=written))

    def emptied(self) -> "Header":
        """The header of the record that deletes the workspace."""
        return replace(self, snapshot=None, earlier=(), start=self.number, entries=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    header: Header
    payload: bytes


def short_digest(content: bytes) -> str:
    """The digest of a snapshot's content that a revision shows."""
    return hashlib.sha256(content).hexdigest()[:16]


def encode_record(record: Record) -> bytes:
    """The bytes that a record is kept as."""
    header = write_json(encode(record.header), compact=True, sort_keys=True).encode()
    rest = header + b"\n" + record.payload
    return _MAGIC + hashlib.sha256(rest).hexdigest().encode() + b"\n" + rest


def decode_record(content: bytes, *, workspace: str, number: int, where: str) -> Record:
    """The record of this number. Raises ``Damaged`` for anything but what was written there."""
    if content.startswith(_ANY_VERSION) and not content.startswith(_MAGIC) and len(content) >= len(_MAGIC):
        raise WrittenByNewer(
            where, f"record {number} has a version that this release of FlareIaC does not read"
        )
    if content[: len(_MAGIC)] != _MAGIC:
        raise Damaged(where, f"record {number} is not one that this release of FlareIaC wrote", RESTORE)
    rest = content[_FIRST_LINE:]
    if content[len(_MAGIC) : _FIRST_LINE] != hashlib.sha256(rest).hexdigest().encode() + b"\n":
        raise Damaged(where, f"record {number} was cut off or edited (its checksum differs)", RESTORE)
    head, _, payload = rest.partition(b"\n")
    try:
        header = decode(Header, read_json(head))
    except (ValueError, TypeError, RecursionError) as problem:
        raise Damaged(
            where, f"record {number} has no header that is understood: {problem}", RESTORE
        ) from None
    if (header.workspace, header.number) != (workspace, number):
        why = f"record {number} is a copy of record {header.number} of the workspace {header.workspace!r}"
        raise Damaged(where, why, RESTORE)
    return Record(header=header, payload=payload)


def missing_record(number: int, where: str) -> Damaged:
    """Something deleted a record that others build on."""
    return Damaged(where, f"record {number} is missing, and later ones build on it", RESTORE)


def join_entries(entries: Sequence[bytes]) -> bytes:
    """Journal records as one payload."""
    return b"".join(b"%d:%b" % (len(entry), entry) for entry in entries)


def split_entries(payload: bytes) -> list[bytes]:
    """The journal records of a payload that ``join_entries`` made."""
    entries, at = [], 0
    while at < len(payload):
        colon = payload.index(b":", at)
        end = colon + 1 + int(payload[at:colon])
        entries.append(payload[colon + 1 : end])
        at = end
    return entries
