"""The ``encryption`` block: where the passphrases are that the state and plans are encrypted with. Pure.

Nothing is evaluated: the state must be readable before anything that a variable could depend on.
"""

from collections.abc import Sequence
from typing import Final

from flareiac.config.own_blocks import ENCRYPTION
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.lang.syntax import BlockNode, literal_text

_EXAMPLE: Final = 'encryption { env = "STATE_PASSPHRASE" }'


@dataclass(frozen=True, slots=True, kw_only=True)
class PassphraseSource:
    """The source of a passphrase: an environment variable, or a file (relative to the root module)."""

    env: str | None = None
    file: str | None = None

    def __str__(self) -> str:
        return f"the environment variable {self.env}" if self.env is not None else f"the file {self.file}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EncryptionBlock:
    """``primary`` encrypts and decrypts; None: what is written is not encrypted any more. ``fallback``
    decrypts what ``primary`` does not.
    """

    primary: PassphraseSource | None
    fallback: PassphraseSource | None


def read_encryption(blocks: Sequence[BlockNode], diagnostics: Diagnostics) -> EncryptionBlock | None:
    """The one encryption that the blocks declare; None where there is none, or none that makes sense."""
    for other in blocks[1:]:
        _wrong("There is another encryption block. Remove one of the two.", other, diagnostics)
    if not blocks:
        return None
    block = blocks[0]
    primary, fallbacks = _source(block, diagnostics), block.body.blocks
    for nested in fallbacks:
        if nested.type != "fallback" or nested.labels:
            _wrong(f"It takes one block, fallback; not {nested.type}.", nested, diagnostics)
            return None
    for other in fallbacks[1:]:
        _wrong("There is another fallback block. Remove one of the two.", other, diagnostics)
    fallback = _source(fallbacks[0], diagnostics) if fallbacks else None
    if primary is None and fallback is None and not diagnostics.has_errors:
        _wrong(f"It names no passphrase. Write for example {_EXAMPLE}.", block, diagnostics)
    return EncryptionBlock(primary=primary, fallback=fallback)


def _source(block: BlockNode, diagnostics: Diagnostics) -> PassphraseSource | None:
    """Returns the source that a block names, None where it names none."""
    texts: dict[str, str] = {}
    for attribute in block.body.attributes:
        value = literal_text(attribute.expr)
        if attribute.name not in ENCRYPTION.attributes:
            why = f'There is no "{attribute.name}". It takes env or file, never a passphrase itself.'
            _wrong(why, block, diagnostics)
        elif not value:
            why = f"{attribute.name} is needed before anything is evaluated, so it takes a plain text."
            _wrong(why, block, diagnostics)
        else:
            texts[attribute.name] = value
    if len(texts) > 1:
        _wrong("It takes either env or file.", block, diagnostics)
    return PassphraseSource(env=texts.get("env"), file=texts.get("file")) if texts else None


def _wrong(why: str, block: BlockNode, diagnostics: Diagnostics) -> None:
    diagnostics.error(codes.INVALID_ENCRYPTION, why, subject=block.header_span)
