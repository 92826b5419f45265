"""The form of what is encrypted: one line of JSON that says how, so that a later version can still read it.
Pure.

``flareiac_encrypted`` is the version of this form. All but ``nonce`` and ``data`` is authenticated with the
text: what it is for (``purpose``), and where it belongs (``bound``).
"""

import base64
from typing import Final, Literal

from flareiac.kernel.data import read_json, write_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import decode, encode
from flareiac.model.damage import UNREADABLE, damage
from flareiac.sdk.state import Damaged

_BEGINS: Final = b'{"flareiac_encrypted":'
_LARGEST: Final = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrypt:
    """The parameters that derive a key from a passphrase (RFC 7914); ``salt`` in base64."""

    name: Literal["scrypt"] = "scrypt"
    n: int = 2**17
    r: int = 8
    p: int = 1
    salt: str

    @property
    def is_sane(self) -> bool:
        """Returns True if it takes no more memory than a command should."""
        power = self.n > 1 and self.n & (self.n - 1) == 0
        return power and self.n <= _LARGEST and self.r == 8 and self.p == 1 and bool(self.salt)


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """``key``: the first digits of a digest that tells one derived key from another; it tells nothing of the
    key itself.
    """

    flareiac_encrypted: Literal[1] = 1
    cipher: Literal["AES-256-GCM"] = "AES-256-GCM"
    purpose: str
    bound: str = ""
    kdf: Scrypt
    key: str
    nonce: str = ""
    data: str = ""

    @property
    def authenticated(self) -> bytes:
        """Returns the bytes that are authenticated beside the text."""
        document = encode(self)
        del document["nonce"], document["data"]
        return write_json(document, compact=True, sort_keys=True).encode()


def is_encrypted(content: bytes) -> bool:
    """Returns True if a stored text is an envelope."""
    return content.startswith(_BEGINS)


def encode_envelope(envelope: Envelope) -> bytes:
    return write_json(encode(envelope), compact=True).encode()


def decode_envelope(content: bytes, where: str) -> Envelope:
    """The inverse of ``encode_envelope``. Raises ``Damaged``."""
    try:
        document = read_json(content)
        if document["flareiac_encrypted"] != 1:
            raise Damaged(where, "it is encrypted in a form of a later FlareIaC", "Use that version.")
        envelope = decode(Envelope, document, complete=True)
        for text in (envelope.kdf.salt, envelope.nonce, envelope.data):
            from_text(text)
    except UNREADABLE as problem:
        raise Damaged(where, damage(problem, "what FlareIaC has encrypted")) from problem
    if not envelope.kdf.is_sane:
        raise Damaged(where, "its key derivation is none that FlareIaC uses")
    return envelope


def to_text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def from_text(text: str) -> bytes:
    """Raises ``ValueError``."""
    return base64.b64decode(text, validate=True)
