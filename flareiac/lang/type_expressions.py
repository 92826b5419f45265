"""Type constraints as written: ``string``, ``list(string)``, ``object({ name = string, port =
optional(number, 8080) })``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from flareiac.kernel import codes
from flareiac.kernel.data import UNKNOWN
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.kernel.types import (
    ANY,
    BOOL,
    NUMBER,
    STRING,
    ListType,
    MapType,
    ObjectType,
    SetType,
    TupleType,
    Type,
)
from flareiac.lang.conversion import ConversionError, convert, named
from flareiac.lang.evaluate import evaluate
from flareiac.lang.scope import Scope
from flareiac.lang.syntax import (
    Call,
    Expression,
    Literal,
    ObjectConstructor,
    TupleConstructor,
    Variable,
)
from flareiac.lang.values import Value, null, object_value

_PRIMITIVE: Final[Mapping[str, Type]] = {"string": STRING, "number": NUMBER, "bool": BOOL, "any": ANY}
_COLLECTION: Final = ("list", "set", "map", "object", "tuple")


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeConstraint:
    """A type, and the defaults of the optional attributes inside it."""

    type: Type
    defaults: Mapping[str, Value] = field(default_factory=dict)
    inside: Mapping[str, "TypeConstraint"] = field(default_factory=dict)
    """The constraints of attributes (by name), of a tuple's elements (``"0"``, ...) or of a collection's
    elements (``"*"``).
    """

    def apply(self, value: Value) -> Value:
        """The value with defaults filled in, as the type. Raises ``ConversionError``."""
        return convert(self._fill(value), self.type)

    def _fill(self, value: Value) -> Value:
        if value.raw is None or value.raw is UNKNOWN or not (self.defaults or self.inside):
            return value
        if isinstance(self.type, ObjectType) and isinstance(value.raw, Mapping):
            return self._fill_object(value.raw).with_sensitive(value.sensitive)
        if isinstance(value.raw, tuple):
            items = tuple(self._inner(str(index))._fill(item) for index, item in enumerate(value.raw))
            return Value(TupleType(tuple(item.type for item in items)), items, value.sensitive)
        if isinstance(value.raw, Mapping):
            return object_value(
                {name: self._inner(name)._fill(item) for name, item in value.raw.items()}
            ).with_sensitive(value.sensitive)
        return value

    def _inner(self, name: str) -> "TypeConstraint":
        return self.inside.get(name) or self.inside.get("*") or _NONE

    def _fill_object(self, given: Mapping[str, Value]) -> Value:
        out = dict(given)
        for name, default in self.defaults.items():
            if name not in out or out[name].raw is None:
                out[name] = default
        return object_value(
            {
                name: self.inside[name]._fill(item) if name in self.inside else item
                for name, item in out.items()
            }
        )


_NONE: Final = TypeConstraint(type=ANY)


def parse_type(expr: Expression, diagnostics: Diagnostics) -> TypeConstraint | None:
    """The constraint that an expression spells, or None after complaining."""
    match expr:
        case Variable(name=name) | Literal(value=str(name)):
            return _primitive(name, expr, diagnostics)
        case Call(name="list" | "set" | "map"):
            return _collection(expr, diagnostics)
        case Call(name="object"):
            return _object(expr, diagnostics)
        case Call(name="tuple"):
            return _tuple(expr, diagnostics)
        case Call(name="optional"):
            _wrong(expr, "optional(...) is allowed for the attributes of object({...}) only.", diagnostics)
            return None
        case Call(name=name):
            _wrong(expr, f'There is no type "{name}".{did_you_mean(name, _COLLECTION)}', diagnostics)
            return None
        case _:
            forms = "string, number, bool, any, list(...), set(...), map(...), object({...}) or tuple([...])"
            _wrong(expr, f"A type is written {forms}.", diagnostics)
            return None


def _wrong(expr: Expression, detail: str, diagnostics: Diagnostics) -> None:
    diagnostics.error(codes.INVALID_TYPE, detail, subject=expr.span)


def _primitive(name: str, expr: Expression, diagnostics: Diagnostics) -> TypeConstraint | None:
    if name in _PRIMITIVE:
        return TypeConstraint(type=_PRIMITIVE[name])
    if name in _COLLECTION:
        inner = {"object": "({ name = type })", "tuple": "([type, ...])"}.get(name, "(type)")
        _wrong(expr, f'"{name}" needs the types of its elements: {name}{inner}.', diagnostics)
        return None
    _wrong(expr, f'There is no type "{name}".{did_you_mean(name, [*_PRIMITIVE, *_COLLECTION])}', diagnostics)
    return None


def _argument(expr: Call, what: str, diagnostics: Diagnostics) -> Expression | None:
    if len(expr.arguments) != 1:
        _wrong(expr, f"{expr.name} takes one argument, {what}.", diagnostics)
        return None
    return expr.arguments[0]


def _collection(expr: Call, diagnostics: Diagnostics) -> TypeConstraint | None:
    argument = _argument(expr, "the type of its elements", diagnostics)
    element = parse_type(argument, diagnostics) if argument is not None else None
    if element is None:
        return None
    made: Type
    match expr.name:
        case "list":
            made = ListType(element.type)
        case "set":
            made = SetType(element.type)
        case _:
            made = MapType(element.type)
    inside = {"*": element} if element.defaults or element.inside else {}
    return TypeConstraint(type=made, inside=inside)


def _tuple(expr: Call, diagnostics: Diagnostics) -> TypeConstraint | None:
    argument = _argument(expr, "a list of types in brackets", diagnostics)
    if argument is None:
        return None
    if not isinstance(argument, TupleConstructor):
        _wrong(argument, "tuple takes a list of types in brackets: tuple([string, number]).", diagnostics)
        return None
    elements = [parse_type(item, diagnostics) for item in argument.items]
    found = [item for item in elements if item is not None]
    if len(found) < len(elements):
        return None
    inside = {str(index): item for index, item in enumerate(found) if item.defaults or item.inside}
    return TypeConstraint(type=TupleType(tuple(item.type for item in found)), inside=inside)


def _object(expr: Call, diagnostics: Diagnostics) -> TypeConstraint | None:
    argument = _argument(expr, "attributes in braces", diagnostics)
    if argument is None:
        return None
    if not isinstance(argument, ObjectConstructor):
        _wrong(argument, "object takes attributes in braces: object({ name = string }).", diagnostics)
        return None
    attributes: dict[str, Type] = {}
    defaults: dict[str, Value] = {}
    inside: dict[str, TypeConstraint] = {}
    optional: set[str] = set()
    complete = True
    for item in argument.items:
        name = item.name
        if name is None:
            _wrong(item.key, "An attribute's name is a word.", diagnostics)
            complete = False
            continue
        is_optional = isinstance(item.value, Call) and item.value.name == "optional"
        constraint, default = (
            _optional(item.value, diagnostics) if is_optional else (parse_type(item.value, diagnostics), None)
        )
        if constraint is None:
            complete = False
            continue
        attributes[name] = constraint.type
        if is_optional:
            optional.add(name)
        if default is not None:
            defaults[name] = default
        if constraint.defaults or constraint.inside:
            inside[name] = constraint
    if not complete:
        return None
    return TypeConstraint(type=ObjectType(attributes, frozenset(optional)), defaults=defaults, inside=inside)


def _optional(expr: Expression, diagnostics: Diagnostics) -> tuple[TypeConstraint | None, Value | None]:
    assert isinstance(expr, Call)
    if len(expr.arguments) not in {1, 2}:
        _wrong(expr, "optional takes a type and, if wanted, a default.", diagnostics)
        return None, None
    constraint = parse_type(expr.arguments[0], diagnostics)
    if constraint is None or len(expr.arguments) == 1:
        return constraint, None
    value = evaluate(expr.arguments[1], Scope(), diagnostics)
    try:
        return constraint, constraint.apply(value)
    except ConversionError as error:
        diagnostics.error(
            codes.INVALID_OPTIONAL_DEFAULT,
            f"{named(constraint.type)} is wanted: {error}.",
            subject=expr.arguments[1].span,
        )
        return constraint, null(constraint.type)
