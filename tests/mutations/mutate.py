"""Damage to texts: bytes, tokens, lines, blocks and calls, by name. Pure but for the generator of random
numbers it is given.
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from tests.mutations.hostile import NUMBERS, TEXTS, TOKENS

Damage = Callable[[bytes, random.Random, Sequence[bytes]], bytes]
"""The content, chance, and texts of other files of the same kind to take from -> the damaged content."""

_TOKEN = re.compile(rb'"[^"\n]*"|\w+|\s+|[^\w\s]')
_ITEM = re.compile(rb"^[a-z].*?(?:^\}|(?<!\{)$)", re.MULTILINE | re.DOTALL)
_VALUE = re.compile(rb"=[ \t]*([^\n={}]+)$", re.MULTILINE)
_NUMBER = re.compile(rb"\b\d+(?:\.\d+)?\b")
_NAME = re.compile(rb"\b[a-z_]{2,}\b")
_QUOTED = re.compile(rb'"[^"\n]*"')
_MARKS = b"()[]{}<>,.;:!?*/+-=%&|~^@#$`'_ 0123456789azAZ\\\t"
_DEPTHS = (3, 3, 10, 40, 40, 150, 150, 300, 3_000, 20_000)
_TIMES = (2, 2, 5, 50, 50, 50, 300, 300, 2_000, 10_000)


def damaged(
    content: bytes, choose: random.Random, others: Sequence[bytes], damages: Mapping[str, Damage]
) -> tuple[tuple[str, ...], bytes]:
    """The names of one to three damages, and the content with them done."""
    names = tuple(choose.choice(list(damages)) for _ in range(choose.choice((1, 1, 1, 2, 3))))
    for name in names:
        content = damages[name](content, choose, others)
    return names, content


def _byte(content: bytes, choose: random.Random, _others: Sequence[bytes]) -> bytes:
    at = choose.randrange(len(content) + 1)
    return content[:at] + bytes([choose.randrange(256)]) + content[at + choose.randrange(2) :]


def _bit(content: bytes, choose: random.Random, _others: Sequence[bytes]) -> bytes:
    at = choose.randrange(max(1, len(content)))
    return (
        content[:at] + bytes([content[at] ^ (1 << choose.randrange(8))]) + content[at + 1 :]
        if content
        else content
    )


def _token(content: bytes, choose: random.Random, _others: Sequence[bytes]) -> bytes:
    tokens = _tokens(content)
    at = choose.randrange(len(tokens))
    match choose.randrange(5):
        case 0:
            tokens[at] = choose.choice(TOKENS)
        case 1:
            tokens[at] = choose.choice(tokens)
        case 2:
            del tokens[at]
        case 3:
            other = choose.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], tokens[at]
        case _:
            tokens.insert(at, choose.choice((*TOKENS, choose.choice(tokens))))
    return b"".join(tokens)


def _lines(content: bytes, choose: random.Random, _others: Sequence[bytes]) -> bytes:
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


def _cut(content: bytes, choose: random.Random, _others: Sequence[bytes]) -> bytes:
    at = choose.randrange(len(content) + 1)
    return content[:at] if choose.random() < 0.7 else content[at:]


def _gap(content: bytes, choose: random.Random, _others: Sequence[bytes]) -> bytes:
    at = choose.randrange(len(content) + 1)
    return content[:at] + content[at + choose.randrange(1, 200) :]


def _number(content: bytes, choose: random.Random, _others: Sequence[bytes]) -> bytes:
    return _one_replaced(_NUMBER, content, choose.choice(NUMBERS), choose)


def _text(content: bytes, choose: random.Random, _others: Sequence[bytes]) -> bytes:
    """Another text between quotation marks, or something inside one."""
    hostile = choose.choice(TEXTS)
    found = list(_QUOTED.finditer(content))
    if not found:
        return content
    place = choose.choice(found)
    at = choose.randrange(place.start() + 1, place.end())
    start, end = (place.start() + 1, place.end() - 1) if choose.random() < 0.5 else (at, at)
    return content[:start] + hostile + content[end:]


def _inside(content: bytes, choose: random.Random, _others: Sequence[bytes]) -> bytes:
    """A character less, twice, swapped or another one, inside of a text between quotation marks."""
    found = [place for place in _QUOTED.finditer(content) if place.end() - place.start() > 2]
    if not found:
        return content
    place = choose.choice(found)
    text = content[place.start() + 1 : place.end() - 1]
    for _ in range(choose.choice((1, 1, 2, 4))):
        at = choose.randrange(len(text) + 1)
        text = choose.choice(
            (
                text[:at] + text[at + 1 :],
                text[:at] + text[at : at + 1] * choose.choice((2, 2, 40, 3_000)) + text[at + 1 :],
                text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :],
                text[:at] + bytes([choose.choice(_MARKS)]) + text[at + choose.randrange(2) :],
                text[:at] + choose.choice(NUMBERS[:6]) + text[at:],
            )
        )
    return content[: place.start() + 1] + text + content[place.end() - 1 :]


def _name(content: bytes, choose: random.Random, _others: Sequence[bytes]) -> bytes:
    """A name that is another one's, or one letter off, or in another letter case."""
    found = list(_NAME.finditer(content))
    if not found:
        return content
    place, other = choose.choice(found), choose.choice(found)
    new = choose.choice((other[0], place[0][1:], place[0].upper(), place[0] + b"s", place[0] + b"-"))
    return content[: place.start()] + new + content[place.end() :]


def _repeat(content: bytes, choose: random.Random, _others: Sequence[bytes]) -> bytes:
    """One token or line many times over: what grows faster than the file shows."""
    parts = _tokens(content) if choose.random() < 0.7 else (content.splitlines(keepends=True) or [content])
    at = choose.randrange(len(parts))
    parts[at] = parts[at][:60] * choose.choice(_TIMES)
    return b"".join(parts)


def _deep(content: bytes, choose: random.Random, _others: Sequence[bytes]) -> bytes:
    """A value inside many brackets, or only their opening ones."""
    before, after = choose.choice(
        (
            (b"(", b")"),
            (b"[", b"]"),
            (b"{a=", b"}"),
            (b'"${', b'}"'),
            (b"!", b""),
            (b"-", b""),
            (b"upper(", b")"),
            (b"b {", b"}"),
        )
    )
    depth = choose.choice(_DEPTHS)
    closing = after * depth if choose.random() < 0.8 else b""
    found = list(_VALUE.finditer(content)) or list(_TOKEN.finditer(content))
    if not found:
        return before * depth
    place = choose.choice(found)
    start, end = place.span(1) if place.re is _VALUE else place.span()
    return content[:start] + before * depth + content[start:end] + closing + content[end:]


def _cross_bytes(content: bytes, choose: random.Random, others: Sequence[bytes]) -> bytes:
    """The beginning of this file, then the end of another one."""
    other = choose.choice(others) if others else content
    return content[: choose.randrange(len(content) + 1)] + other[choose.randrange(len(other) + 1) :]


def _cross_lines(content: bytes, choose: random.Random, others: Sequence[bytes]) -> bytes:
    lines = content.splitlines(keepends=True) or [b""]
    other = (choose.choice(others) if others else content).splitlines(keepends=True) or [b""]
    start = choose.randrange(len(other))
    at = choose.randrange(len(lines))
    return b"".join(
        [*lines[:at], *other[start : start + choose.randrange(1, 8)], *lines[at + choose.randrange(2) :]]
    )


def _items(content: bytes, choose: random.Random, others: Sequence[bytes]) -> bytes:
    """Top-level blocks in another order, twice, left out, or taken from another file."""
    items = _ITEM.findall(content)
    if not items:
        return content
    at, other = choose.randrange(len(items)), choose.randrange(len(items))
    match choose.randrange(5):
        case 0:
            items[at], items[other] = items[other], items[at]
        case 1:
            items.append(items[at])
        case 2:
            del items[at]
        case 3:
            inner = items[other]
            items[at] = items[at][:-1] + inner + b"\n}"
        case _:
            items.insert(at, choose.choice(_ITEM.findall(choose.choice(others)) if others else items))
    return b"\n".join(items) + b"\n"


def _value(content: bytes, choose: random.Random, others: Sequence[bytes]) -> bytes:
    """The value of an attribute in the place of another's, of this file or another one."""
    found = _VALUE.findall(choose.choice((content, *others[:3])))
    return _one_replaced(_VALUE, content, b"= " + choose.choice(found), choose) if found else content


def _call(content: bytes, choose: random.Random, _others: Sequence[bytes]) -> bytes:
    """A call of a function of the language with arguments that it may not like, where a value was."""
    names = function_names()

    def argument(depth: int) -> str:
        if depth and choose.random() < 0.3:
            return f"{choose.choice(names)}({', '.join(argument(depth - 1) for _ in range(choose.randrange(4)))})"
        return choose.choice(ARGUMENTS)

    call = (
        f"{choose.choice(names)}({', '.join(argument(2) for _ in range(choose.choice((0, 1, 1, 2, 2, 3))))})"
    )
    if choose.random() < 0.3:
        call = choose.choice(WRAPPED).replace("X", call)
    return _one_replaced(_VALUE, content, b"= " + call.encode(errors="surrogatepass"), choose)


ARGUMENTS = (
    "null", "true", "0", "-1", "1.5", "1e400", "99999999999", "1e-400", '""', '"a"', '"é\\u0301"', '"(a+)+$"',
    '"aaaaaaaaaaaaaaaaaaaaaaaaaaaa!"', '"%s %d"', '"%99999999d"', '"%.99999f"', '"\\u0000"', '"\\u001b[31m"', '"2026-01-01T00:00:00Z"',
    '"9999999999h"', '"[[[[1]]]]"', '"a: &a [*a]"', ('"a: &a [1]\\nb: '
        '[*a,*a]"'), '"H4sIAAAA"', '"10.0.0.0/8"', "[]", "[1, null]",
    '["a", 1, [2]]', "{}", '{ a = 1, "b c" = [null] }', "[[1, 2], [3]]", "[for x in [1, 2, 3] : x * x]",
    ("{ for k, v in { a = 1 } : v => k... "
    "}"), "var.tables", "var.env", "each.value", "each.key", "local.names", "self", "var",
    "path.root", "sensitive(\"s\")", "[[], {}]", "...", "[1, 2]...", "timestamp()", '"../../etc/passwd"', '"main.flare.hcl"', "table.t",
    "9007199254740993", "0.1", "-0", '"\\\\d{1000}"', '"(?P<x>a)"', '"$${x}"', ('"%{ for x in [1] }${x}%{ '
        'endfor }"'),
)  # fmt: skip
WRAPPED = (
    "[for i in [1, 2] : X]", ("{ for k in [X] : k => k "
        "}"), "X[0]", "X.a", "X[*].a", "X.*.b", "X ? X : X", "!X", "-X", "X + 1", "X == X",
    "X % 0", '"${X}"', '"%{ if X }a%{ endif }"', "[X]...", "(X)", "{ (X) = X }", ("{ (X) = 1, (X) = 2 "
        "}"), "try(X, X)", "can(X)",
    "X && X", "1 / X", "X < X",
)  # fmt: skip


@lru_cache(maxsize=1)
def function_names() -> tuple[str, ...]:
    from pathlib import Path

    from flareiac.lang.functions import functions

    return (*sorted(functions(Path())), "nothing", "provider::x::y")


def _one_replaced(pattern: re.Pattern[bytes], content: bytes, new: bytes, choose: random.Random) -> bytes:
    found = list(pattern.finditer(content))
    if not found:
        return content
    place = choose.choice(found)
    return content[: place.start()] + new + content[place.end() :]


def _tokens(content: bytes) -> list[bytes]:
    return _TOKEN.findall(content) or [content]


ANY_TEXT: dict[str, Damage] = {
    "byte": _byte,
    "bit": _bit,
    "token": _token,
    "lines": _lines,
    "cut": _cut,
    "gap": _gap,
    "number": _number,
    "text": _text,
    "inside": _inside,
    "name": _name,
    "repeat": _repeat,
    "deep": _deep,
    "cross-bytes": _cross_bytes,
    "cross-lines": _cross_lines,
}
HCL: dict[str, Damage] = {
    **ANY_TEXT,
    "items": _items,
    "value": _value,
    "value again": _value,
    "call": _call,
    "call again": _call,
}
