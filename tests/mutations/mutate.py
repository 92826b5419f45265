"""Damage: bytes, tokens and lines of a text, and parts of a JSON document. Pure but for the generator of random numbers it is given."""

import json
import random
import re
from typing import Any

from flareiac.kernel.data import digest

_TOKEN = re.compile(rb'"[^"\n]*"|\w+|\s+|[^\w\s]')
_HOSTILE = (
    b'"a b"',    b"", b"{", b"}", b"[", b"]", b"(", b")", b'"', b"${", b"%{", b"<<EOT\n", b"=", b"null", b"-1", b"1e999",
    b"0.5", b"true", b'""',
    b"\x00", b"\xff", b"\xc3\xa9", b"\xed\xa0\x80", b"\n", b",", b".", b"[*]", b"...", b"each.key", b"count.index", b"var.x", b"local.x",
    b"for_each = 1\n", b"count = 2\n", b'"\\u001b[31m"', b"table.t", b"self", b"//", b"/*", b"#", b"\xef\xbb\xbf", b"9" * 40, b"a" * 300,
)  # fmt: skip
_JUNK: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 2**70, float("inf"), "", "x", "\x1b[31m", "\x00", "é", [], [None], [[1]], {}, {"x": None}, {"$ref": 1},
    {"$unknown": True}, {"$ref": "a b"}, "table.a b", "[", "a" * 300,
)  # fmt: skip


def damaged_text(content: bytes, choose: random.Random) -> bytes:
    """The content with one to three places of it changed."""
    for _ in range(choose.choice((1, 1, 1, 2, 3))):
        content = choose.choice((_byte, _token, _token, _token, _lines, _cut))(content, choose)
    return content


def damaged_json(content: bytes, choose: random.Random, *, sealed: bool) -> bytes:
    """The document with one part taken away or replaced; ``sealed``: with a digest that fits it again, else without any."""
    document = json.loads(content)
    document.pop("digest", None)
    _damage(document, choose)
    if sealed:
        document["digest"] = digest(document)
    return json.dumps(document).encode(errors="surrogatepass")


def _damage(document: Any, choose: random.Random) -> None:
    while True:
        keys = list(document) if isinstance(document, dict) else list(range(len(document)))
        if not keys:
            return
        key = choose.choice(keys)
        inner = document[key]
        if isinstance(inner, dict | list) and inner and choose.random() < 0.8:
            document = inner
            continue
        if choose.random() < 0.3:
            del document[key]
        elif choose.random() < 0.2:
            document[key] = document[choose.choice(keys)]
        else:
            document[key] = choose.choice(_JUNK)
        return


def _byte(content: bytes, choose: random.Random) -> bytes:
    at = choose.randrange(len(content) + 1)
    return content[:at] + bytes([choose.randrange(256)]) + content[at + choose.randrange(2) :]


def _token(content: bytes, choose: random.Random) -> bytes:
    tokens = _TOKEN.findall(content) or [content]
    at = choose.randrange(len(tokens))
    match choose.randrange(4):
        case 0:
            tokens[at] = choose.choice(_HOSTILE)
        case 1:
            tokens[at] = choose.choice(tokens)
        case 2:
            del tokens[at]
        case _:
            tokens.insert(at, choose.choice((*_HOSTILE, choose.choice(tokens))))
    return b"".join(tokens)


def _lines(content: bytes, choose: random.Random) -> bytes:
    lines = content.splitlines(keepends=True) or [content]
    at, other = choose.randrange(len(lines)), choose.randrange(len(lines))
    match choose.randrange(3):
        case 0:
            lines[at], lines[other] = lines[other], lines[at]
        case 1:
            del lines[at]
        case _:
            lines.insert(at, lines[other])
    return b"".join(lines)


def _cut(content: bytes, choose: random.Random) -> bytes:
    at = choose.randrange(len(content) + 1)
    return content[:at] if choose.random() < 0.5 else content[at:]
