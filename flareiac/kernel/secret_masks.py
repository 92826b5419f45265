"""Masks secrets in text that systems gave: a server's answer may hold the request with its token.

Every secret that this process resolves is remembered here (``remember``), and whatever is said, logged or
stored of the world's answers passes ``masked``. The one module that keeps something for the whole process: a
secret is one for all of it, and who prints a text does not know which connection it came through.
"""

import base64
import re
import threading
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote, quote_plus

from flareiac.kernel.lazy_dataclass import dataclass

MASK: Final = "(sensitive)"
SHORTEST: Final = 4
"""Shorter secrets are not masked: their letters are part of ordinary words."""
_WORDS_BELOW: Final = 8
"""Shorter ones are masked as whole words only, for the same reason."""
_LINE_SHORTEST: Final = 16
"""A line of a secret of several lines (a key in PEM) is masked by itself from this length on."""
_LONGEST_BY_SIGN: Final = 1024
"""A longer secret is looked for as it is, and not in other spellings of each sign."""
_CORE_SHORTEST: Final = 8
_SEARCHED_WHOLE: Final = 64 * 1024
"""In a longer text the spellings of a secret are looked for only where its longest plain part occurs."""

_LOGIN: Final = re.compile(
    r"(?P<kept>\b(?:[Bb]earer|BEARER|[Bb]asic|BASIC)(?:\s+|%20|\+))"
    r"(?=[A-Za-z._~+/=-]{0,200}[0-9]|[A-Za-z._~+/=-]{24})[A-Za-z0-9._~+/=-]{8,}"
    r"|(?P<named>\b(?:client_secret|access_token|refresh_token|id_token)(?:=|\\*\"\s*:\s*\\*\"))[^&\"\\\s,;]+"
)
"""Tokens by the place where they stand: the JVM is given tokens that this process never sees."""
_RUN: Final = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}")
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?')
_NAMED: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#(?:39|x27);"}
_ESCAPES: Final = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mask:
    """``plain``: the longest part that no encoding spells otherwise; ``cores``: what each base64 text that
    holds the secret has, wherever it begins there.
    """

    pattern: re.Pattern[str]
    plain: str
    cores: tuple[str, ...]

    def over(self, run: re.Match[str]) -> str:
        """``MASK`` in place of a base64 text that holds the secret."""
        return MASK if any(core in run[0] for core in self.cores) else run[0]


_GUARD: Final = threading.Lock()
_MASKS: dict[str, _Mask] = {}


def remember(secret: str) -> None:
    """From now on ``masked`` masks this text in every spelling."""
    for part in _parts(secret):
        if part not in _MASKS:
            mask = _mask(part)
            with _GUARD:
                # A new mapping, longest secrets first: others may be reading the old one.
                ordered = sorted({**_MASKS, part: mask}.items(), key=lambda entry: -len(entry[0]))
                _MASKS.clear()
                _MASKS.update(ordered)


def forget() -> None:
    """Remembers no secret any more: for one process that acts for several, as in tests."""
    with _GUARD:
        _MASKS.clear()


def masked(text: str) -> str:
    """The text with ``MASK`` in place of each secret: as it is, in base64 (alone or in a longer text), and
    with any of its signs as URLs, JSON, HTML or mails spell them.
    """
    if not text:
        return text
    with _GUARD:
        masks = tuple(_MASKS.values())
    for mask in masks:
        if mask.plain in text or len(text) <= _SEARCHED_WHOLE:
            text = mask.pattern.sub(MASK, text)
        if any(core in text for core in mask.cores):
            text = _RUN.sub(mask.over, text)
    return _LOGIN.sub(lambda match: f"{match['kept'] or match['named']}{MASK}", text)


def masked_json(text: str) -> str:
    """As ``masked``, within the texts of a JSON document; its names and all else stay as they are."""
    if masked(text) == text:
        return text
    return _QUOTED.sub(lambda match: match[0] if match[2] else f'"{masked(match[1])}"', text)


def _parts(secret: str) -> Iterator[str]:
    """The secret, the part behind the name of ``name:secret``, and the long lines of several."""
    text = secret.strip()
    name, colon, rest = text.partition(":")
    candidates = [text, *([rest] if colon and name and len(rest) >= _WORDS_BELOW else ())]
    lines = text.splitlines()
    candidates += [line.strip() for line in lines if len(lines) > 1 and "-----" not in line]
    for at, part in enumerate(dict.fromkeys(candidates)):
        if len(part) >= (SHORTEST if at == 0 else _WORDS_BELOW if part == rest else _LINE_SHORTEST):
            yield part


def _mask(secret: str) -> _Mask:
    by_sign = len(secret) <= _LONGEST_BY_SIGN
    signs = re.findall(r"\s+|\S", secret)
    pattern = "".join(map(_spellings, signs)) if by_sign else re.escape(secret)
    if len(secret) < _WORDS_BELOW:
        pattern = f"(?<![A-Za-z0-9]){pattern}(?![A-Za-z0-9])"
    plain = max(re.findall(r"[A-Za-z0-9]+", secret) or [secret], key=len)
    forms = (secret, quote(secret, safe="", errors="replace"), quote_plus(secret, errors="replace"))
    cores = {core: None for form in forms for core in _cores(form.encode(errors="replace"))}
    return _Mask(pattern=re.compile(pattern), plain=plain, cores=tuple(cores) if by_sign else ())


def _spellings(sign: str) -> str:
    """A pattern for one sign of a secret in any spelling. A run of blanks counts as one sign: who folds the
    lines of a text makes one of several.
    """
    if len(sign) > 1:
        return f"(?:{'|'.join(map(_spelled, dict.fromkeys(sign)))})+"
    return f"{_spelled(sign)}{'+' if sign.isspace() else ''}"


def _spelled(sign: str) -> str:
    octets = sign.encode(errors="replace")
    by_octets = "".join(f"[%=](?:25)*(?i:{octet:02x})" for octet in octets)
    units = sign.encode("utf-16-be", errors="replace")
    by_units = "".join(rf"\\+u(?i:{units[at : at + 2].hex()})" for at in range(0, len(units), 2))
    patterns = [by_octets, by_units]
    if sign.isspace():
        patterns += [r"\s", r"\+"]
    if sign in _NAMED:
        patterns.append(_NAMED[sign])
    if sign in _ESCAPES:
        patterns.append(rf"\\+{_ESCAPES[sign]}")
    own = r"\\+" if sign == "\\" else rf"\\*{re.escape(sign)}" if not sign.isalnum() else re.escape(sign)
    return f"(?:{'|'.join([own, *patterns])})"


def _cores(secret: bytes) -> Iterator[str]:
    """The base64 texts of a secret at each of the three places where it may begin in a group of letters,
    without the letters that depend on its neighbours.
    """
    for before in range(3):
        whole = base64.b64encode(bytes(before) + secret).decode()
        first = (0, 2, 3)[before]
        last = (before + len(secret)) * 8 // 6
        core = whole[first:last]
        if len(core) >= _CORE_SHORTEST:
            yield core
            yield core.translate(str.maketrans("+/", "-_"))
    alone = base64.b64encode(secret).decode()
    if len(alone) >= _CORE_SHORTEST:
        yield alone
