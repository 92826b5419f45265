"""Plain data: what decoded attributes are made of, and its canonical text and digest.

Plain data is None, bool, int, float, str, lists and string-keyed dicts of plain data, and two leaves that JSON has no word for:
``Reference`` (another resource) and ``UNKNOWN`` (a value that is known only after apply). Numbers are ints where they are whole.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

Data: TypeAlias = Any
"""Plain data (a recursive union that would buy little and cost a cast at every use)."""

Attributes: TypeAlias = dict[str, Data]


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

_REFERENCE_KEY: Final = "$ref"
_UNKNOWN_KEY: Final = "$unknown"


def to_json(value: Data) -> Data:
    """Plain data as JSON's own types (``Reference`` and ``UNKNOWN`` as one-key objects)."""
    match value:
        case Reference(address):
            return {_REFERENCE_KEY: address}
        case Unknown():
            return {_UNKNOWN_KEY: True}
        case dict():
            return {key: to_json(item) for key, item in value.items()}
        case list() | tuple():
            return [to_json(item) for item in value]
        case _:
            return value


def from_json(value: Data) -> Data:
    """The inverse of ``to_json``."""
    if isinstance(value, dict):
        if len(value) == 1:
            if _REFERENCE_KEY in value:
                return Reference(value[_REFERENCE_KEY])
            if _UNKNOWN_KEY in value:
                return UNKNOWN
        return {key: from_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [from_json(item) for item in value]
    return value


def canonical(value: Data) -> str:
    """The one text of a value: keys sorted, no spaces. Equal values have equal texts."""
    return json.dumps(to_json(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(value: Data) -> str:
    """The first 32 hex digits of the SHA-256 of the canonical text."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:32]


def is_known(value: Data) -> bool:
    """Whether no part of a value is UNKNOWN."""
    match value:
        case Unknown():
            return False
        case dict():
            return all(is_known(item) for item in value.values())
        case list() | tuple():
            return all(is_known(item) for item in value)
        case _:
            return True


def references(value: Data) -> list[str]:
    """The addresses that a value refers to, in order, once each."""
    found: dict[str, None] = {}

    def walk(item: Data) -> None:
        match item:
            case Reference(address):
                found[address] = None
            case dict():
                for part in item.values():
                    walk(part)
            case list() | tuple():
                for part in item:
                    walk(part)
            case _:
                pass

    walk(value)
    return list(found)
