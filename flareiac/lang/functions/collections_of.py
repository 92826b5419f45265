"""Functions that make or change collections."""

from collections.abc import Callable, Hashable, Mapping
from decimal import Decimal
from functools import reduce

from flareiac.kernel.numbers import NUMBERS
from flareiac.kernel.types import ANY, BOOL, NUMBER, STRING, ListType, MapType, SetType
from flareiac.lang.conversion import convert, named, unify
from flareiac.lang.functions.define import function, takes
from flareiac.lang.functions.signature import FunctionError, within_limit
from flareiac.lang.values import (
    Value,
    boolean,
    identity,
    list_value,
    map_value,
    normal,
    object_value,
    string,
    tuple_value,
    united,
)

_LIST = takes("list", ListType(ANY), parts=True)


def elements(value: Value, at: int = 0) -> tuple[Value, ...]:
    """The elements of a list, set or tuple. Raises ``FunctionError``."""
    if not isinstance(value.raw, tuple):
        raise FunctionError(f"a list is required, not {named(value.type)}", at)
    return value.raw


def ordered(value: Value, at: int = 0) -> tuple[Value, ...]:
    """The elements of a list or tuple. Raises ``FunctionError``, for sets too."""
    if isinstance(value.type, SetType):
        raise FunctionError("the elements of a set have no order. Convert it with tolist() first", at)
    return elements(value, at)


def like(items: list[Value], source: Value) -> Value:
    """Items as a list where they came from a list or set, else as a tuple."""
    if isinstance(source.type, ListType | SetType):
        return list_value(items, source.type.element)
    return tuple_value(items)


def whole(value: Value, at: int) -> int:
    """A whole number. Raises ``FunctionError``."""
    if value.raw != int(value.raw):
        raise FunctionError("a whole number is required", at)
    return int(value.raw)


def whole_64(value: Value, at: int) -> int:
    """A whole number of 64 bits, as Go counts with. Raises ``FunctionError``."""
    number = whole(value, at)
    if not -(2**63) <= number < 2**63:
        raise FunctionError("the number must fit into 64 bits", at)
    return number


def entries(value: Value, at: int = 0) -> Mapping[str, Value]:
    """The entries of a map or object. Raises ``FunctionError``."""
    if not isinstance(value.raw, Mapping):
        raise FunctionError(f"a map or an object is required, not {named(value.type)}", at)
    return value.raw


def _flags(items: Value, decide: Callable[[list[bool]], bool]) -> Value:
    return boolean(decide([element.raw is True for element in items.raw]))


def _chunks(items: Value, size: Value) -> Value:
    count, parts = whole_64(size, 1), elements(items)
    if count < 0:
        raise FunctionError("the size must not be negative", 1)
    count = count or max(1, len(parts))
    chunks = [like(list(parts[at : at + count]), items) for at in range(0, len(parts), count)]
    return (
        Value(ListType(items.type), tuple(chunks))
        if isinstance(items.type, ListType)
        else tuple_value(chunks)
    )


def _compact(items: Value) -> Value:
    return list_value([element for element in items.raw if element.raw not in (None, "")], STRING)


def _concat(*lists: Value) -> Value:
    if not lists:
        raise FunctionError("at least one list is needed")
    given = [ordered(each, at) for at, each in enumerate(lists)]
    within_limit(sum(map(len, given)), "elements")
    items = [value for each in given for value in each]
    if all(isinstance(each.type, ListType) for each in lists):
        element = unify([each.type.element for each in lists if isinstance(each.type, ListType)])
        if element is not None:
            return list_value([convert(value, element) for value in items], element)
    return tuple_value(items)


def _distinct(items: Value) -> Value:
    values: dict[Hashable, Value] = {}
    for element in elements(items):
        values.setdefault(identity(element), element)
    return like(list(values.values()), items)


def _flatten(items: Value) -> Value:
    out: list[Value] = []

    within_limit(items.weight, "elements")

    def walk(value: Value, marked: bool) -> None:
        for part in value.raw:
            if isinstance(part.raw, tuple):
                walk(part, marked or part.sensitive)
            else:
                out.append(part.with_sensitive(marked))

    elements(items)
    walk(items, False)
    return tuple_value(out)


def _keys(value: Value) -> Value:
    names = [string(name) for name in sorted(entries(value))]
    return list_value(names, STRING) if isinstance(value.type, MapType) else tuple_value(names)


def _values(value: Value) -> Value:
    members = entries(value)
    items = [members[name] for name in sorted(members)]
    return list_value(items, value.type.element) if isinstance(value.type, MapType) else tuple_value(items)


def _merge(*maps: Value) -> Value:
    given = [(at, argument) for at, argument in enumerate(maps) if argument.raw is not None]
    out = united(part for at, argument in given for part in entries(argument, at).items())
    kinds = {argument.type for argument in maps}
    if len(kinds) == 1 and isinstance(kind := kinds.pop(), MapType):
        return map_value(out, kind.element)
    return object_value(out)


def _range(*bounds: Value) -> Value:
    match [bound.raw for bound in bounds]:
        case [limit]:
            start, steps = Decimal(0), list[Decimal]()
        case [start, limit, *steps] if len(steps) <= 1:
            pass
        case _:
            raise FunctionError("one to three numbers are needed")
    step = steps[0] if steps else Decimal(1 if limit >= start else -1)
    if step == 0:
        raise FunctionError("the step must not be zero", 2)
    if (limit - start) * step < 0:
        raise FunctionError("the step leads away from the limit", 2)
    if abs((limit - start) / step) > 1024:
        raise FunctionError("a range has at most 1024 numbers")
    out: list[Value] = []
    while (limit - start) * step > 0:
        out.append(Value(NUMBER, start))
        start = NUMBERS.add(start, step)
    return list_value(out, NUMBER)


def _slice(items: Value, start: Value, end: Value) -> Value:
    parts, first, last = ordered(items), whole_64(start, 1), whole_64(end, 2)
    if not 0 <= first <= last <= len(parts):
        raise FunctionError(
            f"start and end must lie between 0 and {len(parts)}, the start not after the end", 1
        )
    return like(list(parts[first:last]), items)


def _sort(items: Value) -> Value:
    if any(element.raw is None for element in items.raw):
        raise FunctionError("null cannot be sorted", 0)
    return list_value(sorted(items.raw, key=lambda element: normal(element.raw)), STRING)


def _sum(items: Value) -> Value:
    parts = elements(items)
    if not parts:
        raise FunctionError("at least one number is needed", 0)
    if any(part.raw is None for part in parts):
        raise FunctionError("null cannot be added", 0)
    return Value(NUMBER, reduce(NUMBERS.add, (convert(part, NUMBER).raw for part in parts)))


def _transpose(value: Value) -> Value:
    out: dict[str, list[str]] = {}
    spelt: dict[str, str] = {}
    for name in sorted(value.raw):
        if value.raw[name].raw is None or any(
            value_element.raw is None for value_element in value.raw[name].raw
        ):
            raise FunctionError(f"there is a null under {name!r}", 0)
        for value_element in value.raw[name].raw:
            out.setdefault(spelt.setdefault(normal(value_element.raw), value_element.raw), []).append(name)
    element = ListType(STRING)
    return map_value(
        {name: list_value([string(text) for text in sorted(names)], STRING) for name, names in out.items()},
        element,
    )


def _zip(keys: Value, values: Value) -> Value:
    names, items = keys.raw, ordered(values, 1)
    if len(names) != len(items):
        raise FunctionError(f"there are {len(names)} keys and {len(items)} values")
    if any(name.raw is None for name in names):
        raise FunctionError("a key is null", 0)
    out = united((name.raw, value) for name, value in zip(names, items, strict=True))
    return map_value(out, values.type.element) if isinstance(values.type, ListType) else object_value(out)


def _reverse(items: Value) -> Value:
    return like(list(reversed(elements(items))), items)


def _match_keys(values: Value, keys: Value, wanted: Value) -> Value:
    items, names = elements(values), elements(keys, 1)
    if len(items) != len(names):
        raise FunctionError("values and keys have different lengths")
    element = unify([part.type for part in (*names, *elements(wanted, 2))])
    if element is None:
        raise FunctionError("the keys and the wanted keys must have the same type")
    asked = {identity(convert(key, element)) for key in elements(wanted, 2)}
    kept = [
        value for value, name in zip(items, names, strict=True) if identity(convert(name, element)) in asked
    ]
    return like(kept, values)


_ANY_LIST = takes("list", parts=True)
_BOOLS = takes("list", ListType(BOOL))

FUNCTIONS = (
    function(
        "alltrue",
        (_BOOLS,),
        BOOL,
        lambda items: _flags(items, all),
        "Whether all elements are true (also where there is none).",
    ),
    function("anytrue", (_BOOLS,), BOOL, lambda items: _flags(items, any), "Whether any element is true."),
    function("chunklist", (_LIST, takes("size", NUMBER)), ANY, _chunks, "The list in pieces of a size."),
    function(
        "compact",
        (takes("list", ListType(STRING)),),
        ListType(STRING),
        _compact,
        "The list without empty and null texts.",
    ),
    function(
        "concat", (), ANY, _concat, "The elements of all lists in one.", variadic=takes("lists", parts=True)
    ),
    function("distinct", (takes("list", ListType(ANY)),), ANY, _distinct, "The list with each value once."),
    function("flatten", (_ANY_LIST,), ANY, _flatten, "The elements of nested lists in one list."),
    function("keys", (takes("map", parts=True),), ListType(STRING), _keys, "The keys of a map, sorted."),
    function(
        "matchkeys",
        (_LIST, takes("keys", ListType(ANY)), takes("wanted", ListType(ANY))),
        ANY,
        _match_keys,
        "The values whose key is among the wanted.",
    ),
    function(
        "merge",
        (),
        ANY,
        _merge,
        "All entries of the maps; of equal keys the last one counts.",
        variadic=takes("maps", null=True, parts=True),
    ),
    function(
        "range",
        (),
        ListType(NUMBER),
        _range,
        "Numbers from a start up to a limit by a step: range(limit), range(start, limit), range(start, "
        "limit, step).",
        variadic=takes("numbers", NUMBER),
    ),
    function("reverse", (_ANY_LIST,), ANY, _reverse, "The list backwards."),
    function(
        "slice",
        (_ANY_LIST, takes("start", NUMBER), takes("end", NUMBER)),
        ANY,
        _slice,
        "The elements from a start up to, not including, an end.",
    ),
    function(
        "sort", (takes("list", ListType(STRING)),), ListType(STRING), _sort, "The texts sorted by code point."
    ),
    function("sum", (takes("list"),), NUMBER, _sum, "The sum of the numbers."),
    function(
        "transpose",
        (takes("map", MapType(ListType(STRING))),),
        MapType(ListType(STRING)),
        _transpose,
        "The map of lists with keys and values swapped.",
    ),
    function(
        "values",
        (takes("map", parts=True),),
        ANY,
        _values,
        "The values of a map, in the order of its sorted keys.",
    ),
    function(
        "zipmap",
        (takes("keys", ListType(STRING)), takes("values", parts=True)),
        ANY,
        _zip,
        "A map from a list of keys and a list of values.",
    ),
)
