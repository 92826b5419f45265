"""Text that cannot steer a terminal: control characters are spelled out."""

import re
from typing import Final

from flareiac.kernel.secret_masks import masked, masked_json
from flareiac.render.style import Tone

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_COLOURS: Final = re.compile(r"(\x1b\[(?:" + "|".join(("0", *(tone.value for tone in Tone))) + ")m)")


def printable(text: str) -> str:
    """The text with control characters (but tab and line feed) spelled out, and with secrets masked: before
    it is wrapped, which would cut them into pieces.
    """
    return _spelled_out(masked(text))


def _spelled_out(text: str) -> str:
    return _CONTROL.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def visible(text: str, *, colour: bool = True) -> str:
    """The text as a terminal may get it: control characters spelled out, but for tab, line feed and the
    colours of ``Style``. ``colour``: False where nothing is coloured, so that each such sign is somebody
    else's.
    """
    if not colour:
        return _spelled_out(_masked(text))
    parts = _COLOURS.split(_masked(text))
    return "".join(part if at % 2 else _spelled_out(part) for at, part in enumerate(parts))


def _masked(text: str) -> str:
    is_json = text.startswith(("{", "["))
    return masked_json(text) if is_json else masked(text)
