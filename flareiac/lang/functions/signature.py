"""The signature of a function of the language: typed parameters and a call on values."""

from collections.abc import Callable, Mapping

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.types import Type
from flareiac.lang.values import LONGEST_TEXT, MOST_ELEMENTS, Resource, Symbols, Value


class FunctionError(Exception):
    """The arguments cannot be used; ``argument`` is the position (from 0) of the one at fault, or None."""

    def __init__(self, message: str, argument: int | None = None) -> None:
        super().__init__(message)
        self.message, self.argument = message, argument


class LimitError(FunctionError):
    """The result would be larger than any value may be: nothing that ``try`` or ``can`` is about."""


def not_encodable(value: Value) -> FunctionError:
    """The reason why a value that is no data has no text."""
    match value.raw:
        case Resource(address):
            return FunctionError(f"{address} is a resource; encode the attributes that are needed")
        case Symbols(name):
            return FunctionError(f"{name} alone is no value")
        case _:
            return FunctionError("the value is not known")


def within_limit(length: int, what: str = "characters") -> None:
    """Refuses a result before it is made. Raises ``LimitError``."""
    most = LONGEST_TEXT if what == "characters" else MOST_ELEMENTS
    if length > most:
        raise LimitError(f"the result has more than {most:,} {what}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter. ``null``: null is taken. ``parts``: unknown and sensitive parts of a collection are
    taken as they are; otherwise an argument with an unknown part makes the result unknown, and one with a
    sensitive part makes it sensitive. ``raw``: the function gets the argument whatever it is, and places
    marks itself. ``optional``: it may be left out, as may all after it.
    """

    name: str
    type: Type
    null: bool = False
    parts: bool = False
    raw: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """The text of a template, to be evaluated with these variables and no other symbol. ``name``: what
    complaints call it; ``is_text``: the result must be a text; ``reads_files``: it may call functions that
    do.
    """

    name: str
    text: str
    variables: Mapping[str, Value]
    is_text: bool
    reads_files: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Builtin:
    """A function. ``returns`` is the type of an unknown result. ``reads_files``: what it gives depends on
    more than its arguments. ``in_templates``: the text of a template may call it. ``call`` gives a
    ``Template`` where the result is what that comes to.
    """

    name: str
    parameters: tuple[Parameter, ...]
    returns: Callable[[tuple[Value, ...]], Type]
    call: Callable[..., Value | Template]
    description: str
    variadic: Parameter | None = None
    reads_files: bool = False
    in_templates: bool = True

    def parameters_of(self, count: int) -> tuple[Parameter, ...] | None:
        """The parameter of each of so many arguments, or None where the number does not fit."""
        further = count - len(self.parameters)
        if count < sum(not parameter.optional for parameter in self.parameters) or (
            further > 0 and self.variadic is None
        ):
            return None
        return (
            self.parameters[:count]
            if self.variadic is None
            else (*self.parameters[:count], *[self.variadic] * further)
        )

    @property
    def signature(self) -> str:
        """``format(spec, values...)``."""
        names = [
            f"{parameter.name}?" if parameter.optional else parameter.name for parameter in self.parameters
        ]
        if self.variadic is not None:
            names.append(f"{self.variadic.name}...")
        return f"{self.name}({', '.join(names)})"
