"""Iceberg type text: ``struct<a: int, b: list<string not null>> not null`` to records and back, and how one
type may become another.
"""

import re
from collections.abc import Callable
from typing import Final, TypeAlias

from flareiac.kernel.diagnostics import did_you_mean
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.type_names import ALIASES, advice, continued, example

PLAIN: Final = frozenset(
    {
        "boolean",
        "int",
        "long",
        "float",
        "double",
        "date",
        "time",
        "timestamptz",
        "timestamp_ntz",
        "string",
        "uuid",
        "binary",
    }
)
NOT_IN_SPARK: Final = frozenset({"time"})
"""Types that Iceberg and this provider know, and that keep Spark from loading a table."""
_LATER: Final = frozenset({"variant", "geometry", "geography", "unknown", "timestamp_ns", "timestamptz_ns"})
_TOKEN: Final = re.compile(r"\s*(?:([A-Za-z_][A-Za-z0-9_]*|`[^`]+`)|(\d+)|([<>(),:]))")
MAX_DEPTH: Final = 32


class TypeTextError(ValueError):
    """A type text that says no type. The message is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class Primitive:
    """``long``, ``decimal(12,2)``, ``fixed(16)``: Iceberg's own name, but ``timestamp_ntz`` for its
    ``timestamp``.
    """

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A named part of a struct, or the one part of a list (``element``), or the two of a map (``key``,
    ``value``).
    """

    name: str
    type: "ColumnType"
    required: bool = False


@dataclass(frozen=True, slots=True)
class Struct:
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class List:
    element: Field


@dataclass(frozen=True, slots=True)
class Map:
    key: Field
    value: Field


ColumnType: TypeAlias = Primitive | Struct | List | Map


def parts(kind: ColumnType) -> tuple[Field, ...]:
    """The fields directly inside a type."""
    match kind:
        case Primitive():
            return ()
        case Struct(fields):
            return fields
        case List(element):
            return (element,)
        case Map(key, value):
            return (key, value)


def head(kind: ColumnType) -> str:
    """The type without what is inside: a primitive's name, or ``struct``, ``list``, ``map``."""
    return kind.name if isinstance(kind, Primitive) else type(kind).__name__.lower()


def build(name: str, fields: tuple[Field, ...]) -> ColumnType:
    """The type of a head and its parts."""
    match name:
        case "struct":
            return Struct(fields)
        case "list":
            return List(*fields)
        case "map":
            return Map(*fields)
        case _:
            return Primitive(name)


def render(kind: ColumnType) -> str:
    """The text of a type; ``parse`` reads it back."""
    match kind:
        case Primitive(name):
            return name
        case Struct(fields):
            return f"struct<{', '.join(f'{_quoted(field.name)}: {_part(field)}' for field in fields)}>"
        case List(element):
            return f"list<{_part(element)}>"
        case Map(key, value):
            return f"map<{render(key.type)}, {_part(value)}>"


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else f"`{name}`"


def _part(field: Field) -> str:
    return render(field.type) + (" not null" if field.required else "")


def parse(text: str) -> tuple[ColumnType, bool]:
    """A type, and whether the text says ``not null``. Raises ``TypeTextError``."""
    reader = _Reader(text)
    kind, required = reader.part(0)
    reader.end(kind)
    return kind, required


def can_become(old: str, new: str) -> bool:
    """Whether Iceberg reads old files of a primitive type as the new one without rewriting them (format
    versions 1 and 2).
    """
    if (old, new) in {("int", "long"), ("float", "double")}:
        return True
    was, now = _DECIMAL.fullmatch(old), _DECIMAL.fullmatch(new)
    return bool(was and now) and was[2] == now[2] and int(was[1]) <= int(now[1])  # type: ignore[index]  # both matched


_DECIMAL: Final = re.compile(r"decimal\((\d+),(\d+)\)")


class _Reader:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = self._split(text)
        self.at = 0

    @staticmethod
    def _split(text: str) -> list[str]:
        tokens, at = [], 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if match is None:
                raise TypeTextError(f"{text!r} is not a type: {text[at:].strip()[0]!r} has no meaning here.")
            tokens.append(match.group(0).strip())
            at = match.end()
        return tokens

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted: str | None = None) -> str:
        token = self.peek()
        if wanted is not None and token != wanted:
            found = f'"{token}"' if token else "the end"
            raise TypeTextError(f'"{self.text}" is not a type: "{wanted}" is expected where {found} is.')
        self.at += 1
        return token

    def opening(self, mark: str, name: str) -> None:
        """Takes the mark that a type of several parts begins with. Raises ``TypeTextError``."""
        if self.peek() != mark:
            raise TypeTextError(f'{name} is not the whole type: write, for example, "{example(name)}".')
        self.take()

    def end(self, kind: ColumnType) -> None:
        if rest := self.peek():
            name = render(kind)
            why = continued(name, rest) or f'Nothing may stand after "{name}".'
            raise TypeTextError(f'"{self.text}" is not a type. {why}')

    def part(self, depth: int) -> tuple[ColumnType, bool]:
        kind = self.kind(depth)
        if self.peek().lower() != "not":
            return kind, False
        self.take()
        if self.take().lower() != "null":
            raise TypeTextError(f'{self.text!r} is not a type: "not" must be followed by "null".')
        return kind, True

    def kind(self, depth: int) -> ColumnType:
        if depth > MAX_DEPTH:
            raise TypeTextError(f"The type is nested more than {MAX_DEPTH} levels deep.")
        word = self.take().lower()
        name = ALIASES.get(word, word)
        inner: dict[str, Callable[[int], ColumnType]] = {
            "struct": self.struct,
            "list": self.list,
            "map": self.map,
        }
        if name in inner:
            self.opening("<", name)
            kind = inner[name](depth + 1)
            self.take(">")
            return kind
        return Primitive(self.primitive(name))

    def primitive(self, name: str) -> str:
        if name in PLAIN:
            return name
        if name == "decimal":
            precision, scale = self.numbers("decimal", 2)
            if not (1 <= precision <= 38 and 0 <= scale <= precision):
                raise TypeTextError(
                    f"decimal({precision},{scale}) does not exist: precision is 1 to 38, scale is 0 to "
                    "precision."
                )
            return f"decimal({precision},{scale})"
        if name == "fixed":
            (length,) = self.numbers("fixed", 1)
            return f"fixed({length})"
        raise TypeTextError(self.unknown(name))

    def numbers(self, name: str, count: int) -> tuple[int, ...]:
        self.opening("(", name)
        wanted = f"{name} takes {count} whole number{'s' if count > 1 else ''}, as in {example(name)}."
        found: list[int] = []
        for index in range(count):
            if index and self.take() != ",":
                raise TypeTextError(wanted)
            token = self.take()
            if not token.isdigit() or len(token) > 9:
                raise TypeTextError(wanted)
            found.append(int(token))
        if self.take() != ")":
            raise TypeTextError(wanted)
        return tuple(found)

    def unknown(self, name: str) -> str:
        if name == "timestamp":
            return (
                '"timestamp" means different things in Spark and in Iceberg. Write timestamptz for a point '
                "in time (Spark's TIMESTAMP) or timestamp_ntz for date and clock time without a zone."
            )
        if name in _LATER:
            return f'The type "{name}" is of format version 3, and Spark or FlareIaC cannot write it yet.'
        if not name:
            return f"{self.text!r} is not a type: it ends too early."
        if (instead := advice(name)) is not None:
            return f'There is no type "{name}". {instead}'
        known = ", ".join(sorted(PLAIN))
        meant = did_you_mean(name, [*PLAIN, *ALIASES])
        return (
            f'There is no type "{name}".{meant} The types are {known}, decimal(p,s), fixed(n), struct<...>, '
            "list<...> and map<...>."
        )

    def struct(self, depth: int) -> Struct:
        fields: list[Field] = []
        while True:
            name = self.take().strip("`")
            if not name or name in "<>(),:":
                raise TypeTextError(f"{self.text!r} is not a type: a field name is missing.")
            if "." in name:
                raise TypeTextError(
                    f'The field name "{name}" has a dot. Dots separate the levels of nested columns.'
                )
            twin = next((field.name for field in fields if field.name.lower() == name.lower()), None)
            if twin is not None:
                raise TypeTextError(
                    f'The struct has two fields "{name}".' if twin == name else _alike(twin, name)
                )
            self.take(":")
            kind, required = self.part(depth)
            fields.append(Field(name=name, type=kind, required=required))
            if self.peek() != ",":
                return Struct(tuple(fields))
            self.take(",")

    def list(self, depth: int) -> List:
        kind, required = self.part(depth)
        return List(Field(name="element", type=kind, required=required))

    def map(self, depth: int) -> Map:
        key = self.kind(depth)
        self.take(",")
        kind, required = self.part(depth)
        return Map(
            Field(name="key", type=key, required=True), Field(name="value", type=kind, required=required)
        )


def _alike(left: str, right: str) -> str:
    return (
        f'The struct has the fields "{left}" and "{right}", which differ in case only. Spark does not '
        "tell them apart."
    )
