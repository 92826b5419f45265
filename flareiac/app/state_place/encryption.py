"""The cipher of a project, as its ``encryption`` block says. Touches the environment and files, when a
passphrase is needed.
"""

import os
from pathlib import Path
from typing import Final

from flareiac.config.encryption import EncryptionBlock, PassphraseSource
from flareiac.kernel import codes
from flareiac.sdk.secrets import remember, secret_file
from flareiac.state.cipher import Cipher, Passphrase, PassphraseMissing

_SHORTEST: Final = 16


def cipher_of(block: EncryptionBlock | None, root: Path) -> Cipher:
    """The cipher of the project in ``root``; without a block, it encrypts nothing."""
    if block is None:
        return Cipher()
    return Cipher(_passphrase(block.primary, root), _passphrase(block.fallback, root))


def _passphrase(source: PassphraseSource | None, root: Path) -> Passphrase | None:
    return None if source is None else Passphrase(name=str(source), read=lambda: _read(source, root))


def _read(source: PassphraseSource, root: Path) -> bytes:
    text = _from_file(root / source.file, source) if source.file is not None else _from_environment(source)
    if len(text) < _SHORTEST:
        why = f"The passphrase in {source} is shorter than {_SHORTEST} bytes. Nothing was changed."
        raise PassphraseMissing(codes.PASSPHRASE_UNAVAILABLE, why)
    remember(text.decode(errors="replace"))
    return text


def _from_environment(source: PassphraseSource) -> bytes:
    value = os.environb.get((source.env or "").encode())
    if value is None:
        why = f"{source} is not set, and the state is or shall be encrypted. Nothing was changed. Set it."
        raise PassphraseMissing(codes.PASSPHRASE_UNAVAILABLE, why[0].upper() + why[1:])
    return value


def _from_file(path: Path, source: PassphraseSource) -> bytes:
    try:
        return secret_file(path).rstrip(b"\r\n")
    except OSError as problem:
        why = f"{source}: {problem.strerror or problem}. It holds the passphrase. Nothing was changed."
        raise PassphraseMissing(codes.PASSPHRASE_UNAVAILABLE, why[0].upper() + why[1:]) from problem
