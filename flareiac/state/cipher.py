"""Encrypts and decrypts what is kept of a project, with keys derived from passphrases. Reads a passphrase and
derives a key only when something is encrypted or is to be; each once.
"""

import hashlib
import hmac
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from typing import Final

from flareiac.kernel import codes
from flareiac.kernel.codes import Code
from flareiac.kernel.diagnostics import Failure, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.state import Damaged
from flareiac.state.aes_gcm import decrypt, encrypt
from flareiac.state.envelope import (
    Envelope,
    Scrypt,
    decode_envelope,
    encode_envelope,
    from_text,
    is_encrypted,
    to_text,
)

_SALT_BYTES: Final = 16
_KEY_DIGITS: Final = 16
_CHANGED: Final = "it is not what was encrypted: it was changed, cut off or moved here from another place"


class Purpose(StrEnum):
    """The purpose of a text: one is never taken for another."""

    SNAPSHOT = "snapshot"
    JOURNAL = "journal"
    EMERGENCY = "emergency"
    PLAN = "plan"


@dataclass(frozen=True, slots=True, kw_only=True)
class Passphrase:
    """``read`` gets it (raises ``PassphraseMissing``); ``name`` says where it is, never what it is."""

    name: str
    read: Callable[[], bytes]


class PassphraseMissing(Failure):
    """The passphrase that something is or shall be encrypted with is not named, not available, or another
    one.
    """

    def __init__(self, code: Code, why: str, where: str = "") -> None:
        """``where`` begins the sentence that ``why`` ends; empty where ``why`` is a whole one."""
        super().__init__(error(code, f"{where} {why}" if where else why))
        self._code, self._why, self._where = code, why, where

    def at(self, where: str) -> "PassphraseMissing":
        """The same, said of another place."""
        return PassphraseMissing(self._code, self._why, where if self._where else "")


class Cipher:
    """Safe to use from several threads. Without ``primary``, what is written stays as it is; without both,
    nothing encrypted can be read.
    """

    def __init__(
        self, primary: Passphrase | None = None, fallback: Passphrase | None = None, *, n: int = 2**17
    ) -> None:
        self._primary, self._fallback, self._n = primary, fallback, n
        self._lock = threading.Lock()
        self._keys: dict[tuple[str, Scrypt], bytes] = {}
        self._kdf: Scrypt | None = None

    @property
    def encrypts(self) -> bool:
        return self._primary is not None

    def seal(self, plain: bytes, purpose: Purpose, bound: str = "") -> bytes:
        """Returns the stored form of a text; ``bound`` must be named again to read it. Raises
        ``PassphraseMissing``.
        """
        if self._primary is None:
            return plain
        with self._lock:
            # One salt for all that a process writes, that of what it has read: one key to derive.
            if self._kdf is None:
                self._kdf = Scrypt(n=self._n, salt=to_text(os.urandom(_SALT_BYTES)))
            key = self._key(self._primary, self._kdf)
        envelope = Envelope(purpose=purpose.value, bound=bound, kdf=self._kdf, key=_name(key))
        nonce, data = encrypt(key, plain, envelope.authenticated)
        return encode_envelope(replace(envelope, nonce=to_text(nonce), data=to_text(data)))

    def open(self, content: bytes, purpose: Purpose, where: str, bound: str = "") -> bytes:
        """The inverse of ``seal``; what is not encrypted comes back as it is. ``where`` begins the sentence
        that says why it cannot be opened. Raises ``PassphraseMissing``, and ``Damaged`` for what is not as
        it was written.
        """
        if not is_encrypted(content):
            return content
        envelope = decode_envelope(content, where)
        key = self._key_of(envelope, where)
        if (envelope.purpose, envelope.bound) != (purpose.value, bound):
            raise Damaged(where, _CHANGED)
        nonce, data = from_text(envelope.nonce), from_text(envelope.data)
        plain = decrypt(key, nonce, data, envelope.authenticated)
        if plain is None:
            raise Damaged(where, _CHANGED)
        return plain

    def _key_of(self, envelope: Envelope, where: str) -> bytes:
        known = [passphrase for passphrase in (self._primary, self._fallback) if passphrase is not None]
        if not known:
            raise PassphraseMissing(codes.STATE_IS_ENCRYPTED, f"is encrypted. {_NO_BLOCK}", where)
        with self._lock:
            self._kdf = self._kdf or envelope.kdf
            for passphrase in known:
                key = self._key(passphrase, envelope.kdf)
                if hmac.compare_digest(_name(key), envelope.key):
                    return key
        names = " and ".join(passphrase.name for passphrase in known)
        why = (
            f"was encrypted with another passphrase than the one in {names}. Nothing was changed. If the "
            "passphrase was replaced, name the old one in a fallback block inside of the encryption block."
        )
        raise PassphraseMissing(codes.WRONG_PASSPHRASE, why, where)

    def _key(self, passphrase: Passphrase, kdf: Scrypt) -> bytes:
        known = self._keys.get((passphrase.name, kdf))
        if known is None:
            known = self._keys[passphrase.name, kdf] = hashlib.scrypt(
                passphrase.read(),
                salt=from_text(kdf.salt),
                n=kdf.n,
                r=kdf.r,
                p=kdf.p,
                maxmem=256 * kdf.n * kdf.r,
                dklen=32,
            )
        return known


_NO_BLOCK: Final = (
    "Name its passphrase in the flareiac block, with env or file:\n\n"
    '    encryption {\n      env = "STATE_PASSPHRASE"\n    }\n\n'
    "To stop encrypting, name it as a fallback until the next apply has written the state:\n\n"
    '    encryption {\n      fallback {\n        env = "STATE_PASSPHRASE"\n      }\n    }'
)


def _name(key: bytes) -> str:
    return hmac.new(key, b"flareiac key", hashlib.sha256).hexdigest()[:_KEY_DIGITS]
