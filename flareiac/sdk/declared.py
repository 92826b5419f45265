"""Declared fields: the record of a definition says of each of its fields what users write for it. The schema,
the decoding with defaults, the reference and the plain half of a comparison are readings of the record. Pure.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, TypeVar

from flareiac.kernel.data import UNKNOWN, Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import Metadata
from flareiac.kernel.types import ObjectType, Type
from flareiac.sdk.schema import Attribute
from flareiac.sdk.validators import parse_duration

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


@cache
def declared_fields(record: type) -> tuple[DeclaredField, ...]:
    """The declared fields of a record, in the order in which they stand."""
    return tuple(_declared_fields(record))


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
    kind: type = record
    plain = {
        each.field: value
        for each in declared_fields(kind)
        if each.field not in read
        and ((value := _value(each.attribute, written.get(each.name))) is not None or not each.has_default)
    }
    return record(**plain, **read)


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
