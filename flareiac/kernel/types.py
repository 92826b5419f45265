"""Types of values, cty's set: string, number, bool, list, set, map, object, tuple, any; and references to
resources.

``RefType`` is FlareIaC's own: an attribute that takes another resource (``catalog = catalog.lake``).
"""

from collections.abc import Mapping
from dataclasses import field
from typing import TypeAlias

from flareiac.kernel.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class StringType:
    def __str__(self) -> str:
        return "string"


@dataclass(frozen=True, slots=True)
class NumberType:
    def __str__(self) -> str:
        return "number"


@dataclass(frozen=True, slots=True)
class BoolType:
    def __str__(self) -> str:
        return "bool"


@dataclass(frozen=True, slots=True)
class AnyType:
    """Any value, or the type of an unknown whose type is unknown too."""

    def __str__(self) -> str:
        return "any"


@dataclass(frozen=True, slots=True)
class ListType:
    element: "Type"

    def __str__(self) -> str:
        return f"list({self.element})"


@dataclass(frozen=True, slots=True)
class SetType:
    element: "Type"

    def __str__(self) -> str:
        return f"set({self.element})"


@dataclass(frozen=True, slots=True)
class MapType:
    element: "Type"

    def __str__(self) -> str:
        return f"map({self.element})"


@dataclass(frozen=True, slots=True)
class TupleType:
    elements: tuple["Type", ...]

    def __str__(self) -> str:
        return f"tuple([{', '.join(map(str, self.elements))}])"


@dataclass(frozen=True, slots=True)
class ObjectType:
    """Attributes by name; those in ``optional`` may be left out (they become null)."""

    attributes: Mapping[str, "Type"] = field(hash=False)
    optional: frozenset[str] = frozenset()

    def __str__(self) -> str:
        inner = ", ".join(
            f"{name} = optional({kind})" if name in self.optional else f"{name} = {kind}"
            for name, kind in self.attributes.items()
        )
        return f"object({{{inner}}})"


@dataclass(frozen=True, slots=True)
class RefType:
    """A resource of one of these block types; ``or_string`` also takes a plain name."""

    to: tuple[str, ...]
    or_string: bool = False

    def __str__(self) -> str:
        names = " or ".join(self.to)
        return f"reference to {names}" + (" or string" if self.or_string else "")


Type: TypeAlias = (
    StringType
    | NumberType
    | BoolType
    | AnyType
    | ListType
    | SetType
    | MapType
    | TupleType
    | ObjectType
    | RefType
)

STRING = StringType()
NUMBER = NumberType()
BOOL = BoolType()
ANY = AnyType()
