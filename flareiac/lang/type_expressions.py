"""Type constraints as written: ``string``, ``list(string)``, ``object({ name = string, port =
optional(number, 8080) })``.
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Final

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.kernel.lazy_dataclass import dataclass
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
    Node,
    ObjectConstructor,
    ObjectItem,
    TupleConstructor,
    Variable,
)
from flareiac.lang.values import Value, null, object_value, tuple_value

_PRIMITIVES: Final[Mapping[str, Type]] = {"string": STRING, "number": NUMBER, "bool": BOOL, "any": ANY}
_OF: Final[Mapping[str, Callable[[Type], Type]]] = {"list": ListType, "set": SetType, "map": MapType}
_COLLECTIONS: Final = {
    "list": "(type)",
    "set": "(type)",
    "map": "(type)",
    "object": "({ name = type })",
    "tuple": "([type, ...])",
}


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
        if not self.defaults and not self.inside:
            return value
        match value.raw:
            case tuple():
                filled = tuple_value(
                    self._inner(str(at))._fill(element) for at, element in enumerate(value.raw)
                )
            case Mapping():
                given = dict(value.raw)
                for name, default in self.defaults.items():
                    if name not in given or given[name].raw is None:
                        given[name] = default
                filled = object_value(
                    {name: self._inner(name)._fill(member) for name, member in given.items()}
                )
            case _:
                return value
        return filled.with_sensitive(value.sensitive)

    def _inner(self, name: str) -> "TypeConstraint":
        return self.inside.get(name) or self.inside.get("*") or _NONE


_NONE: Final = TypeConstraint(type=ANY)


def parse_type(expr: Expression, diagnostics: Diagnostics) -> TypeConstraint | None:
    """The constraint that an expression spells, or None after complaining."""
    return _Reader(diagnostics).constraint(expr)


def _deeper(inside: Mapping[str, TypeConstraint]) -> Mapping[str, TypeConstraint]:
    """The members with defaults somewhere inside."""
    return {
        name: constraint for name, constraint in inside.items() if constraint.defaults or constraint.inside
    }


class _Reader:
    """Reads type expressions; each method returns None after complaining."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        self.diagnostics = diagnostics

    def wrong(self, expr: Node, detail: str) -> None:
        self.diagnostics.error(codes.INVALID_TYPE, detail, subject=expr.span)

    def constraint(self, expr: Expression) -> TypeConstraint | None:
        match expr:
            case Variable(name=name) | Literal(value=str(name)):
                return self.primitive(name, expr)
            case Call(name="list" | "set" | "map"):
                return self.collection(expr)
            case Call(name="object"):
                return self.object(expr)
            case Call(name="tuple"):
                return self.tuple(expr)
            case Call(name="optional"):
                detail = "optional(...) is allowed for the attributes of object({...}) only."
            case Call(name=name):
                detail = f'There is no type "{name}".{did_you_mean(name, _COLLECTIONS)}'
            case _:
                detail = (
                    "A type is written string, number, bool, any, list(...), set(...), map(...), "
                    "object({...}) or tuple([...])."
                )
        self.wrong(expr, detail)
        return None

    def primitive(self, name: str, expr: Expression) -> TypeConstraint | None:
        if name in _PRIMITIVES:
            return TypeConstraint(type=_PRIMITIVES[name])
        if name in _COLLECTIONS:
            detail = f'"{name}" needs the types of its elements: {name}{_COLLECTIONS[name]}.'
        else:
            hint = did_you_mean(name, [*_PRIMITIVES, *_COLLECTIONS])
            detail = f'There is no type "{name}".{hint}'
        self.wrong(expr, detail)
        return None

    def argument(self, expr: Call, what: str) -> Expression | None:
        if len(expr.arguments) == 1:
            return expr.arguments[0]
        self.wrong(expr, f"{expr.name} takes one argument, {what}.")
        return None

    def collection(self, expr: Call) -> TypeConstraint | None:
        argument = self.argument(expr, "the type of its elements")
        element = self.constraint(argument) if argument is not None else None
        if element is None:
            return None
        return TypeConstraint(type=_OF[expr.name](element.type), inside=_deeper({"*": element}))

    def tuple(self, expr: Call) -> TypeConstraint | None:
        argument = self.argument(expr, "a list of types in brackets")
        if argument is None:
            return None
        if not isinstance(argument, TupleConstructor):
            self.wrong(argument, "tuple takes a list of types in brackets: tuple([string, number]).")
            return None
        elements = [self.constraint(element) for element in argument.items]
        constraints = {
            str(at): constraint for at, constraint in enumerate(elements) if constraint is not None
        }
        if len(constraints) < len(elements):
            return None
        types = TupleType(tuple(constraint.type for constraint in constraints.values()))
        return TypeConstraint(type=types, inside=_deeper(constraints))

    def object(self, expr: Call) -> TypeConstraint | None:
        argument = self.argument(expr, "attributes in braces")
        if argument is None:
            return None
        if not isinstance(argument, ObjectConstructor):
            self.wrong(argument, "object takes attributes in braces: object({ name = string }).")
            return None
        type_constraints: dict[str, TypeConstraint] = {}
        defaults: dict[str, Value] = {}
        optional: set[str] = set()
        complete = True
        for member in argument.items:
            name, constraint = member.name, self.attribute(member, defaults, optional)
            if name is None or constraint is None:
                complete = False
            else:
                type_constraints[name] = constraint
        if not complete:
            return None
        type_ = ObjectType(
            {name: type_constraint.type for name, type_constraint in type_constraints.items()},
            frozenset(optional),
        )
        return TypeConstraint(type=type_, defaults=defaults, inside=_deeper(type_constraints))

    def attribute(
        self, object_item: ObjectItem, defaults: dict[str, Value], optional: set[str]
    ) -> TypeConstraint | None:
        """The constraint of one attribute, which is noted where it is optional and where it has a default."""
        name, expr = object_item.name, object_item.value
        if name is None:
            self.wrong(object_item.key, "An attribute's name is a word.")
            return None
        if not isinstance(expr, Call) or expr.name != "optional":
            return self.constraint(expr)
        if len(expr.arguments) not in {1, 2}:
            self.wrong(expr, "optional takes a type and, if wanted, a default.")
            return None
        constraint = self.constraint(expr.arguments[0])
        if constraint is not None:
            optional.add(name)
            for default in expr.arguments[1:]:
                defaults[name] = self.default(default, constraint)
        return constraint

    def default(self, expr: Expression, constraint: TypeConstraint) -> Value:
        try:
            return constraint.apply(evaluate(expr, Scope(), self.diagnostics))
        except ConversionError as error:
            detail = f"{named(constraint.type)} is wanted: {error}."
            self.diagnostics.error(codes.INVALID_OPTIONAL_DEFAULT, detail, subject=expr.span)
            return null(constraint.type)
