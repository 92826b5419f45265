"""The fields of records in JSON and their types, as a few of the records show them. Pure. Keeps no value."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

from flareiac.kernel.data import parse_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.sources.avro.types import NULL, Array, AvroType, Field, Primitive, Record

_LONG: Final = 2**63
_TEXT: Final = Primitive(name="string")
"""Also of what is of several types: a column of texts takes any JSON."""
_NUMBERS: Final = frozenset({Primitive(name="long"), Primitive(name="double")})


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonShape:
    """The shape of the records that are one object each. ``tree``: their fields; ``paths``: those of each
    record, with dots between the names, and ``element`` for those of a list.
    """

    tree: Record
    paths: Sequence[AbstractSet[str]]


def shape_of(values: Sequence[bytes]) -> JsonShape:
    """The common shape of values; those that are no JSON object are left out."""
    objects = [parsed for value in values if (parsed := _object(value)) is not None]
    tree: AvroType = Record(name="", fields=())
    for document in objects:
        tree = _joined(tree, _type(document))
    assert isinstance(tree, Record), "objects joined are an object"
    return JsonShape(tree=tree, paths=[frozenset(_paths(document, "")) for document in objects])


def _object(value: bytes) -> Mapping[str, Any] | None:
    try:
        document = parse_json(value)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _type(value: Any) -> AvroType:
    match value:
        case None:
            return NULL
        case bool():
            return Primitive(name="boolean")
        case int() if -_LONG <= value < _LONG:
            return Primitive(name="long")
        case float():
            return Primitive(name="double")
        case dict():
            return Record(
                name="", fields=tuple(Field(name=name, type=_type(member)) for name, member in value.items())
            )
        case list():
            items: AvroType = NULL
            for element in value:
                items = _joined(items, _type(element))
            return Array(items=items)
        case _:
            return _TEXT


def _joined(one: AvroType, other: AvroType) -> AvroType:
    """The type of values of both."""
    match one, other:
        case _ if one == other or other == NULL:
            return one
        case _ if one == NULL:
            return other
        case Record(), Record():
            names = dict.fromkeys(field.name for field in (*one.fields, *other.fields))
            fields = (Field(name=name, type=_of_both(one.field(name), other.field(name))) for name in names)
            return Record(name="", fields=tuple(fields))
        case Array(items=items), Array(items=others):
            return Array(items=_joined(items, others))
        case Primitive(), Primitive() if {one, other} == _NUMBERS:
            return Primitive(name="double")
        case _:
            return _TEXT


def _of_both(one: Field | None, other: Field | None) -> AvroType:
    if one is None or other is None:
        field = one or other
        return field.type if field is not None else NULL
    return _joined(one.type, other.type)


def _paths(value: Any, prefix: str) -> Iterator[str]:
    match value:
        case dict():
            for name, member in value.items():
                yield f"{prefix}{name}"
                yield from _paths(member, f"{prefix}{name}.")
        case list():
            for element in value:
                yield from _paths(element, f"{prefix}element.")
        case _:
            pass
