"""Types of columns: ``struct<a: int, b: list<string not null>> not null`` to a tree and back. The one grammar
of tables, streams, Avro and the driver. Pure. Travels with the driver.
"""

import re
from collections.abc import Callable, Collection
from typing import Final, TypeAlias

from flareiac.kernel.diagnostics import did_you_mean
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.type_names import ALIASES, EXAMPLES, advice, continued, example

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
_LATER: Final = frozenset({"variant", "geometry", "geography", "unknown", "timestamp_ns", "timestamptz_ns"})
_TOKEN: Final = re.compile(r"\s*([^\W\d][\w-]*|`(?:[^`]|``)+`|\d+|[\[\]<>(),:])")
_BARE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+")
_DECIMAL: Final = re.compile(r"decimal\((\d+),(\d+)\)")
MAX_DEPTH: Final = 32


class TypeTextError(ValueError):
    """A type text that says no type. The message is a sentence for the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plain:
    """A type without types in it: ``long``, ``fixed(16)``. Iceberg's own name, but ``timestamp_ntz`` for its
    ``timestamp``.
    """

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DecimalOf:
    """``decimal(precision,scale)``."""

    precision: int
    scale: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOf:
    """``list<element>``; ``required`` where no element may be null."""

    element: "ColumnType"
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MapOf:
    """``map<key, value>``; ``required`` where no value may be null. Keys are never null."""

    key: "ColumnType"
    value: "ColumnType"
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A field of a struct, or a part of a list (``element``) or a map (``key``, ``value``)."""

    name: str
    type: "ColumnType"
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StructOf:
    """``struct<a: int, b: string not null>``."""

    members: tuple[Member, ...]


ColumnType: TypeAlias = Plain | DecimalOf | ListOf | MapOf | StructOf


def parts(kind: ColumnType) -> tuple[Member, ...]:
    """The types directly inside a type, with their names."""
    match kind:
        case Plain() | DecimalOf():
            return ()
        case StructOf(members=members):
            return members
        case ListOf(element=element, required=required):
            return (Member(name="element", type=element, required=required),)
        case MapOf(key=key, value=value, required=required):
            return (
                Member(name="key", type=key, required=True),
                Member(name="value", type=value, required=required),
            )


def head(kind: ColumnType) -> str:
    """The type without what is inside: ``struct``, ``list``, ``map``, or the whole text of another type."""
    match kind:
        case StructOf():
            return "struct"
        case ListOf():
            return "list"
        case MapOf():
            return "map"
        case Plain(name=name):
            return name
        case DecimalOf(precision=precision, scale=scale):
            return f"decimal({precision},{scale})"


def build(name: str, members: tuple[Member, ...]) -> ColumnType:
    """The type of a head and its parts. A name that is not known stays a plain type."""
    match name:
        case "struct":
            return StructOf(members=members)
        case "list":
            return ListOf(element=members[0].type, required=members[0].required)
        case "map":
            key, value = members
            return MapOf(key=key.type, value=value.type, required=value.required)
        case _ if (match := _DECIMAL.fullmatch(name)) is not None:
            return DecimalOf(precision=int(match[1]), scale=int(match[2]))
        case _:
            return Plain(name=name)


def quoted_name(name: str) -> str:
    """A name as the text of a type has it."""
    return name if _BARE.fullmatch(name) else "`" + name.replace("`", "``") + "`"


def render(
    kind: ColumnType,
    required: bool = False,
    *,
    nullable: bool = False,
    spell: Callable[[str], str] = quoted_name,
) -> str:
    """The text of a type; ``parse`` reads it back. ``nullable`` leaves out each ``not null`` inside: what
    Spark makes of a value that may be anything. ``spell`` writes the name of a field.
    """
    inner = [
        (member.name, render(member.type, member.required and not nullable, nullable=nullable, spell=spell))
        for member in parts(kind)
    ]
    match kind:
        case StructOf():
            text = f"struct<{', '.join(f'{spell(name)}: {part}' for name, part in inner)}>"
        case ListOf():
            text = f"list<{inner[0][1]}>"
        case MapOf():
            text = f"map<{inner[0][1].removesuffix(' not null')}, {inner[1][1]}>"
        case _:
            text = head(kind)
    return f"{text} not null" if required else text


def parse(text: str, also: Collection[str] = ()) -> tuple[ColumnType, bool]:
    """A type, and whether the text says ``not null``. ``also`` names plain types that are known to a reader
    of tables that others made. Raises ``TypeTextError``.
    """
    reader = _Reader(text, also)
    kind, required = reader.part(0)
    reader.end(kind)
    return kind, required


def type_of(text: str) -> ColumnType:
    """The type alone. Raises ``TypeTextError``."""
    return parse(text)[0]


class _Reader:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str, also: Collection[str]) -> None:
        self.text = text
        self.also = also
        self.tokens = self._split(text)
        self.at = 0

    @staticmethod
    def _split(text: str) -> list[str]:
        tokens, at = [], 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if match is None:
                raise TypeTextError(f"{text!r} is not a type: {text[at:].strip()[0]!r} has no meaning here.")
            tokens.append(match[1])
            at = match.end()
        return tokens

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted: str | None = None) -> str:
        token = self.peek()
        if wanted is not None and token != wanted:
            instead = f'"{token}"' if token else "the end"
            raise TypeTextError(f'"{self.text}" is not a type: "{wanted}" is expected where {instead} is.')
        self.at += 1
        return token

    def opening(self, marks: str, name: str) -> str:
        """Takes the mark that a type of several parts begins with. Raises ``TypeTextError``."""
        if not self.peek() or self.peek() not in marks:
            raise TypeTextError(f'{name} is not the whole type: write, for example, "{example(name)}".')
        return self.take()

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
        if name == "decimal":
            return self.decimal()
        if name == "fixed":
            return Plain(name=f"fixed({self.numbers('fixed', 1)[0]})")
        if name in PLAIN or name in self.also:
            return Plain(name=name)
        raise TypeTextError(self.unknown(name))

    def decimal(self) -> DecimalOf:
        precision, scale = self.numbers("decimal", 2)
        if not (1 <= precision <= 38 and 0 <= scale <= precision):
            raise TypeTextError(
                f"decimal({precision},{scale}) does not exist: precision is 1 to 38, scale is 0 to precision."
            )
        return DecimalOf(precision=precision, scale=scale)

    def numbers(self, name: str, count: int) -> list[int]:
        """The numbers in parentheses; metadata files write ``fixed[16]``."""
        closing = {"(": ")", "[": "]"}[self.opening("([" if name == "fixed" else "(", name)]
        wanted = f"{name} takes {count} whole number{'s' if count > 1 else ''}, as in {example(name)}."
        numbers: list[int] = []
        for index in range(count):
            if index and self.take() != ",":
                raise TypeTextError(wanted)
            token = self.take()
            if not token.isdigit() or len(token) > 9:
                raise TypeTextError(wanted)
            numbers.append(int(token))
        if self.take() != closing:
            raise TypeTextError(wanted)
        return numbers

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
        meant = did_you_mean(name, [*PLAIN, *ALIASES, *EXAMPLES])
        return (
            f'There is no type "{name}".{meant} The types are {known}, decimal(p,s), fixed(n), struct<...>, '
            "list<...> and map<...>."
        )

    def struct(self, depth: int) -> StructOf:
        members: list[Member] = []
        while True:
            name = self.take()
            if not name or name in "[]<>(),:":
                raise TypeTextError(f"{self.text!r} is not a type: a field name is missing.")
            name = name[1:-1].replace("``", "`") if name.startswith("`") else name
            self.take(":")
            kind, required = self.part(depth)
            members.append(Member(name=name, type=kind, required=required))
            if self.peek() != ",":
                return StructOf(members=tuple(members))
            self.take(",")

    def list(self, depth: int) -> ListOf:
        element, required = self.part(depth)
        return ListOf(element=element, required=required)

    def map(self, depth: int) -> MapOf:
        key = self.kind(depth)
        self.take(",")
        value, required = self.part(depth)
        return MapOf(key=key, value=value, required=required)
