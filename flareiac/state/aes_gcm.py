"""AES-256-GCM: the one module that imports ``cryptography``, when something is encrypted or decrypted."""

import os
from typing import Final

NONCE_BYTES: Final = 12


def encrypt(key: bytes, plain: bytes, bound: bytes) -> tuple[bytes, bytes]:
    """A new random nonce, and the encrypted text with its tag; ``bound`` is authenticated with it."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = os.urandom(NONCE_BYTES)
    return nonce, AESGCM(key).encrypt(nonce, plain, bound)


def decrypt(key: bytes, nonce: bytes, encrypted: bytes, bound: bytes) -> bytes | None:
    """The plain text, None where anything is not what was encrypted."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        return AESGCM(key).decrypt(nonce, encrypted, bound)
    except (InvalidTag, ValueError):
        return None
