"""cty's conversions: a value to a wanted type, and the one type that several types can be converted to."""

import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from itertools import repeat
from typing import Final

from flareiac.kernel.articles import with_article
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
    object_value,
    plain_text,
    set_value,
    tuple_value,
    written_number,
)


class ConversionError(Exception):
    """A value cannot become what is wanted; ``path`` is where inside the value, ``message`` a clause without
    a full stop.
    """

    def __init__(self, message: str, path: Path = ()) -> None:
        super().__init__(f"{render_path(path)}: {message}" if path else message)
        self.message, self.path = message, path


_PRIMITIVE: Final = (StringType, NumberType, BoolType)
_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\Z")


def named(type: Type) -> str:  # noqa: A002 - the field's word
    """``a string``, ``a list of numbers``, ... for messages."""
    match type:
        case RefType(to, or_string):
            return f"a reference to {_any_of(to)}{' or a string' if or_string else ''}"
        case ListType(element) | SetType(element) | MapType(element) if not isinstance(element, AnyType):
            return f"{with_article(kind(type))} of {_plural(element)}"
        case ObjectType():
            return "an object"
        case AnyType():
            return "any value"
        case _:
            return with_article(kind(type))


def _plural(type: Type) -> str:  # noqa: A002 - the field's word
    return f"references to {_any_of(type.to)}" if isinstance(type, RefType) else f"{kind(type)}s"


def _any_of(block_types: Iterable[str]) -> str:
    return " or ".join(with_article(name) for name in block_types)


def convert(value: Value, wanted: Type) -> Value:
    """The value as the wanted type. Raises ``ConversionError``. Marks are kept."""
    if isinstance(wanted, AnyType) or (value.type == wanted and not isinstance(wanted, ObjectType)):
        return value
    if value.raw is None:
        return Value(wanted, None, value.sensitive)
    if value.raw is UNKNOWN:
        if not may_become(value.type, wanted):
            raise _unsuitable(value, wanted)
        return Value(wanted, UNKNOWN, value.sensitive)
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


def _unsuitable(value: Value, wanted: Type) -> ConversionError:
    return ConversionError(f"{named(wanted)} is required, not {named(value.type)}")


def may_become(have: Type, wanted: Type) -> bool:  # noqa: C901 - one line a kind of type
    """Returns True if a value of a type, once it is known, could be converted."""
    match have, wanted:
        case (AnyType(), _) | (_, AnyType()):
            return True
        case ((StringType() | NumberType() | BoolType()), (StringType() | NumberType() | BoolType())):
            return have == wanted or STRING in (have, wanted)
        case ((StringType() | NumberType() | BoolType()), RefType()):
            return wanted.or_string
        case (ListType() | SetType() | TupleType(), ListType(element) | SetType(element)):
            return all(may_become(part, element) for part in _inner(have).values())
        case (ListType(element), TupleType(elements)):
            return all(may_become(element, part) for part in elements)
        case (TupleType(given), TupleType(elements)):
            return len(given) == len(elements) and all(map(may_become, given, elements))
        case (MapType() | ObjectType(), MapType(element)):
            return all(may_become(part, element) for part in _inner(have).values())
        case (MapType(element), ObjectType(attributes)):
            return all(may_become(element, attribute) for attribute in attributes.values())
        case (ObjectType(given), ObjectType(attributes, optional)):
            return all(
                may_become(given[name], attribute) if name in given else name in optional
                for name, attribute in attributes.items()
            )
        case (RefType(), RefType() | MapType() | ObjectType()):
            return True
        case _:
            return False


def _converted(value: Value, wanted: Type) -> Value:
    """A known value. Type and value decide together, so that what fits nowhere is refused in one place."""
    match wanted, value.raw:
        case ((StringType() | RefType(or_string=True)), (str() | bool() | Decimal())):
            return Value(STRING, plain_text(value.raw))
        case NumberType(), (str() | Decimal()):
            return Value(NUMBER, _number(value.raw))
        case BoolType(), (str() | bool()):
            return Value(BOOL, _bool(value.raw))
        case ListType(), tuple():
            items, element = _elements(value, wanted)
            return Value(ListType(element), items)
        case SetType(), tuple():
            items, element = _elements(value, wanted)
            return set_value(items, element)
        case MapType(), Mapping():
            items, element = _elements(value, wanted)
            return Value(MapType(element), dict(zip(value.raw, items, strict=True)))
        case TupleType(elements), tuple() if not isinstance(value.type, SetType):
            if len(value.raw) != len(elements):
                raise ConversionError(
                    f"a tuple of {len(elements)} elements is required, not of {len(value.raw)}"
                )
            return tuple_value(_inside(value, elements))
        case ObjectType(), Mapping():
            return _object(value.raw, wanted)
        case _:
            raise _unsuitable(value, wanted)


def _from_resource(value: Value, resource: Resource, wanted: Type) -> Value:
    match wanted:
        case RefType(to):
            if to and resource.type and resource.type not in to:
                raise ConversionError(
                    f"{named(wanted)} is required, and {resource.address} is {with_article(resource.type)}"
                )
            return value
        case ObjectType() | MapType():
            view = Value(
                ObjectType({name: attribute.type for name, attribute in resource.attributes.items()}),
                resource.attributes,
                value.sensitive,
            )
            return convert(view, wanted)
        case _:
            raise ConversionError(
                f"{named(wanted)} is required, and {resource.address} is {with_article(resource.type)}; one "
                "of its attributes may be meant"
            )


def _number(raw: str | Decimal) -> Decimal:
    if isinstance(raw, Decimal):
        return raw
    if not _NUMBER.match(raw):
        raise ConversionError(f"a number is required, but this is {raw[:40]!r}")
    try:
        return written_number(raw)
    except ValueError as error:
        raise ConversionError(f"a number is required: {error}") from None


_BOOLS: Final[Mapping[str | bool, bool]] = {"true": True, "1": True, "false": False, "0": False}


def _bool(raw: str | bool) -> bool:
    if isinstance(raw, bool):
        return raw
    if raw not in _BOOLS:
        raise ConversionError("a bool is required; write true or false")
    return _BOOLS[raw]


def _elements(value: Value, wanted: ListType | SetType | MapType) -> tuple[tuple[Value, ...], Type]:
    """The parts of a collection as elements of another, and their type. Where any will do, at whatever depth,
    it is one type for all of them; a null without a type becomes one of whatever the others are.
    """
    element = wanted.element
    if not value.raw and not may_become(value.type, wanted):
        raise _unsuitable(value, wanted)
    if not leaves_open(element):
        return _inside(value, repeat(element)), element
    if not value.raw:
        own = getattr(value.type, "element", ANY)
        return (), own if isinstance(element, AnyType) else element
    parts = dict(zip((step for step, _ in value.parts), _inside(value, repeat(element)), strict=True))
    typed = [part for part in parts.values() if part.raw is not None or not leaves_open(part.type)]
    common = unify([part.type for part in typed])
    if common is None:
        raise ConversionError(f"all elements of {named(wanted)} must have the same type")
    converted = tuple(_at(step, part, common) for step, part in parts.items())
    return converted, unify([part.type for part in converted]) or ANY


def leaves_open(type: Type) -> bool:  # noqa: A002 - the field's word
    """Returns True where some part of a type may be any."""
    return isinstance(type, AnyType) or any(map(leaves_open, _inner(type).values()))


def _inside(value: Value, wanted: Iterable[Type]) -> tuple[Value, ...]:
    """The parts of a collection, each as its type."""
    return tuple(_at(step, part, type_) for (step, part), type_ in zip(value.parts, wanted, strict=False))


def _at(step: str | int, value: Value, wanted: Type) -> Value:
    try:
        return convert(value, wanted)
    except ConversionError as error:
        raise ConversionError(error.message, (step, *error.path)) from None


def _object(given: Mapping[str, Value], wanted: ObjectType) -> Value:
    missing = [name for name in wanted.attributes if name not in given and name not in wanted.optional]
    if missing:
        several = len(missing) > 1
        names = ", ".join(f'"{name}"' for name in missing)
        raise ConversionError(
            f"attribute{'s' if several else ''} {names} {'are' if several else 'is'} required"
        )
    return object_value(
        {
            name: _at(name, given[name], type_) if name in given else null(type_)
            for name, type_ in wanted.attributes.items()
        }
    )


def unify(types: Iterable[Type]) -> Type | None:
    """The one type that all of these can be converted to, or None. Any type takes no part."""
    distinct: list[Type] = []
    for candidate in types:
        if not isinstance(candidate, AnyType) and candidate not in distinct:
            distinct.append(candidate)
    if not distinct:
        return ANY
    return distinct[0] if len(distinct) == 1 else _unify_different(distinct)


def _unify_different(types: list[Type]) -> Type | None:
    """Primitives meet as strings. Objects of the same names and tuples of the same length keep their shape;
    others meet as a map or a list of what is in them. A set beside lists or tuples: see ``_preferred``.
    """
    kinds = {candidate.__class__ for candidate in types}
    if kinds <= set(_PRIMITIVE):
        return STRING if StringType in kinds else None
    if kinds == {RefType}:
        return RefType(
            tuple(dict.fromkeys(name for candidate in types for name in getattr(candidate, "to", ())))
        )
    inner = [_inner(candidate) for candidate in types]
    if kinds in ({ObjectType}, {TupleType}) and all(
        step_types.keys() == inner[0].keys() for step_types in inner
    ):
        return _unify_shape(types[0], inner)
    collection: Callable[[Type], Type] = SetType
    if kinds <= {TupleType, ListType}:
        collection = ListType
    elif kinds <= {ObjectType, MapType}:
        collection = MapType
    elif kinds != {SetType}:
        return _preferred(types)
    parts = [part for step_types in inner for part in step_types.values()]
    element = unify(parts)
    if element is None and collection is MapType and ANY in parts:
        element = ANY  # each member stays what it is, as far as the members of the one that is taken agree
    return None if element is None else collection(element)


def _preferred(types: list[Type]) -> Type | None:
    """The first of these types that all others can be converted to: lists count before sets, and the elements
    stay what they are. A tuple is never the one, for no set can become a tuple.
    """
    choices: list[Type] = []
    for kept in (ListType, SetType):
        same_kind = [candidate for candidate in types if isinstance(candidate, kept)]
        wider = unify(same_kind) if same_kind else None
        choices += [*([] if wider is None else [wider]), *same_kind]
    return next((choice for choice in choices if all(may_become(other, choice) for other in types)), None)


def _unify_shape(like: Type, inner: list[Mapping[str | int, Type]]) -> Type | None:
    """The object or tuple of what the parts at each step can be converted to."""
    unified = {step: unify([step_types[step] for step_types in inner]) for step in inner[0]}
    settled = {step: part for step, part in unified.items() if part is not None}
    if len(settled) < len(unified):
        return None
    if isinstance(like, TupleType):
        return TupleType(tuple(settled.values()))
    return ObjectType({str(name): part for name, part in settled.items()})


def _inner(type: Type) -> Mapping[str | int, Type]:  # noqa: A002 - the field's word
    """The types inside a type, by name or index."""
    match type:
        case ObjectType(attributes):
            return dict(attributes.items())
        case TupleType(elements):
            return dict(enumerate(elements))
        case ListType(element) | SetType(element) | MapType(element):
            return {0: element}
        case _:
            return {}


def from_plain(data: object, wanted: Type) -> Value:
    """Plain data as a value of a type. Raises ``ConversionError``."""
    return convert(from_data(data), wanted)
