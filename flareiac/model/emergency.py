"""The emergency file: journal records that could not be written to the state. Pure.

One line of JSON says where they belong, each further line is one record; every line begins with the checksum
of the rest of it. A last line that was cut off is recognised and left out.
"""

import hashlib
from collections.abc import Callable
from typing import Final, Literal

from flareiac.kernel.data import read_json, write_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import decode, encode
from flareiac.model.damage import UNREADABLE, damage
from flareiac.sdk.state import Damaged

_SUM: Final = 16
_KIND: Final = "a FlareIaC emergency file"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmergencyHeader:
    """Where the records belong: into the journal of this state after its snapshot with this serial, after
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
    """What an emergency file holds, records oldest first; ``torn``: the last one was cut off."""

    header: EmergencyHeader
    records: tuple[bytes, ...]
    torn: bool


def encode_header(header: EmergencyHeader) -> bytes:
    """The payload of the first line."""
    return write_json(encode(header), compact=True).encode()


def encode_line(payload: bytes) -> bytes:
    """One line of the file."""
    return f"{_checksum(payload)} ".encode() + payload + b"\n"


def decode_emergency(content: bytes, where: str, unseal: Callable[[bytes], bytes]) -> EmergencyJournal:
    """The content of a whole file. Raises ``Damaged``, and what ``unseal`` raises."""
    whole, torn = content.endswith(b"\n"), content.splitlines()
    lines = torn if whole else torn[:-1]
    if not lines:
        raise Damaged(where, "it holds nothing")
    payloads = [unseal(_payload(line, where, number)) for number, line in enumerate(lines, 1)]
    try:
        header = decode(EmergencyHeader, read_json(payloads[0]), complete=True)
    except UNREADABLE as problem:
        raise Damaged(where, damage(problem, _KIND)) from problem
    if len(payloads) == 1:
        raise Damaged(where, "it was cut off: no record of it is left")
    return EmergencyJournal(header=header, records=tuple(payloads[1:]), torn=not whole)


def _payload(line: bytes, where: str, number: int) -> bytes:
    checksum, _, payload = line.partition(b" ")
    if checksum != _checksum(payload).encode():
        what = "it is not an emergency file" if number == 1 else f"line {number} is not what was written"
        raise Damaged(where, what)
    return payload


def _checksum(payload: bytes) -> str:
    return hashlib.sha256(payload).hexdigest()[:_SUM]
