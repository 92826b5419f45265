"""Normalizes the texts of Iceberg types: checks names and nesting, and replaces aliases by Iceberg's own
names.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from flareiac.kernel.data import Attributes, Data, Reference
from flareiac.kernel.diagnostics import did_you_mean
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.references import References
from flareiac.sdk.type_names import ALIASES, EXAMPLES, advice, continued, example

_PLAIN: Final = frozenset(
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
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<name>[A-Za-z_][A-Za-z0-9_]*|`[^`]+`)|(?P<number>\d+)|(?P<mark>[<>(),:]))"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A top-level column with its whole type as Iceberg writes it."""

    name: str
    type: str
    required: bool = False

    @property
    def text(self) -> str:
        """The type, with ``not null`` where a value is required."""
        return f"{self.type} not null" if self.required else self.type

    @classmethod
    def of_text(cls, name: str, text: str) -> "Column":
        """The inverse of ``text``."""
        return cls(name=name, type=text.removesuffix(" not null"), required=text.endswith(" not null"))


class NotAType(ValueError):
    """The text is not a type; the message says why, as a sentence."""


def normal_type(text: str) -> tuple[str, bool]:
    """The type in one spelling, and whether ``not null`` follows it. Raises ``NotAType``."""
    tokens = _Tokens(text)
    kind = _type(tokens)
    required = _not_null(tokens)
    if (rest := tokens.peek()) is not None:
        why = continued(kind, rest) or f'Nothing may stand after "{kind}".'
        raise NotAType(f'"{text}" is not a type. {why}')
    return kind, required


def whole_columns(columns: Mapping[str, Attributes], order: list[str]) -> list[Column]:
    """Top-level columns with their whole types, from columns that are flat by path (``address``,
    ``address.zip``).
    """
    return [
        Column(name=path, type=_assembled(columns, order, path), required=bool(columns[path]["required"]))
        for path in order
        if "." not in path
    ]


def table_columns(reference: Data, references: References) -> list[Column]:
    """The top-level columns of a table with whole types; none where its schema is not managed here."""
    table = references.get(reference.address) if isinstance(reference, Reference) else None
    if table is None or not table.attributes.get("columns"):
        return []
    return whole_columns(table.attributes["columns"], table.attributes["column_order"])


def _assembled(columns: Mapping[str, Attributes], order: list[str], path: str) -> str:
    kind: str = columns[path]["type"]
    inside = [child for child in order if child.startswith(f"{path}.") and "." not in child[len(path) + 1 :]]

    def part(child: str) -> str:
        return _assembled(columns, order, child) + (" not null" if columns[child]["required"] else "")

    match kind:
        case "struct":
            return f"struct<{', '.join(f'{child[len(path) + 1 :]}: {part(child)}' for child in inside)}>"
        case "list":
            return f"list<{part(inside[0])}>"
        case "map":
            return f"map<{_assembled(columns, order, inside[0])}, {part(inside[1])}>"
        case _:
            return kind


class _Tokens:
    def __init__(self, text: str) -> None:
        self.text = text
        self._items = list(_tokenize(text))
        self._at = 0

    def peek(self) -> str | None:
        return self._items[self._at] if self._at < len(self._items) else None

    def take(self) -> str:
        item = self.peek()
        if item is None:
            raise NotAType(f"{self.text!r} ends too early.")
        self._at += 1
        return item

    def open(self, mark: str, name: str) -> None:
        """Takes the mark that a type of several parts begins with. Raises ``NotAType``, with an example."""
        if self.peek() != mark:
            raise NotAType(f'{name} is not the whole type: write, for example, "{example(name)}".')
        self._at += 1

    def expect(self, mark: str) -> None:
        found = self.peek()
        if found != mark:
            raise NotAType(
                f"{self.text!r} needs {mark!r} " + (f"before {found!r}." if found else "at its end.")
            )
        self._at += 1


def _tokenize(text: str) -> Iterator[str]:
    at = 0
    stripped = text.rstrip()
    while at < len(stripped):
        match = _TOKEN.match(stripped, at)
        if match is None:
            raise NotAType(f"{text!r} is not a type: {stripped[at:].strip()!r} cannot be read.")
        yield match.group("name") or match.group("number") or match.group("mark")
        at = match.end()


def _type(tokens: _Tokens) -> str:
    word = tokens.take().lower()
    name = ALIASES.get(word, word)
    match name:
        case "timestamp":
            raise NotAType(
                "timestamp means different things: write timestamptz (an instant) or timestamp_ntz "
                "(without time zone)."
            )
        case "list":
            return f"list<{_inside(tokens)}>"
        case "map":
            return _map(tokens)
        case "struct":
            return _struct(tokens)
        case "decimal":
            return _decimal(tokens)
        case "fixed":
            tokens.open("(", "fixed")
            length = tokens.take()
            tokens.expect(")")
            if not length.isdecimal() or len(length) > 9:
                raise NotAType(f"fixed takes 1 whole number, as in {example('fixed')}.")
            return f"fixed({int(length)})"
        case _ if name in _PLAIN:
            return name
        case _:
            known = [*_PLAIN, *ALIASES, *EXAMPLES]
            meant = f" {instead}" if (instead := advice(word)) else did_you_mean(word, known)
            raise NotAType(f'There is no type "{word}".{meant}')


def _inside(tokens: _Tokens) -> str:
    tokens.open("<", "list")
    element = _part(tokens)
    tokens.expect(">")
    return element


def _map(tokens: _Tokens) -> str:
    tokens.open("<", "map")
    key = _type(tokens)
    tokens.expect(",")
    value = _part(tokens)
    tokens.expect(">")
    return f"map<{key}, {value}>"


def _struct(tokens: _Tokens) -> str:
    tokens.open("<", "struct")
    fields = [_field(tokens)]
    while tokens.peek() == ",":
        tokens.take()
        fields.append(_field(tokens))
    tokens.expect(">")
    return f"struct<{', '.join(fields)}>"


def _field(tokens: _Tokens) -> str:
    name = tokens.take()
    tokens.expect(":")
    return f"{name}: {_part(tokens)}"


def _part(tokens: _Tokens) -> str:
    kind = _type(tokens)
    return f"{kind} not null" if _not_null(tokens) else kind


def _not_null(tokens: _Tokens) -> bool:
    if (tokens.peek() or "").lower() != "not":
        return False
    tokens.take()
    if (tokens.peek() or "").lower() != "null":
        raise NotAType(f"{tokens.text!r} needs null after not.")
    tokens.take()
    return True


def _decimal(tokens: _Tokens) -> str:
    tokens.open("(", "decimal")
    precision, comma, scale, end = (tokens.take() if tokens.peek() else "" for _ in range(4))
    if (comma, end) != (",", ")"):
        raise NotAType(f"decimal takes 2 whole numbers, as in {example('decimal')}.")
    short = all(part.isdecimal() and len(part) < 10 for part in (precision, scale))
    if not (short and 0 < int(precision) <= 38 and int(scale) <= int(precision)):
        raise NotAType(
            f"decimal({precision},{scale}) is not possible: the precision is 1 to 38, the scale at most "
            "the precision."
        )
    return f"decimal({int(precision)},{int(scale)})"
