"""The emergency file: journal records that could not be written to the state. Pure.

One line of JSON says where they belong, each further line is one record; every line begins with the checksum
of the rest of it, continued from the checksum of the line before: a line that was left out, doubled or moved
breaks the chain. A last line that was cut off is recognised and left out. Early versions wrote each checksum
by itself, which is still read.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Literal

from flareiac.kernel.data import read_json, write_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import decode, encode
from flareiac.model.damage import UNREADABLE, damage
from flareiac.sdk.state import Damaged

START: Final = b""
"""The value that the first line of a file continues."""
_SUM: Final = 16
_KIND: Final = "a FlareIaC emergency file"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmergencyHeader:
    """The position of the records: in the journal of this state after its snapshot with this serial, after
    ``after`` records of that journal.
    """

    kind: Literal["flareiac-emergency"] = "flareiac-emergency"
    format_version: Literal[1] = 1
    lineage: str
    serial: int
    after: int
    apply: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EmergencyJournal:
    """The content of an emergency file, records oldest first; ``torn``: the last one was cut off."""

    header: EmergencyHeader
    records: tuple[bytes, ...]
    torn: bool


def encode_header(header: EmergencyHeader) -> bytes:
    """The payload of the first line."""
    return write_json(encode(header), compact=True).encode()


def encode_lines(payloads: Iterable[bytes], chain: bytes = START) -> tuple[bytes, bytes]:
    """Lines of the file that follow one with this ``chain``, and what the next one continues."""
    lines = bytearray()
    for payload in payloads:
        chain = _checksum(payload, chain)
        lines += chain + b" " + payload + b"\n"
    return bytes(lines), chain


def decode_emergency(content: bytes, where: str, unseal: Callable[[bytes], bytes]) -> EmergencyJournal:
    """The content of a whole file. Raises ``Damaged``, and what ``unseal`` raises."""
    whole, torn = content.endswith(b"\n"), content.splitlines()
    lines = torn if whole else torn[:-1]
    if not lines:
        raise Damaged(where, "it holds nothing")
    payloads = [unseal(payload) for payload in _payloads(lines, where)]
    try:
        header = decode(EmergencyHeader, read_json(payloads[0]), complete=True)
    except UNREADABLE as problem:
        raise Damaged(where, damage(problem, _KIND)) from problem
    if len(payloads) == 1:
        raise Damaged(where, "it was cut off: no record of it is left")
    return EmergencyJournal(header=header, records=tuple(payloads[1:]), torn=not whole)


def _payloads(lines: Sequence[bytes], where: str) -> Iterator[bytes]:
    chain, is_early = START, True
    for number, line in enumerate(lines, 1):
        checksum, _, payload = line.partition(b" ")
        is_chained = checksum == _checksum(payload, chain)
        # A chain that has begun goes on; the first line is the same in both.
        is_early = is_early and (number == 1 or not is_chained)
        if not is_chained and not (is_early and checksum == _checksum(payload, START)):
            what = f"line {number} is not what was written, or not in its place"
            raise Damaged(where, what if number > 1 else "it is not an emergency file")
        chain = checksum
        yield payload


def _checksum(payload: bytes, chain: bytes) -> bytes:
    return hashlib.sha256(chain + payload).hexdigest()[:_SUM].encode()
