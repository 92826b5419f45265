"""OpenLineage's own classes as the judge of events: each event and facet is read as the class that its schema
names, and nothing may be missing, of another type or unknown there.
"""

import enum
import importlib
import pkgutil
import types
import typing
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import pytest

_GENERATED: Final = "openlineage.client.generated"
_OPEN: Final = ("BaseFacet", "RunFacet", "JobFacet", "DatasetFacet")
"""Classes of facets that may have any field."""


def judged(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """The event itself. Raises ``AssertionError`` for what the specification does not allow."""
    _read(_class_of(event["schemaURL"]), event, "event")
    return event


def plain(part: Any) -> Any:
    """A part of an event without the producer and the schema that every event and facet names."""
    match part:
        case dict():
            left_out = ("_producer", "_schemaURL", "producer", "schemaURL")
            return {name: plain(value) for name, value in part.items() if name not in left_out}
        case list():
            return [plain(each) for each in part]
        case _:
            return part


@cache
def _classes() -> dict[str, Any]:
    package = pytest.importorskip(_GENERATED, reason="openlineage-python is not installed")
    modules = [
        importlib.import_module(f"{_GENERATED}.{each.name}")
        for each in pkgutil.iter_modules(package.__path__)
    ]
    found = {}
    for module in modules:
        for each in vars(module).values():
            if isinstance(each, type) and each.__module__ == module.__name__ and hasattr(each, "_get_schema"):
                found[each._get_schema()] = each
    return found


def _class_of(url: str) -> Any:
    assert url in _classes(), f"no schema has the address {url}"
    return _classes()[url]


def _read(wanted: Any, value: Any, place: str) -> None:
    origin, arguments = typing.get_origin(wanted), typing.get_args(wanted)
    if origin in (typing.Union, types.UnionType):
        assert value is not None, f"{place} is null instead of left out"
        return _read(next(each for each in arguments if each is not type(None)), value, place)
    if origin is list:
        assert isinstance(value, list), place
        for at, each in enumerate(value):
            _read(arguments[0], each, f"{place}[{at}]")
        return None
    if origin is dict:
        assert isinstance(value, dict), place
        for name, each in value.items():
            kind = _class_of(each["_schemaURL"]) if "_schemaURL" in each else arguments[1]
            assert issubclass(kind, arguments[1]), f"{place}.{name} is no {arguments[1].__name__}"
            _read(kind, each, f"{place}.{name}")
        return None
    if isinstance(wanted, type) and issubclass(wanted, enum.Enum):
        assert value in {each.value for each in wanted}, place
        return None
    if hasattr(wanted, "__attrs_attrs__"):
        return _read_object(wanted, value, place)
    assert wanted is Any or isinstance(value, wanted), f"{place}: {value!r} is no {wanted}"
    return None


def _read_object(wanted: Any, value: Any, place: str) -> None:
    assert isinstance(value, dict), place
    hints: dict[str, Any] = {}
    for base in reversed(wanted.__mro__):
        if base.__module__.startswith(_GENERATED):
            names = {"ClassVar": typing.ClassVar, **vars(importlib.import_module(base.__module__))}
            hints |= typing.get_type_hints(base, names)
    fields = {each.name: each for each in wanted.__attrs_attrs__}
    for name, each in value.items():
        assert name in fields or wanted.__name__ in _OPEN, f"{place}.{name} is unknown to {wanted.__name__}"
        if name in fields:
            _read(hints[name], each, f"{place}.{name}")
            if fields[name].validator is not None:
                fields[name].validator(None, fields[name], each)
    for name, field in fields.items():
        is_required = repr(field.default) == "NOTHING"
        assert not is_required or name in value, f"{place}.{name} is missing"
