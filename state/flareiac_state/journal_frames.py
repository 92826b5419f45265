"""The journal's bytes: frames one after another, each with its length and checksums, so that a cut one is
distinguished from a damaged one.

A frame is ``KIND LENGTH EPOCH SUM CHECK PAYLOAD\\n``: one letter, four numbers of eight hex digits, the
payload as it is. ``SUM`` is the CRC-32 of the payload, and ``CHECK`` that of the header before it, continued
from the ``CHECK`` of the frame before: a frame that was left out, doubled or moved breaks the chain. Early
versions wrote each ``CHECK`` by itself, which is still read. Pure.
"""

import re
import zlib
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.state import Damaged

_HEADER: Final = len("r 00000000 00000000 00000000 00000000 ")
_CHECK: Final = len("00000000 ")
START: Final = 1
"""The chain value that the first frame of a journal continues."""
_ALONE: Final = 0
"""The chain value that a frame continues which stands by itself."""
_OUT_OF_ORDER: Final = "a record was left out, doubled or moved"
_SHAPE: Final = re.compile(rb"([brs])" + 4 * rb" ([0-9a-f]{8})" + b" ")


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
    """Whole frames, oldest first; ``end`` is where they end; ``torn`` when bytes of a cut frame follow.
    ``chain``: what the next frame continues.
    """

    items: tuple[Frame, ...]
    end: int
    torn: bool
    chain: int = START


def encode_frames(frames: Iterable[Frame], chain: int = START) -> tuple[bytes, int]:
    """The bytes of frames that follow one with this ``chain``, and what the next one continues."""
    encoded = bytearray()
    for frame in frames:
        head = (
            f"{frame.kind.value} {len(frame.payload):08x} {frame.epoch & 0xFFFFFFFF:08x} "
            f"{zlib.crc32(frame.payload):08x} "
        ).encode()
        chain = zlib.crc32(head, chain)
        encoded += head + f"{chain:08x} ".encode() + frame.payload + b"\n"
    return bytes(encoded), chain


def encode_frame(frame: Frame) -> bytes:
    """One frame's bytes as early versions wrote them, each by itself."""
    return encode_frames([frame], _ALONE)[0]


def decode_frames(content: bytes, where: str) -> Frames:
    """All whole frames. Raises ``Damaged`` when bytes that were once written whole are not what they were."""
    items: list[Frame] = []
    # A machine that lost power may have made the file longer without writing the last pages: they read as
    # zeros.
    at, written, chain, is_early = 0, len(content.rstrip(b"\0")), START, True
    while at < len(content):
        read = _frame(content, at, written, where, (chain, _ALONE) if is_early else (chain,))
        if read is None:
            return Frames(items=tuple(items), end=at, torn=True, chain=chain)
        frame, chain = read
        # A chain that has begun goes on: early versions cannot append to it.
        is_early = is_early and chain == zlib.crc32(content[at : at + _HEADER - _CHECK])
        items.append(frame)
        at += _HEADER + len(frame.payload) + 1
    return Frames(items=tuple(items), end=at, torn=False, chain=chain)


def _frame(
    content: bytes, at: int, written: int, where: str, chains: Sequence[int]
) -> tuple[Frame, int] | None:
    """The frame with its ``CHECK``, None for one that was cut off. It may continue any of ``chains``."""
    # A header does not end with a zero.
    if written < at + _HEADER:
        return None
    head = content[at : at + _HEADER]
    kind, length, epoch, checksum, check = _header(head, at, where)
    end = at + _HEADER + length
    if check not in [zlib.crc32(head[:-_CHECK], chain) for chain in chains]:
        is_whole = zlib.crc32(content[at + _HEADER : end]) == checksum
        raise Damaged(where, f"{_OUT_OF_ORDER if is_whole else 'no record begins'} at byte {at}")
    payload, closing = content[at + _HEADER : end], content[end : end + 1]
    if not closing:
        return None
    if zlib.crc32(payload) != checksum or closing != b"\n":
        if end + 1 >= written and written < len(content):
            return None
        raise Damaged(where, f"the record at byte {at} is not what was written (its checksum differs)")
    return Frame(kind=kind, payload=payload, epoch=epoch), check


def _header(head: bytes, at: int, where: str) -> tuple[FrameKind, int, int, int, int]:
    match = _SHAPE.fullmatch(head)
    if match is None:
        raise Damaged(where, f"no record begins at byte {at}")
    kind, *numbers = match.groups()
    length, epoch, checksum, check = (int(number, 16) for number in numbers)
    return FrameKind(kind.decode()), length, epoch, checksum, check
