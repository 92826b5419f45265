"""The journal's bytes: frames one after another, each with its length and checksums, so that a cut one is
distinguished from a damaged one.

A frame is ``KIND LENGTH EPOCH SUM CHECK PAYLOAD\\n``: one letter, four numbers of eight hex digits, the
payload as it is. ``SUM`` is the CRC-32 of the payload and ``CHECK`` that of the header before it. Pure.
"""

import zlib
from enum import StrEnum

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.state import Damaged

_HEADER = len("r 00000000 00000000 00000000 00000000 ")


class FrameKind(StrEnum):
    BASE = "b"
    """The first frame: the revision of the snapshot that the records come after (empty: there was none)."""
    RECORD = "r"
    SEALED = "s"
    """A snapshot with this revision, holding every record before this frame, was about to be put in place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    kind: FrameKind
    payload: bytes
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Frames:
    """Whole frames, oldest first; ``end`` is where they end; ``torn`` when bytes of a cut frame follow."""

    items: tuple[Frame, ...]
    end: int
    torn: bool


def encode_frame(frame: Frame) -> bytes:
    """One frame's bytes."""
    head = (
        f"{frame.kind.value} {len(frame.payload):08x} {frame.epoch & 0xFFFFFFFF:08x} "
        f"{zlib.crc32(frame.payload):08x} "
    ).encode()
    return head + f"{zlib.crc32(head):08x} ".encode() + frame.payload + b"\n"


def decode_frames(content: bytes, where: str) -> Frames:
    """All whole frames. Raises ``Damaged`` when bytes that were once written whole are not what they were."""
    items: list[Frame] = []
    # A machine that lost power may have made the file longer without writing the last pages: they read as
    # zeros.
    at, written = 0, len(content.rstrip(b"\0"))
    while at < len(content):
        found = _frame(content, at, written, where)
        if found is None:
            return Frames(items=tuple(items), end=at, torn=True)
        items.append(found)
        at += _HEADER + len(found.payload) + 1
    return Frames(items=tuple(items), end=at, torn=False)


def _frame(content: bytes, at: int, written: int, where: str) -> Frame | None:
    # A header does not end with a zero.
    if written < at + _HEADER:
        return None
    kind, length, epoch, checksum = _header(content[at : at + _HEADER], at, where)
    end = at + _HEADER + length
    payload, closing = content[at + _HEADER : end], content[end : end + 1]
    if not closing:
        return None
    if zlib.crc32(payload) != checksum or closing != b"\n":
        if end + 1 >= written and written < len(content):
            return None
        raise Damaged(where, f"the record at byte {at} is not what was written (its checksum differs)")
    return Frame(kind=kind, payload=payload, epoch=epoch)


def _header(head: bytes, at: int, where: str) -> tuple[FrameKind, int, int, int]:
    body, check = head[:-9], head[-9:]
    if check != f"{zlib.crc32(body):08x} ".encode():
        raise Damaged(where, f"no record begins at byte {at}")
    kind, length, epoch, checksum = body.split()
    return FrameKind(kind.decode()), int(length, 16), int(epoch, 16), int(checksum, 16)
