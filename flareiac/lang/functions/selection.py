"""Functions that pick something out of collections or out of their arguments."""

from collections.abc import Mapping
from typing import Final

from flareiac.kernel.types import (
    ANY,
    BOOL,
    NUMBER,
    STRING,
    AnyType,
    ListType,
    MapType,
    ObjectType,
    SetType,
    TupleType,
    Type,
)
from flareiac.lang.conversion import ConversionError, convert, leaves_open, may_become, named, unify
from flareiac.lang.functions.characters import clusters
from flareiac.lang.functions.collections_of import elements, entries, ordered, whole_64
from flareiac.lang.functions.define import function, takes
from flareiac.lang.functions.signature import FunctionError
from flareiac.lang.values import Value, boolean, contains_sensitive, null, number, same, spelling, unknown

_STRUCTURES: Final = (
    ({TupleType, ListType}, ListType),
    ({ObjectType, MapType}, MapType),
    ({SetType}, SetType),
)


def _beside_untyped(types: list[Type]) -> Type | None:
    """The type of the result where a null has none, as cty has it: values of one structure stay what they
    are, and beside tuples or objects the first list or map counts that all may become.
    """
    typed = [kind for kind in types if kind != ANY]
    kinds = {kind.__class__ for kind in typed}
    if len(kinds) == 1 and any(kinds <= members for members, _ in _STRUCTURES):
        return ANY
    for members, collection in _STRUCTURES:
        if kinds == members:
            choices = [kind for kind in typed if isinstance(kind, collection)]
            return next(
                (choice for choice in choices if all(may_become(other, choice) for other in typed)), ANY
            )
    return unify(typed) or ANY


def _as_far_as_known(value: Value, wanted: Type) -> Value:
    """The value as a type, or as it is where the type is open and does not fit after all."""
    try:
        return convert(value, wanted)
    except ConversionError:
        if leaves_open(wanted):
            return value
        raise


def _coalesce(*items: Value) -> Value:
    types = [argument.type for argument in items]
    wanted = _beside_untyped(types) if ANY in types else unify(types)
    if wanted is None:
        raise FunctionError("all arguments must have the same type")
    for argument in items:
        value = _as_far_as_known(argument, wanted)
        if value.raw is not None and (value.raw != "" or value.type != STRING):
            return value
    raise FunctionError("every argument is null or empty")


def _coalesce_list(*items: Value) -> Value:
    for at, argument in enumerate(items):
        if argument.raw is None and isinstance(argument.type, AnyType):
            raise FunctionError("a list is required, not null", at)
    lists = [
        (argument, ordered(argument, at)) for at, argument in enumerate(items) if argument.raw is not None
    ]
    for argument, elements_of in lists:
        if elements_of:
            return argument
    raise FunctionError("every argument is null or empty")


def _contains(items: Value, wanted: Value) -> Value:
    parts = elements(items)
    answers = [same(part, wanted) for part in parts]
    answer = boolean(True) if True in answers else (unknown(BOOL) if None in answers else boolean(False))
    return answer.with_sensitive(any(contains_sensitive(part) for part in parts))


def _element(items: Value, index: Value) -> Value:
    parts = ordered(items)
    if not parts:
        raise FunctionError("an empty list has no elements", 0)
    return parts[whole_64(index, 1) % len(parts)]


def _index(items: Value, wanted: Value) -> Value:
    if isinstance(items.type, SetType):
        raise FunctionError("a list is required: the elements of a set have no order", 0)
    for at, element in enumerate(elements(items)):
        if same(element, wanted):
            return number(at)
    raise FunctionError("the list does not contain the value", 1)


def _length(value: Value) -> Value:
    match value.raw:
        case str():
            return number(len(clusters(value.raw)))
        case tuple() | Mapping():
            return number(len(value.raw))
        case _:
            raise FunctionError(f"only texts and collections have a length, not {named(value.type)}", 0)


def _lookup(value: Value, key: Value, *default: Value) -> Value:
    members = entries(value)
    if default and isinstance(value.type, MapType):
        default = (convert(default[0], value.type.element),)
    if (name := spelling(members, key.raw)) in members:
        return members[name]
    if not default:
        raise FunctionError(f"there is no key {key.raw!r}, and no default was given", 1)
    return default[0]


def _one(items: Value) -> Value:
    parts = elements(items)
    if len(parts) > 1:
        raise FunctionError(f"a list of no or one element is required, and it has {len(parts)}", 0)
    if not parts:
        element = getattr(items.type, "element", ANY)
        return null(element)
    return parts[0]


FUNCTIONS = (
    function(
        "coalesce",
        (),
        ANY,
        _coalesce,
        "The first argument that is neither null nor an empty text.",
        variadic=takes("values", null=True, parts=True),
    ),
    function(
        "coalescelist",
        (),
        ANY,
        _coalesce_list,
        "The first list that is neither null nor empty.",
        variadic=takes("lists", null=True, parts=True),
    ),
    function(
        "contains",
        (takes("list", parts=True), takes("value", null=True)),
        BOOL,
        _contains,
        "Whether a list contains a value.",
    ),
    function(
        "element",
        (takes("list", parts=True), takes("index", NUMBER)),
        ANY,
        _element,
        "The element at an index; past the end it begins again.",
    ),
    function(
        "index", (takes("list"), takes("value", null=True)), NUMBER, _index, "The index of a value in a list."
    ),
    function(
        "length", (takes("value", parts=True),), NUMBER, _length, "The number of elements, or of characters."
    ),
    function(
        "lookup",
        (
            takes("map", parts=True),
            takes("key", STRING),
            takes("default", null=True, parts=True, optional=True),
        ),
        ANY,
        _lookup,
        "The value of a key, or a default.",
    ),
    function(
        "one",
        (takes("list", parts=True),),
        ANY,
        _one,
        "The only element of a list, or null where it is empty.",
    ),
)
