"""The declared type of a column as a tree, from its text in Iceberg's normal spelling. Pure. Travels with the
driver.
"""

import re
from typing import Final, TypeAlias

from flareiac.kernel.lazy_dataclass import dataclass

_TOKEN: Final = re.compile(r"\s*(`(?:[^`]|``)*`|[^\s<>(),:`]+|[<>(),:])")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plain:
    """A type without types in it: ``long``, ``string``."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DecimalOf:
    """``decimal(precision,scale)``."""

    precision: int
    scale: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOf:
    """``list<element>``."""

    element: "Declared"


@dataclass(frozen=True, slots=True, kw_only=True)
class MapOf:
    """``map<key, value>``."""

    key: "Declared"
    value: "Declared"


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A field of a struct."""

    name: str
    type: "Declared"
    required: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StructOf:
    """``struct<a: int, b: string not null>``."""

    members: tuple[Member, ...]


Declared: TypeAlias = Plain | DecimalOf | ListOf | MapOf | StructOf


def declared(text: str) -> Declared:
    """The tree of a normal type. Raises ``ValueError`` for a text that is none."""
    tokens = _TOKEN.findall(text)
    if "".join(tokens) != re.sub(r"\s+", "", text):
        raise ValueError(text)
    reading = _Reading(tokens=tokens)
    found, _required = reading.part()
    if reading.at != len(tokens):
        raise ValueError(text)
    return found


def nullable_text(kind: Declared) -> str:
    """The type without ``not null`` inside: what Spark makes of a value that may be anything."""
    match kind:
        case Plain(name=name):
            return name
        case DecimalOf(precision=precision, scale=scale):
            return f"decimal({precision},{scale})"
        case ListOf(element=element):
            return f"list<{nullable_text(element)}>"
        case MapOf(key=key, value=value):
            return f"map<{nullable_text(key)}, {nullable_text(value)}>"
        case StructOf(members=members):
            parts = [f"{quoted_name(item.name)}: {nullable_text(item.type)}" for item in members]
            return f"struct<{', '.join(parts)}>"


def quoted_name(name: str) -> str:
    """A name as the text of a type has it."""
    return name if _NAME.match(name) else f"`{name.replace('`', '``')}`"


@dataclass(slots=True, kw_only=True)
class _Reading:
    tokens: list[str]
    at: int = 0

    def part(self) -> tuple[Declared, bool]:
        """A type, and whether ``not null`` follows it."""
        found = self._type()
        required = [token.lower() for token in self.tokens[self.at : self.at + 2]] == ["not", "null"]
        self.at += 2 * required
        return found, required

    def _type(self) -> Declared:
        match self._next().lower():
            case "list":
                return ListOf(element=self._enclosed()[0])
            case "map":
                key, value = self._enclosed()
                return MapOf(key=key, value=value)
            case "struct":
                return self._struct()
            case "decimal":
                precision, scale = self._numbers()
                return DecimalOf(precision=precision, scale=scale)
            case "fixed":
                return Plain(name=f"fixed({self._numbers()[0]})")
            case name:
                return Plain(name=name)

    def _enclosed(self) -> list[Declared]:
        found = []
        while self._next() in "<,":
            found.append(self.part()[0])
        return found

    def _numbers(self) -> list[int]:
        found = []
        while self._next() in "(,":
            found.append(int(self._next()))
        return found

    def _struct(self) -> StructOf:
        members = []
        while self._next() in "<,":
            name = self._next().strip("`").replace("``", "`")
            self._next()  # the colon
            kind, required = self.part()
            members.append(Member(name=name, type=kind, required=required))
        return StructOf(members=tuple(members))

    def _next(self) -> str:
        if self.at >= len(self.tokens):
            raise ValueError(" ".join(self.tokens))
        self.at += 1
        return self.tokens[self.at - 1]
