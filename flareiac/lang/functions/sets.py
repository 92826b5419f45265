"""Functions of sets."""

from itertools import product

from flareiac.kernel.types import ANY, ListType, SetType, TupleType, Type
from flareiac.lang.conversion import convert, unify
from flareiac.lang.functions.collections_of import elements
from flareiac.lang.functions.define import function, takes
from flareiac.lang.functions.signature import FunctionError, within_limit
from flareiac.lang.values import Value, identity, set_value, tuple_value


def _same_kind(sets: tuple[Value, ...]) -> list[Value]:
    if not sets:
        raise FunctionError("at least one set is needed")
    element = unify([argument.type.element for argument in sets if isinstance(argument.type, SetType)])
    if element is None:
        raise FunctionError("the elements of all sets must have the same type")
    return [convert(argument, SetType(element)) for argument in sets]


def _made(items: list[Value], like: Value) -> Value:
    return set_value(items, like.type.element if isinstance(like.type, SetType) else ANY)


def _union(*sets: Value) -> Value:
    given = _same_kind(sets)
    return _made([element for each in given for element in each.raw], given[0])


def _intersection(*sets: Value) -> Value:
    given = _same_kind(sets)
    shared = set.intersection(*({identity(element) for element in each.raw} for each in given))
    return _made([element for element in given[0].raw if identity(element) in shared], given[0])


def _subtract(left: Value, right: Value) -> Value:
    one, two = _same_kind((left, right))
    gone = {identity(element) for element in two.raw}
    return _made([element for element in one.raw if identity(element) not in gone], one)


def _element(value: Value) -> Type:
    if isinstance(value.type, ListType | SetType):
        return value.type.element
    return unify([part.type for part in value.raw]) or ANY


def _product(*lists: Value) -> Value:
    if len(lists) < 2:
        raise FunctionError("at least two lists or sets are needed")
    parts = [elements(argument, at) for at, argument in enumerate(lists)]
    size = 1
    for part in parts:
        size *= len(part)
    within_limit(size * len(lists), "elements")
    rows = [tuple_value(row) for row in product(*parts)]
    sets = any(isinstance(argument.type, SetType) for argument in lists)
    if not rows:
        row = TupleType(tuple(_element(argument) for argument in lists))
        return Value(SetType(row) if sets else ListType(row), ())
    return convert(tuple_value(rows), SetType(ANY) if sets else ListType(ANY))


_SETS = takes("sets", SetType(ANY))

FUNCTIONS = (
    function("setintersection", (), ANY, _intersection, "The elements that all sets have.", variadic=_SETS),
    function(
        "setproduct",
        (),
        ANY,
        _product,
        "All combinations of one element of each list or set.",
        variadic=takes("sets"),
    ),
    function(
        "setsubtract",
        (takes("from", SetType(ANY)), takes("set", SetType(ANY))),
        ANY,
        _subtract,
        "The elements of the first set that the second lacks.",
    ),
    function("setunion", (), ANY, _union, "The elements of all sets.", variadic=_SETS),
)
