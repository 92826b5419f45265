"""Does a decoded record hold what its fields promise? A document can be whole and still hold a text where a number belongs. Pure."""

import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any


def check(value: object, expected: Any) -> None:
    """Raises ``TypeError`` where a value, or a part of it, is not of its declared type. Types it does not know are taken as fitting."""
    origin, parts = typing.get_origin(expected), typing.get_args(expected)
    if origin in (typing.Union, types.UnionType):
        _check_union(value, parts)
    elif origin is tuple:
        _require(isinstance(value, tuple), value)
        for item in typing.cast("tuple[object, ...]", value):
            check(item, parts[0] if parts else object)
    elif origin in (dict, Mapping):
        _require(isinstance(value, Mapping), value)
        if parts == (str, Any):  # plain data: most of every document
            _require(all(isinstance(key, str) for key in typing.cast("Mapping[object, object]", value)), value)
            return
        for key, item in typing.cast("Mapping[object, object]", value).items():
            check(key, parts[0])
            check(item, parts[1])
    elif isinstance(expected, type):
        _check_plain(value, expected)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            for name, declared in _fields(type(value)):
                check(getattr(value, name), declared)


def _check_union(value: object, parts: tuple[Any, ...]) -> None:
    for part in parts:
        try:
            check(value, part)
        except TypeError:
            continue
        return
    _require(False, value)


def _check_plain(value: object, expected: type) -> None:
    if expected is float:
        fine = type(value) in (int, float) and math.isfinite(typing.cast(float, value)) and abs(typing.cast(float, value)) < 1e11
        _require(fine, value)
    elif expected is int:
        _require(type(value) is int, value)
    elif expected in (str, bool, types.NoneType) or issubclass(expected, Enum) or dataclasses.is_dataclass(expected):
        _require(isinstance(value, expected), value)


def _require(condition: bool, value: object) -> None:
    if not condition:
        raise TypeError(f"unexpected {value!r}")


@cache
def _fields(record: type) -> tuple[tuple[str, Any], ...]:
    hints = typing.get_type_hints(record)
    return tuple((field.name, hints[field.name]) for field in dataclasses.fields(record))
