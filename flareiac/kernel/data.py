"""Plain data: what decoded attributes are made of, and its canonical text and digest.

Plain data is None, bool, str, lists and string-keyed dicts of plain data, numbers (see ``kernel.numbers``:
an int where one is whole, and a ``Decimal`` where a float would round it), and two leaves that JSON has no
word for: ``Reference`` (another resource) and ``UNKNOWN`` (a value that is known only after apply). A
compared value may also be ``ABSENT``.
"""

import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, Final, TypeAlias

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.numbers import number_text, read_number
from flareiac.kernel.records import Form, Mismatch


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to a resource instance by address, as the value of an attribute."""

    address: str

    def __str__(self) -> str:
        return self.address


@dataclass(frozen=True, slots=True)
class Unknown:
    """The one value that is known only after apply."""

    def __repr__(self) -> str:
        return "(known after apply)"


UNKNOWN: Final = Unknown()


@dataclass(frozen=True, slots=True)
class Absent:
    """The value of an attribute that is not there (None is a value)."""

    def __repr__(self) -> str:
        return "(absent)"


ABSENT: Final = Absent()

_REFERENCE_KEY: Final = "$ref"
_UNKNOWN_KEY: Final = "$unknown"
_ABSENT_KEY: Final = "$absent"
_PLAIN: Final[frozenset[type]] = frozenset({str, int, float, bool, type(None)})
"""The types of values that have no parts."""
_DEEPEST: Final = 240
"""Levels of JSON in a stored value: two for each of the 120 that a document may nest (``DEEPEST``). Python's
own limit of recursion is 1,000.
"""
_LATEST: Final = 1e11
"""Seconds since 1970 in the year 5138: a time in milliseconds by mistake is beyond it from 1973 on."""
_MARKED: Final = re.compile(r"\$+(ref|unknown|absent)")
"""The only key of a one-key object that stands for a leaf, or of a map that was written so by a user."""


_NESTED: Final[frozenset[type]] = frozenset({dict, list})
"""The types of JSON that have parts. A set of classes is asked faster than ``isinstance`` with a union."""


def to_json(value: object) -> Any:
    """Plain data as JSON's own types: the other leaves as one-key objects, a map that looks like one of these
    escaped.
    """
    if isinstance(value, dict):
        if len(value) == 1:
            [(key, content)] = value.items()
            return {_escaped(key): content if content.__class__ in _PLAIN else to_json(content)}
        return {
            key: member if member.__class__ in _PLAIN else to_json(member) for key, member in value.items()
        }
    if isinstance(value, list | tuple):
        return [element if element.__class__ in _PLAIN else to_json(element) for element in value]
    return _leaf(value)


def from_json(value: object, depth: int = 0) -> Any:
    """The inverse of ``to_json``. Raises ``ValueError`` for what is nested deeper than anything that was ever
    written.
    """
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    if isinstance(value, dict):
        if len(value) == 1:
            if isinstance(value.get(_REFERENCE_KEY), str):
                return Reference(value[_REFERENCE_KEY])
            if value.get(_UNKNOWN_KEY) is True:
                return UNKNOWN
            if value.get(_ABSENT_KEY) is True:
                return ABSENT
            return {_unescaped(key): from_json(member, depth + 1) for key, member in value.items()}
        return {
            key: from_json(member, depth + 1) if member.__class__ in _NESTED else member
            for key, member in value.items()
        }
    if isinstance(value, list):
        return [
            from_json(element, depth + 1) if element.__class__ in _NESTED else element for element in value
        ]
    return value


def _escaped(key: str) -> str:
    return f"${key}" if key[:1] == "$" and _MARKED.fullmatch(key) else key


def _unescaped(key: str) -> str:
    return key[1:] if key.startswith("$$") and _MARKED.fullmatch(key) else key


def _leaf(value: object) -> Any:
    match value:
        case Reference(address):
            return {_REFERENCE_KEY: address}
        case Unknown():
            return {_UNKNOWN_KEY: True}
        case Absent():
            return {_ABSENT_KEY: True}
        case _:
            return value


def _of_type(kind: type, value: object) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"expected {kind.__name__}, found {value!r:.60}")
    return value


def _seconds(value: Any) -> float:
    if type(value) not in (int, float) or not abs(value) < _LATEST:
        raise Mismatch("", f"is {value!r:.60}, expected seconds since 1970")
    seconds: float = value
    return seconds


Data: TypeAlias = Annotated[Any, Form(to_json, from_json)]
"""Plain data (a recursive union that would buy little and cost a cast at every use)."""

Json: TypeAlias = "bool | int | float | Decimal | str | Sequence[Json] | Mapping[str, Json] | None"
"""A document for programs to read, or a part of one: what JSON has and nothing else."""

Attributes: TypeAlias = Annotated[
    dict[str, Data], Form(to_json, lambda data: _of_type(dict, from_json(data)), dict[str, Any])
]

StoredReference: TypeAlias = Annotated[
    Reference, Form(to_json, lambda data: _of_type(Reference, from_json(data)), dict[str, str])
]

Seconds: TypeAlias = Annotated[float, Form(to_json, _seconds, float)]
"""A point in time: UTC seconds since 1970, within what a calendar can show."""


DEEPEST: Final = 120
"""So many values may be inside one another in a document that is read."""
DEEPEST_STORED: Final = 2 * _DEEPEST + 20
"""The same for a state or a plan: a value takes two levels of it for each of its own, below some of the
document's.
"""


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text:.60} is not a number that JSON has")
    return number


_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")
"""The spellings of a character in two halves, or of one half alone."""


def _refuse_half_characters(document: object) -> None:
    """Raises ``ValueError`` for a text that holds one half of a surrogate pair: it has no bytes."""
    try:
        json.dumps(document, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError as problem:
        half = ord(problem.object[problem.start])
        raise ValueError(f"a text in it holds half a character (U+{half:04X})") from None


def parse_json(
    content: bytes | str,
    number: Callable[[str], Data] = _finite,
    deepest: int = DEEPEST,
    *,
    repeats: bool = False,
) -> Data:
    """A document of JSON that someone else may have written. Raises ``ValueError`` also for one whose values
    are nested more deeply than ``deepest``, which what works through them can follow. ``number`` reads what
    is no whole number; without it, one that no float holds (``1e999``, ``NaN``) is a ``ValueError``. So is
    half a surrogate pair in a text. ``repeats``: short texts that the document repeats are one object, for a
    document that would fill the memory with them.
    """
    too_deep = f"its values are nested more than {deepest} levels deep"
    text = content if isinstance(content, str) else content.decode(json.detect_encoding(content))
    try:
        document = json.loads(
            text, parse_constant=number, parse_float=number, object_hook=_sharing() if repeats else None
        )
    except RecursionError:
        raise ValueError(too_deep) from None
    # Large documents are searched for what is quick to look for first.
    if ("\\u" in text or text is content) and _HALF.search(text):
        _refuse_half_characters(document)
    level = [document] if isinstance(document, dict | list) else []
    for _ in range(deepest):
        # One level at a time: a function that calls itself would be the next to fail.
        level = [
            child
            for holder in level
            for child in (holder.values() if isinstance(holder, dict) else holder)
            if isinstance(child, dict | list)
        ]
        if not level:
            return document
    raise ValueError(too_deep)


def _sharing() -> Callable[[dict[str, Any]], dict[str, Any]]:
    known: dict[str, str] = {}

    def shared(members: dict[str, Any]) -> dict[str, Any]:
        for name, value in members.items():
            if value.__class__ is str and len(value) <= _SHORT:
                members[name] = known.setdefault(value, value)
        return members

    return shared


_SHORT: Final = 40
"""Characters of texts that are worth sharing: longer ones are seldom repeated."""


def read_json(content: bytes | str, *, repeats: bool = False) -> Data:
    """A stored document, numbers without loss. Raises ``ValueError`` for what is not JSON, also where Python
    reads it: ``NaN``, ``Infinity``, ``1e999``. ``repeats``: as in ``parse_json``.
    """
    return parse_json(content, read_number, DEEPEST_STORED, repeats=repeats)


_EXACT: Final = f"{os.urandom(16).hex()} "
"""The beginning of the text that stands for an exact number until the document is written. No user can know
it.
"""
_EXACT_NUMBER: Final = re.compile(f'"{_EXACT}([^"]*)"')


def write_json(
    value: object,
    *,
    indent: int | None = None,
    compact: bool = False,
    sort_keys: bool = False,
    ensure_ascii: bool = True,
    leaf: Callable[[object], object] | None = None,
) -> str:
    """Data as a document of JSON, numbers with all of their digits. ``leaf`` gives what JSON has a word for
    in place of other values. Raises ``TypeError`` for what has no form.
    """
    exact = False

    def replaced(part: object) -> object:
        nonlocal exact
        if isinstance(part, Decimal):
            exact = True
            return _EXACT + number_text(part)
        if leaf is None or (replacement := leaf(part)) is part:
            raise TypeError(f"{type(part).__name__} is no plain data")
        return replacement

    text = json.dumps(
        value,
        indent=indent,
        separators=(",", ":") if compact else None,
        sort_keys=sort_keys,
        ensure_ascii=ensure_ascii,
        default=replaced,
    )
    return _EXACT_NUMBER.sub(r"\1", text) if exact else text


def canonical(value: Data) -> str:
    """The one text of a value: keys sorted, no spaces. Equal values have equal texts."""
    return write_json(value, sort_keys=True, compact=True, ensure_ascii=False, leaf=_leaf)


def digest(value: Data) -> str:
    """The first 32 hex digits of the SHA-256 of the canonical text."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:32]


def is_known(value: Data) -> bool:
    """Returns True if no part of a value is UNKNOWN."""
    if isinstance(value, dict):
        return all(member.__class__ in _PLAIN or is_known(member) for member in value.values())
    if isinstance(value, list | tuple):
        return all(element.__class__ in _PLAIN or is_known(element) for element in value)
    return not isinstance(value, Unknown)


def holds_exact_number(value: Data) -> bool:
    """Returns True where a part of a value is a number that a float would round."""
    if isinstance(value, dict):
        return any(map(holds_exact_number, value.values()))
    if isinstance(value, list | tuple):
        return any(map(holds_exact_number, value))
    return isinstance(value, Decimal)


def references(value: Data) -> list[str]:
    """The addresses that a value refers to, in order, once each."""
    addresses: dict[str, None] = {}

    def walk(parts: Iterable[Data]) -> None:
        for part in parts:
            if part.__class__ in _PLAIN:
                continue
            if isinstance(part, Reference):
                addresses[part.address] = None
            elif isinstance(part, dict):
                walk(part.values())
            elif isinstance(part, list | tuple):
                walk(part)

    walk((value,))
    return list(addresses)
