"""Values of the language, after cty: typed, immutable, with null, unknown and the sensitive mark."""

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from itertools import islice
from typing import Any, Final
from unicodedata import normalize

from flareiac.kernel.addresses import block_type
from flareiac.kernel.codes import Code
from flareiac.kernel.data import UNKNOWN, Data, Reference, Unknown
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.numbers import LARGEST_EXPONENT, Number, exact_number, number_text
from flareiac.kernel.paths import Path
from flareiac.kernel.types import (
    ANY,
    BOOL,
    NUMBER,
    STRING,
    AnyType,
    ListType,
    MapType,
    ObjectType,
    RefType,
    SetType,
    TupleType,
    Type,
)
from flareiac.lang.escapes import quote


def written_number(text: str) -> Decimal:
    """The number that a text spells. Raises ``ValueError`` where it is none, or out of range."""
    try:
        value = Decimal(text)
    except ArithmeticError:
        raise ValueError("not a number") from None
    if not value.is_finite() or abs(value.adjusted()) > LARGEST_EXPONENT or len(text) > LARGEST_EXPONENT:
        raise ValueError(f"numbers have up to {LARGEST_EXPONENT} digits")
    return value


@dataclass(frozen=True, slots=True)
class Resource:
    """The resource behind a reference: the address, and the attributes that expressions may read."""

    address: str
    type: str
    attributes: Mapping[str, "Value"]


LONGEST_TEXT: Final = 16 * 1024 * 1024
"""Characters of one text."""

MOST_ELEMENTS: Final = 1_000_000
"""Parts of one value, counted as often as they occur, and steps of all loops of an expression. A value that
doubles in each of a few steps must not fill the memory, and a part that it holds twice is small only until
something goes through it.
"""

_CHARACTERS_OF_A_PART: Final = 64
"""So many characters of a text weigh as much as one part more."""


class _Weighed:
    """Holds what ``Value.weight`` counted once."""

    __slots__ = ("_weight",)

    _weight: int


@dataclass(frozen=True, slots=True)
class Value(_Weighed):
    """A value. ``raw`` is None for null and UNKNOWN for unknown; lists, sets and tuples hold a tuple, maps
    and objects a mapping.

    ``sensitive`` marks the value as a whole; parts carry their own mark.
    """

    type: Type
    raw: Any
    sensitive: bool = False

    @property
    def weight(self) -> int:
        """The number of parts at all depths, those that are shared counted each time; long texts count as
        several.
        """
        try:
            return self._weight
        except AttributeError:
            weight = _weigh(self)
            object.__setattr__(self, "_weight", weight)
            return weight

    @property
    def is_null(self) -> bool:
        return self.raw is None

    @property
    def is_unknown(self) -> bool:
        return self.raw is UNKNOWN

    @property
    def is_known(self) -> bool:
        """Returns True if no part of the value is unknown (the attributes of a resource do not count)."""
        return self.raw is not UNKNOWN and all(part.is_known for _, part in self.parts)

    @property
    def parts(self) -> Iterable[tuple[int | str, "Value"]]:
        """The elements of a collection, by index or name; empty for any other value."""
        match self.raw:
            case str() | Decimal():  # most values: spared the slow question whether it is a mapping
                return ()
            case tuple():
                return enumerate(self.raw)
            case Mapping():
                return self.raw.items()
            case _:
                return ()

    def with_sensitive(self, sensitive: bool = True) -> "Value":
        """The same value, marked as well if asked to."""
        return replace(self, sensitive=True) if sensitive and not self.sensitive else self


def _weigh(value: Value) -> int:
    match value.raw:
        case str() as text:
            return 1 + len(text) // _CHARACTERS_OF_A_PART
        case tuple() as items if items:
            return 1 + _sum_of_weights(items)
        case Mapping() as members if members:
            names = sum(map(len, members)) // _CHARACTERS_OF_A_PART
            return 1 + names + _sum_of_weights(members.values())
        case bool() | Decimal() | Resource() | Symbols():
            return 1
        case _:  # what holds nothing may still be of a type that grew
            return _weight_of_type(value.type, {})


def _sum_of_weights(items: Iterable[Value]) -> int:
    total = 0
    for part in items:
        raw = part.raw
        kind = raw.__class__
        if kind is str:  # most parts: spared a call for each
            total += 1 + len(raw) // _CHARACTERS_OF_A_PART
        else:
            total += 1 if kind is Decimal or kind is bool else part.weight
    return total


def _weight_of_type(type: Type, known: dict[int, int]) -> int:  # noqa: A002 - the field's word
    """As ``Value.weight``, of a type. ``known``: the weights of types by ``id``."""
    if id(type) not in known:
        match type:
            case ListType(element) | SetType(element) | MapType(element):
                inner: Iterable[Type] = (element,)
            case TupleType(elements):
                inner = elements
            case ObjectType(attributes):
                inner = attributes.values()
            case _:
                inner = ()
        known[id(type)] = 1 + sum(_weight_of_type(part, known) for part in inner)
    return known[id(type)]


def string(text: str) -> Value:
    return Value(STRING, text)


def normal(text: str) -> str:
    """The text in Unicode's form C, in which equal texts have equal characters.

    Texts are compared so, and kept as they are written: the name of a column or of a file is what it is.
    """
    return text if text.isascii() else normalize("NFC", text)


def spelling(names: Iterable[str], name: str) -> str:
    """A name as it is spelt among others that Unicode has several spellings for; the name itself where it is
    not among them.
    """
    if name.isascii() or name in names:
        return name
    wanted = normal(name)
    return next((other for other in names if normal(other) == wanted), name)


def united(members: Iterable[tuple[str, "Value"]]) -> dict[str, "Value"]:
    """One member for each name, whatever its spelling: the first spelling with the last value."""
    out: dict[str, Value] = {}
    spelt: dict[str, str] = {}
    for name, value in members:
        out[spelt.setdefault(normal(name), name)] = value
    return out


def number(value: int | Decimal) -> Value:
    return Value(NUMBER, Decimal(value))


def boolean(value: bool) -> Value:
    return Value(BOOL, value)


def null(type: Type = ANY) -> Value:  # noqa: A002 - the field's word
    return Value(type, None)


def unknown(type: Type = ANY, *, sensitive: bool = False) -> Value:  # noqa: A002 - the field's word
    return Value(type, UNKNOWN, sensitive)


def object_value(attributes: Mapping[str, Value]) -> Value:
    return Value(ObjectType({name: attribute.type for name, attribute in attributes.items()}), attributes)


def tuple_value(items: Iterable[Value]) -> Value:
    parts = tuple(items)
    return Value(TupleType(tuple(part.type for part in parts)), parts)


def list_value(items: Iterable[Value], element: Type) -> Value:
    """A list; the items are of the element's type already."""
    return Value(ListType(element), tuple(items))


def map_value(items: Mapping[str, Value], element: Type) -> Value:
    """A map; the items are of the element's type already."""
    return Value(MapType(element), dict(items))


def set_value(items: Iterable[Value], element: Type) -> Value:
    """A set: equal items once, in cty's order (strings by code point, numbers by size). Marks of items move
    to the set.
    """
    parts: dict[Hashable, Value] = {}
    marked = False
    for part in items:
        parts.setdefault(identity(part), part)
        # Of equal items only one stays, and not always the marked one
        marked = marked or contains_sensitive(part)
    ordered = sorted(parts.items(), key=lambda pair: _order(pair[0]))
    return Value(SetType(element), tuple(unmark(part) if marked else part for _, part in ordered), marked)


def resource_value(address: str, type: str, attributes: Mapping[str, Value]) -> Value:  # noqa: A002 - the field's word
    """A reference to a resource whose attributes can be read. ``attributes`` may compute on access."""
    return Value(RefType((type,)), Resource(address, type, attributes))


@dataclass(frozen=True, slots=True)
class Symbols:
    """The attributes of a root symbol, computed on access; ``name`` is used in messages."""

    name: str
    members: Mapping[str, Value]


class NamedValues(dict[str, Value]):
    """The members of an object that others named. ``lacks(name)``: code and sentence for a name that is not
    among them.
    """

    def __init__(self, members: Mapping[str, Value], lacks: Callable[[str], tuple[Code, str]]) -> None:
        super().__init__(members)
        self.lacks = lacks


def lazy_object(members: Mapping[str, Value], name: str) -> Value:
    """A root symbol such as ``table`` or ``var``: ``members`` may compute on access (``KeyError``: no such
    name).
    """
    return Value(ANY, Symbols(name, members))


def identity(value: Value) -> Hashable:
    """A hashable that is equal for equal values of one type."""
    match value.raw:
        case tuple():
            return ("s", *(identity(part) for part in value.raw))
        case Mapping():
            return ("m", *sorted((normal(name), identity(part)) for name, part in value.raw.items()))
        case Resource():
            return ("r", value.raw.address)
        case None | Unknown():
            return ("u", id(value) if value.raw is UNKNOWN else None)
        case str():
            return ("str", normal(value.raw))
        case raw:
            return (type(raw).__name__, raw)


def _order(key: Any) -> Any:
    """Sortable texts for anything but plain strings and numbers, which sort by themselves."""
    return (
        (str(key[0]), key[1])
        if len(key) == 2 and isinstance(key[1], str | Decimal | bool)
        else ("~", repr(key))
    )


def same(left: Value, right: Value) -> bool | None:
    """Returns True if two values are equal, as ``==`` has it; None when that is not known yet."""
    match left.raw, right.raw:
        case (Unknown(), _) | (_, Unknown()):
            return None
        case (None, _) | (_, None):
            return left.raw is right.raw
        case (Resource(), _) | (_, Resource()):
            return bool(identity(left) == identity(right))
        case _ if left.type.__class__ is not right.type.__class__:
            return False
        case (tuple(), tuple()) | (Mapping(), Mapping()):
            return _same_parts(dict(left.parts), dict(right.parts))
        case str(), str():
            return normal(left.raw) == normal(right.raw)
        case _:
            return bool(left.raw == right.raw)


def _same_parts(left: Mapping[int | str, Value], right: Mapping[int | str, Value]) -> bool | None:
    """One difference decides, whatever is unknown beside it."""
    if left.keys() != right.keys():
        names = [name for name in left if isinstance(name, str)]
        right = {spelling(names, at) if isinstance(at, str) else at: part for at, part in right.items()}
    if left.keys() != right.keys():
        return False
    answers = {same(part, right[at]) for at, part in left.items()}
    return False if False in answers else None if None in answers else True


def kind(type: Type) -> str:  # noqa: A002 - the field's word
    """The first word of a type: ``string``, ``list``, ``object``, ..."""
    return re.split("[( ]", str(type), maxsplit=1)[0]


def unmark(value: Value) -> Value:
    """The value without any sensitive mark, at any depth."""
    if not contains_sensitive(value):
        return value
    match value.raw:
        case tuple():
            return Value(value.type, tuple(unmark(part) for part in value.raw))
        case Mapping():
            return Value(value.type, {name: unmark(part) for name, part in value.raw.items()})
        case raw:
            return Value(value.type, raw)


def contains_sensitive(value: Value) -> bool:
    return value.sensitive or any(contains_sensitive(part) for _, part in value.parts)


def sensitive_paths(value: Value, path: Path = ()) -> list[Path]:
    """The paths of the marked parts of a value; a marked whole is reported once."""
    if value.sensitive:
        return [path]
    return [
        sensitive_path
        for step, part in value.parts
        for sensitive_path in sensitive_paths(part, (*path, step))
    ]


_DEEPEST: Final = 200
"""As deep as expressions may be written."""


def is_too_deep(value: Value) -> bool:
    """Returns True if code that goes through a value part by part would need more of Python's stack than
    there is for sure.
    """
    level = [value]
    for _ in range(_DEEPEST):
        level = [inner for outer in level for _, inner in outer.parts]
        if not level:
            return False
    return True


def pairs(value: Value) -> Iterable[tuple[Value, Value]] | None:
    """The pairs that ``for`` goes through: the elements of a collection or the members of a resource or root
    symbol, each with its key (an element of a set is its own); None for a value that has none.
    """
    match value.raw:
        case tuple() if isinstance(value.type, SetType):
            return ((element, element) for element in value.raw)
        case tuple():
            return ((number(index), element) for index, element in enumerate(value.raw))
        case (Mapping() as members) | Symbols(_, members) | Resource(_, _, members):
            return ((string(name), members[name]) for name in sorted(members))
        case _:
            return None


def to_data(value: Value, number_form: Callable[[Decimal], Number] = exact_number) -> Data:
    """Plain data: resources as ``Reference``, unknown as UNKNOWN, numbers as ``number_form`` gives them.
    Marks are dropped.
    """
    match value.raw:
        case Decimal():
            return number_form(value.raw)
        case tuple():
            return [to_data(element, number_form) for element in value.raw]
        case Mapping():
            return {name: to_data(member, number_form) for name, member in value.raw.items()}
        case Resource(address):
            return Reference(address)
        case Symbols(_, members):
            return {name: to_data(members[name], number_form) for name in members}
        case raw:
            return raw


def cty_json(type: Type) -> Data:  # noqa: A002 - the field's word
    """A type in cty's JSON form; a reference to a resource is shown as its address, a string."""
    match type:
        case ListType(element) | SetType(element) | MapType(element):
            return [kind(type), cty_json(element)]
        case TupleType(elements):
            return ["tuple", [cty_json(element) for element in elements]]
        case ObjectType(attributes):
            return ["object", {name: cty_json(inner) for name, inner in attributes.items()}]
        case RefType():
            return "string"
        case AnyType():
            return "dynamic"
        case _:
            return str(type)


def type_of_cty(form: Data) -> Type:
    """The type that cty's JSON form spells: the inverse of ``cty_json``. Any type, for what spells none."""
    match form:
        case "string":
            return STRING
        case "number":
            return NUMBER
        case "bool":
            return BOOL
        case ["list", element]:
            return ListType(type_of_cty(element))
        case ["set", element]:
            return SetType(type_of_cty(element))
        case ["map", element]:
            return MapType(type_of_cty(element))
        case ["tuple", [*elements]]:
            return TupleType(tuple(type_of_cty(element) for element in elements))
        case ["object", {**attributes}]:
            return ObjectType({str(name): type_of_cty(inner) for name, inner in attributes.items()})
        case _:
            return ANY


def from_data(data: Data) -> Value:
    """The inverse of ``to_data``: lists become tuples, dicts objects; a ``Reference`` is one whose attributes
    are unknown.
    """
    match data:
        case None:
            return null()
        case Unknown():
            return unknown()
        case bool():
            return boolean(data)
        case int():
            return number(data)
        case float() | Decimal():
            return Value(NUMBER, Decimal(str(data)))
        case str():
            return string(data)
        case Reference(address):
            return resource_value(address, block_type(address), {})
        case dict():
            return object_value({str(name): from_data(member) for name, member in data.items()})
        case list() | tuple():
            return tuple_value(from_data(element) for element in data)
        case _:
            raise TypeError(f"not plain data: {data!r}")


def plain_text(raw: object) -> str | None:
    """The text that ``tostring`` makes of a string, a number or a bool; None for anything else."""
    match raw:
        case str():
            return raw
        case bool():
            return "true" if raw else "false"
        case Decimal():
            return number_text(raw)
        case _:
            return None


def show(value: Value, limit: int = 80) -> str:
    """A short text for diagnostics, as one would write it in HCL; never what is sensitive."""
    text = _show(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _show(value: Value) -> str:
    if value.sensitive:
        return "(sensitive value)"
    match value.raw:
        case None:
            return "null"
        case Unknown():
            return "(known after apply)"
        case str():
            return quote(value.raw)
        case tuple():
            return f"[{', '.join(map(_show, value.raw[:20]))}]"
        case Mapping():
            items = islice(value.raw.items(), 20)
            return "{" + ", ".join(f"{name} = {_show(member)}" for name, member in items) + "}"
        case Resource(name) | Symbols(name):
            return name
        case raw:
            return str(plain_text(raw))
