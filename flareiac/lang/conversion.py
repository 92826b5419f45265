"""cty's conversions: a value to a wanted type, and the one type that several types can be converted to."""

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Final

from flareiac.kernel.data import UNKNOWN
from flareiac.kernel.paths import Path, render_path
from flareiac.kernel.types import (
    ANY,
    BOOL,
    NUMBER,
    STRING,
    AnyType,
    BoolType,
    ListType,
    MapType,
    NumberType,
    ObjectType,
    RefType,
    SetType,
    StringType,
    TupleType,
    Type,
)
from flareiac.lang.values import (
    Resource,
    Symbols,
    Value,
    from_data,
    kind,
    null,
    number_text,
    set_value,
    written_number,
)


class ConversionError(Exception):
    """A value cannot become what is wanted; ``path`` is where inside the value, ``message`` a clause without
    a full stop.
    """

    def __init__(self, message: str, path: Path = ()) -> None:
        super().__init__(f"{render_path(path)}: {message}" if path else message)
        self.message, self.path = message, path


_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\Z")


def named(type: Type) -> str:  # noqa: A002 - the field's word
    """``a string``, ``a list of numbers``, ... for messages."""
    match type:
        case RefType():
            return (
                "a reference to "
                + " or ".join(f"a {name}" for name in type.to)
                + (" or a string" if type.or_string else "")
            )
        case ListType(element) | SetType(element) | MapType(element):
            of = "" if isinstance(element, AnyType) else f" of {plural(element)}"
            return f"a {kind(type)}{of}"
        case ObjectType():
            return "an object"
        case AnyType():
            return "any value"
        case _:
            return f"a {kind(type)}"


def plural(type: Type) -> str:  # noqa: A002 - the field's word
    match type:
        case StringType() | NumberType() | BoolType():
            return f"{type}s"
        case ListType() | SetType() | MapType() | ObjectType() | TupleType():
            return f"{kind(type)}s"
        case RefType():
            return "references to " + " or ".join(f"a {name}" for name in type.to)
        case AnyType():
            return "any values"


def convert(value: Value, wanted: Type) -> Value:
    """The value as the wanted type. Raises ``ConversionError``. Marks are kept."""
    if isinstance(wanted, AnyType) or (value.type == wanted and not isinstance(wanted, ObjectType)):
        return value
    if value.raw is None:
        return Value(wanted, None, value.sensitive)
    if value.raw is UNKNOWN:
        return Value(_settled(value.type, wanted), UNKNOWN, value.sensitive)
    if isinstance(value.raw, Resource):
        return _from_resource(value, value.raw, wanted)
    if isinstance(value.raw, Symbols):
        raise ConversionError(f"{named(wanted)} is required, and {value.raw.name} alone is no value")
    try:
        converted = _converted(value, wanted)
    except ConversionError:
        if value.sensitive:
            raise ConversionError(
                f"{named(wanted)} is required, and the value is sensitive, so that the reason is not shown"
            ) from None
        raise
    return converted.with_sensitive(value.sensitive)


def _settled(have: Type, wanted: Type) -> Type:
    """The type of an unknown after conversion. Raises where no value of the type it has could be
    converted.
    """
    match have, wanted:
        case AnyType(), _:
            return wanted
        case ((StringType() | NumberType() | BoolType()), (StringType() | NumberType() | BoolType())):
            if (
                kind(have) != kind(wanted)
                and not isinstance(wanted, StringType)
                and not isinstance(have, StringType)
            ):
                raise ConversionError(f"{named(wanted)} is required, not {named(have)}")
            return wanted
        case ((StringType() | NumberType() | BoolType()), RefType()) if wanted.or_string:
            return wanted
        case ((StringType() | NumberType() | BoolType()), _):
            raise ConversionError(f"{named(wanted)} is required, not {named(have)}")
        case _, (StringType() | NumberType() | BoolType()):
            raise ConversionError(f"{named(wanted)} is required, not {named(have)}")
        case _:
            return wanted


def _converted(value: Value, wanted: Type) -> Value:
    match wanted:
        case StringType():
            return Value(STRING, _text(value))
        case NumberType():
            return Value(NUMBER, _number(value))
        case BoolType():
            return Value(BOOL, _bool(value))
        case ListType(element):
            return _list(value, element, wanted)
        case SetType(element):
            items = _elements(value, element, wanted)
            return set_value(items, unified_element(items, element))
        case TupleType(elements):
            return _tuple(value, elements)
        case MapType(element):
            return _map(value, element, wanted)
        case ObjectType():
            return _object(value, wanted)
        case RefType():
            if wanted.or_string and isinstance(value.raw, str | bool | Decimal):
                return Value(STRING, _text(value))
            raise ConversionError(f"{named(wanted)} is required, not {named(value.type)}")
        case AnyType():
            return value


def _from_resource(value: Value, resource: Resource, wanted: Type) -> Value:
    match wanted:
        case RefType(to):
            if to and resource.type and resource.type not in to:
                raise ConversionError(
                    f"{named(wanted)} is required, and {resource.address} is a {resource.type}"
                )
            return value
        case ObjectType() | MapType():
            view = Value(
                ObjectType({name: item.type for name, item in resource.attributes.items()}),
                resource.attributes,
                value.sensitive,
            )
            return convert(view, wanted)
        case _:
            raise ConversionError(
                f"{named(wanted)} is required, and {resource.address} is a {resource.type}; one of its "
                "attributes may be meant"
            )


def _text(value: Value) -> str:
    match value.raw:
        case str():
            return value.raw
        case bool():
            return "true" if value.raw else "false"
        case Decimal():
            return number_text(value.raw)
        case _:
            raise ConversionError(f"a string is required, not {named(value.type)}")


def _number(value: Value) -> Decimal:
    match value.raw:
        case bool():
            raise ConversionError("a number is required, not a bool")
        case Decimal():
            return value.raw
        case str() if _NUMBER.match(value.raw):
            try:
                return written_number(value.raw)
            except ValueError as error:
                raise ConversionError(f"a number is required: {error}") from None
        case str():
            raise ConversionError(f"a number is required, but this is {value.raw[:40]!r}")
        case _:
            raise ConversionError(f"a number is required, not {named(value.type)}")


def _bool(value: Value) -> bool:
    match value.raw:
        case bool():
            return value.raw
        case "true" | "1":
            return True
        case "false" | "0":
            return False
        case str():
            raise ConversionError("a bool is required; write true or false")
        case _:
            raise ConversionError(f"a bool is required, not {named(value.type)}")


def _elements(value: Value, element: Type, wanted: Type) -> list[Value]:
    if not isinstance(value.raw, tuple):
        raise ConversionError(f"{named(wanted)} is required, not {named(value.type)}")
    items: list[Value] = list(value.raw)
    if isinstance(element, AnyType):
        found = unify(_told(items))
        if found is None:
            raise ConversionError(f"all elements of {named(wanted)} must have the same type")
        element = found
    return [_inside(item, element, index) for index, item in enumerate(items)]


def _told(items: Iterable[Value]) -> list[Type]:
    """The types that decide what a collection is of: a null without a type becomes one of whatever the others
    are.
    """
    return [item.type for item in items if item.raw is not None or not isinstance(item.type, AnyType)]


def _inside(item: Value, wanted: Type, step: str | int) -> Value:
    try:
        return convert(item, wanted)
    except ConversionError as error:
        raise ConversionError(error.message, (step, *error.path)) from None


def unified_element(items: Sequence[Value], element: Type) -> Type:
    """The element type of a collection of converted items."""
    if not isinstance(element, AnyType) or not items:
        return element
    return unify([item.type for item in items]) or ANY


def _list(value: Value, element: Type, wanted: Type) -> Value:
    items = _elements(value, element, wanted)
    return Value(ListType(unified_element(items, element)), tuple(items))


def _tuple(value: Value, elements: tuple[Type, ...]) -> Value:
    if not isinstance(value.raw, tuple) or isinstance(value.type, SetType):
        raise ConversionError(f"a tuple is required, not {named(value.type)}")
    if len(value.raw) != len(elements):
        raise ConversionError(f"a tuple of {len(elements)} elements is required, not of {len(value.raw)}")
    items = tuple(
        _inside(item, wanted, index)
        for index, (item, wanted) in enumerate(zip(value.raw, elements, strict=True))
    )
    return Value(TupleType(tuple(item.type for item in items)), items)


def _map(value: Value, element: Type, wanted: Type) -> Value:
    if not isinstance(value.raw, Mapping):
        raise ConversionError(f"{named(wanted)} is required, not {named(value.type)}")
    if isinstance(element, AnyType) and value.raw:
        found = unify(_told(value.raw.values()))
        if found is None:
            raise ConversionError(f"all elements of {named(wanted)} must have the same type")
        element = found
    items = {name: _inside(item, element, name) for name, item in value.raw.items()}
    return Value(MapType(unified_element(list(items.values()), element)), items)


def _object(value: Value, wanted: ObjectType) -> Value:
    if not isinstance(value.raw, Mapping):
        raise ConversionError(f"an object is required, not {named(value.type)}")
    missing = [name for name in wanted.attributes if name not in value.raw and name not in wanted.optional]
    if missing:
        names = ", ".join(f'"{name}"' for name in missing)
        raise ConversionError(
            f"attribute{'s' if len(missing) > 1 else ''} {names} {'are' if len(missing) > 1 else 'is'} "
            "required"
        )
    items = {
        name: _inside(value.raw[name], kind_, name) if name in value.raw else null(kind_)
        for name, kind_ in wanted.attributes.items()
    }
    return Value(ObjectType({name: item.type for name, item in items.items()}), items)


def unify(types: Sequence[Type]) -> Type | None:
    """The one type that all of these can be converted to, or None."""
    distinct: list[Type] = []
    for item in types:
        if not isinstance(item, AnyType) and item not in distinct:
            distinct.append(item)
    if not distinct:
        return ANY
    if len(distinct) == 1:
        return distinct[0]
    if any(isinstance(item, AnyType) for item in types) and len({kind(item) for item in distinct}) > 1:
        return ANY
    return _unify_different(distinct)


def _unify_different(types: list[Type]) -> Type | None:
    if all(isinstance(item, StringType | NumberType | BoolType) for item in types):
        return STRING if any(isinstance(item, StringType) for item in types) else None
    if all(isinstance(item, RefType) for item in types):
        return RefType(
            tuple(dict.fromkeys(name for item in types if isinstance(item, RefType) for name in item.to))
        )
    if all(isinstance(item, ObjectType | MapType) for item in types):
        return _unify_maps(types)
    if all(isinstance(item, TupleType | ListType | SetType) for item in types):
        return _unify_lists(types)
    return None


def _unify_maps(types: list[Type]) -> Type | None:
    objects = [item for item in types if isinstance(item, ObjectType)]
    if len(objects) == len(types) and len({frozenset(item.attributes) for item in objects}) == 1:
        found = {name: unify([item.attributes[name] for item in objects]) for name in objects[0].attributes}
        settled = {name: item for name, item in found.items() if item is not None}
        return ObjectType(settled) if len(settled) == len(found) else None
    elements: list[Type] = []
    for item in types:
        if isinstance(item, ObjectType):
            elements.extend(item.attributes.values())
        elif isinstance(item, MapType):
            elements.append(item.element)
    element = unify(elements)
    return None if element is None else MapType(element)


def _unify_lists(types: list[Type]) -> Type | None:
    tuples = [item for item in types if isinstance(item, TupleType)]
    if len(tuples) == len(types) and len({len(item.elements) for item in tuples}) == 1:
        found = [unify(column) for column in zip(*(item.elements for item in tuples), strict=True)]
        settled = tuple(item for item in found if item is not None)
        return TupleType(settled) if len(settled) == len(found) else None
    elements: list[Type] = []
    for item in types:
        if isinstance(item, TupleType):
            elements.extend(item.elements)
        elif isinstance(item, ListType | SetType):
            elements.append(item.element)
    element = unify(elements)
    if element is None:
        return None
    return (
        SetType(element)
        if any(isinstance(item, SetType) for item in types) and not tuples
        else ListType(element)
    )


def from_plain(data: object, wanted: Type) -> Value:
    """Plain data as a value of a type. Raises ``ConversionError``."""
    return convert(from_data(data), wanted)
