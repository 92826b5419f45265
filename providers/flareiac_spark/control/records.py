"""Encodes records as JSON and decodes them strictly, driven by the records' own types.

A field's JSON name is its own, or ``metadata["json"]`` where Python reserves the word. A union of records is told apart by the ``kind``
field of its members (``Literal``). Unknown fields are refused: a reader that skips part of a job would run another job.
"""

import dataclasses
import types
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

R = TypeVar("R")


class Mismatch(Exception):
    """The data does not fit the record; the text says where and why."""


def named(json_name: str) -> Mapping[str, str]:
    """Field metadata that gives a field another name in JSON."""
    return {"json": json_name}


def encode(value: Any) -> Any:
    """A record, or plain data with records in it, as JSON's own types."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {_json_name(field): encode(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key: encode(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [encode(item) for item in value]
    return value


def decode(record: type[R], data: Any, where: str = "") -> R:
    """The record that JSON data spells. Raises ``Mismatch``."""
    result: R = _decode(record, data, where or record.__name__)
    return result


def _decode(kind: Any, data: Any, where: str) -> Any:
    origin = get_origin(kind)
    if kind is Any:
        return data
    if origin in (Union, types.UnionType):
        return _decode_union(get_args(kind), data, where)
    if origin is Literal:
        if data in get_args(kind):
            return data
        raise Mismatch(f"{where} is {data!r}, expected one of {', '.join(map(repr, get_args(kind)))}")
    if origin is tuple:
        _expect(isinstance(data, list), where, "a list", data)
        return tuple(_decode(get_args(kind)[0], item, f"{where}[{at}]") for at, item in enumerate(data))
    if origin is not None and issubclass(origin, Mapping):
        _expect(isinstance(data, dict), where, "an object", data)
        return {key: _decode(get_args(kind)[1], item, f"{where}.{key}") for key, item in data.items()}
    if dataclasses.is_dataclass(kind):
        return _decode_record(kind, data, where)
    return _decode_leaf(kind, data, where)


def _decode_leaf(kind: Any, data: Any, where: str) -> Any:
    if kind is float and isinstance(data, int) and not isinstance(data, bool):
        return float(data)
    _expect(isinstance(data, kind) and (kind is bool or not isinstance(data, bool)), where, f"a value of type {kind.__name__}", data)
    return data


def _decode_union(members: tuple[Any, ...], data: Any, where: str) -> Any:
    if data is None and type(None) in members:
        return None
    rest = [member for member in members if member is not type(None)]
    if len(rest) == 1:
        return _decode(rest[0], data, where)
    _expect(isinstance(data, dict), where, "an object", data)
    for member in rest:
        if data.get("kind") in get_args(_hints(member)["kind"]):
            return _decode(member, data, where)
    raise Mismatch(f"{where}.kind is {data.get('kind')!r}, which is not known")


def _decode_record(record: Any, data: Any, where: str) -> Any:
    _expect(isinstance(data, dict), where, "an object", data)
    hints, values = _hints(record), {}
    names = {_json_name(field): field for field in dataclasses.fields(record)}
    for name in data:
        if name not in names:
            raise Mismatch(f"{where}.{name} is not known")
    for name, field in names.items():
        if name in data:
            values[field.name] = _decode(hints[field.name], data[name], f"{where}.{name}")
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise Mismatch(f"{where}.{name} is missing")
    return record(**values)


def _expect(fits: bool, where: str, what: str, data: Any) -> None:
    if not fits:
        raise Mismatch(f"{where} is {data!r:.60}, expected {what}")


def _json_name(field: "dataclasses.Field[Any]") -> str:
    name: str = field.metadata.get("json", field.name)
    return name


@cache
def _hints(record: Any) -> dict[str, Any]:
    return get_type_hints(record)
