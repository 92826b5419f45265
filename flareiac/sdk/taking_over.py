"""Attributes with what drift finds in place of what is declared. Pure."""

from collections.abc import Mapping
from typing import Final

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.paths import Path

_KEY_OF_A_MAP: Final = 2
"""The steps to a property, a setting, a column: without a value it is gone, while its own attributes stay."""


def with_value(attributes: Attributes, path: Path, value: Data) -> Attributes:
    """The attributes with a value at a path, None where it is gone."""
    return _with_value(attributes, path, value, len(path))


def _with_value(inside: Attributes, path: Path, value: Data, steps: int) -> Attributes:
    key, *rest = str(path[0]), *path[1:]
    if rest:
        nested = inside.get(key)
        known: Attributes = dict(nested) if isinstance(nested, Mapping) else {}
        return {**inside, key: _with_value(known, tuple(rest), value, steps)}
    if value is None and steps == _KEY_OF_A_MAP:
        return {name: each for name, each in inside.items() if name != key}
    return {**inside, key: value}
