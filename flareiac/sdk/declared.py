"""Declared fields: the record of a definition says of each of its fields what users write for it. The schema,
the decoding with defaults, the reference and the plain half of a comparison are readings of the record. Pure.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, TypeVar

from flareiac.kernel.data import UNKNOWN, Data, Reference
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import Metadata, encode
from flareiac.kernel.types import ObjectType, Type
from flareiac.sdk.schema import Attribute
from flareiac.sdk.validators import duration_text, parse_duration

R = TypeVar("R")
DURATION: Final = "duration"
"""The unit of an attribute whose field holds milliseconds."""
_MILLISECONDS: Final = "_ms"
_KEY: Final = "declared"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredField:
    """A field of a record, the name that users write, and the attribute."""

    field: str
    name: str
    attribute: Attribute
    has_default: bool
    """The record has a value of its own for what is not written, beside the default that users read of."""


def declared(attribute: Attribute, *, name: str = "") -> Metadata:
    """Metadata of the field that an attribute is read into; it joins others by ``|``. ``name`` is the one
    that users write, where it is not the field's own, less the ``_ms`` of a duration.
    """
    return {_KEY: (attribute, name)}


def declared_fields(record: type) -> tuple[DeclaredField, ...]:
    """The declared fields of a record, in the order in which they stand."""
    return _fields_of(record)


def attributes_of(record: type) -> dict[str, Attribute]:
    """The attributes of a block, by the names that users write."""
    return {each.name: each.attribute for each in declared_fields(record)}


def object_of(record: type, **others: Type) -> ObjectType:
    """The type of an attribute that is an object of these fields. ``others`` are optional attributes of it
    that are read into something else.
    """
    own = declared_fields(record)
    return ObjectType(
        {each.name: each.attribute.type for each in own} | others,
        frozenset({each.name for each in own if not each.attribute.required} | others.keys()),
    )


def wrong_durations(record: type, written: Mapping[str, Data]) -> dict[str, Data]:
    """The durations of a decoded block or object that cannot be read, by the names that users write."""
    return {
        each.name: value
        for each in declared_fields(record)
        if each.attribute.unit == DURATION
        and (value := written.get(each.name)) not in (None, UNKNOWN)
        and parse_duration(value) is None
    }


def of_block(record: type[R], written: Mapping[str, Data], **read: object) -> R:
    """The record of a decoded block. Each declared field is taken as it is written, or has its default; a
    duration is in milliseconds. ``read``: the fields that need more than that, by their own names.
    """
    plain = {
        each.field: value
        for each in declared_fields(record)
        if each.field not in read
        and ((value := _value(each.attribute, written.get(each.name))) is not None or not each.has_default)
    }
    return record(**plain, **read)


def as_written(record: object) -> dict[str, Data]:
    """The declared fields of a record as users would write them: durations with a unit, and nothing that is
    empty or equals its default.
    """
    shown = (
        (each.name, _written(getattr(record, each.field), each.attribute), each.attribute.default)
        for each in declared_fields(type(record))
    )
    return {name: value for name, value, default in shown if value not in (None, "", [], {}, default)}


def in_units(body: Mapping[str, Data]) -> dict[str, Data]:
    """An encoded record with its milliseconds as durations, at any depth, and without nulls."""
    fields: dict[str, Data] = {}
    for name, value in body.items():
        if name.endswith(_MILLISECONDS) and isinstance(value, int):
            fields[name.removesuffix(_MILLISECONDS)] = duration_text(value)
        elif value is not None:
            fields[name] = in_units(value) if isinstance(value, dict) else value
    return fields


def _written(value: object, attribute: Attribute) -> Data:
    if attribute.unit == DURATION and isinstance(value, int):
        return duration_text(value)
    if isinstance(value, tuple):
        return list(value)
    if not dataclasses.is_dataclass(value) or isinstance(value, Reference):
        return value
    return as_written(value) if declared_fields(type(value)) else in_units(encode(value))


@cache
def _fields_of(record: Any) -> tuple[DeclaredField, ...]:
    return tuple(_declared_fields(record))


def _declared_fields(record: Any) -> Iterator[DeclaredField]:
    for field in dataclasses.fields(record):
        if _KEY in field.metadata:
            attribute, name = field.metadata[_KEY]
            own = field.name.removesuffix(_MILLISECONDS) if attribute.unit == DURATION else field.name
            has_default = (field.default, field.default_factory) != (dataclasses.MISSING, dataclasses.MISSING)
            yield DeclaredField(
                field=field.name, name=name or own, attribute=attribute, has_default=has_default
            )


def _value(attribute: Attribute, written: Data) -> Data:
    value = attribute.default if written is None else written
    if attribute.unit == DURATION and value is not None and value is not UNKNOWN:
        return parse_duration(value)
    return value
