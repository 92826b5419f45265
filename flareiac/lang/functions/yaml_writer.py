"""Values as text in YAML, byte for byte as Terraform writes it: names and texts in double quotes that are
folded after 80 columns, and texts of several lines as they stand.
"""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Final

from flareiac.lang.functions.signature import not_encodable, within_limit
from flareiac.lang.values import Value, normal, plain_text

_WIDTH: Final = 80
_LONGEST_KEY: Final = 128
"""Bytes of a key that stands on the line of its value."""
_BREAKS: Final = "\r\n\x85\u2028\u2029"
_SHOWN: Final = re.compile(r"[\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]*")
"""The texts that may stand as they are; a tab and what is outside of the first plane may not."""
_SPACE_AT_END: Final = re.compile(rf" (?:[{_BREAKS}]|\Z)")
_BEGINS_LINE: Final = re.compile(rf"(?:\A|(?<=[{_BREAKS}]))(?=[^{_BREAKS}])")
_NOT_PLAIN: Final = re.compile(
    r"[^\x20\x21\x23-\x5b\x5d-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]"
)
_ANY: Final = re.compile(r".", re.DOTALL)
_WORDS_AND_SPACES: Final = re.compile(r" +|[^ ]+")
_SHORT: Final[Mapping[str, str]] = {
    "\0": "0",
    "\a": "a",
    "\b": "b",
    "\t": "t",
    "\n": "n",
    "\v": "v",
    "\f": "f",
    "\r": "r",
    "\x1b": "e",
    '"': '"',
    "\\": "\\",
    "\x85": "N",
    "\u2028": "L",
    "\u2029": "P",
}


def yaml_text(value: Value) -> str:
    """The YAML of a known value. Raises ``FunctionError``."""
    writer = _Writer()
    writer.value(value, 0)
    ends_line = writer.column == 0
    is_open = not isinstance(value.raw, str | tuple | Mapping)
    return "".join([*writer.pieces, "" if ends_line else "\n", "...\n" if is_open else ""])


class _Writer:
    """The text so far. ``column``: characters on its last line."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.column = self.length = 0

    def put(self, text: str) -> None:
        self.pieces.append(text)
        self.length += len(text)
        within_limit(self.length)  # a small value may hold one part many times over
        begin = text.rfind("\n") + 1
        self.column = len(text) - begin + (0 if begin else self.column)

    def begin(self, indent: int) -> None:
        """A new line, unless the last one is empty."""
        self.put(("\n" if self.column else "") + " " * indent)

    def value(self, value: Value, indent: int) -> None:
        """A value from here on; further lines of a collection begin at the indentation."""
        match value.raw:
            case None:
                self.put("null")
            case str() as text:
                self.text(normal(text), indent + 2)
            case bool() | Decimal():
                self.put(str(plain_text(value.raw)))
            case tuple() as elements:
                self.sequence(elements, indent)
            case Mapping() as members:
                self.mapping(members, indent)
            case _:
                raise not_encodable(value)

    def sequence(self, elements: tuple[Value, ...], indent: int) -> None:
        if not elements:
            self.put("[]")
        for at, element in enumerate(elements):
            if at:
                self.begin(indent)
            self.put("- ")
            self.value(element, indent + 2 if _is_filled(element) else indent)

    def mapping(self, members: Mapping[str, Value], indent: int) -> None:
        if not members:
            self.put("{}")
        for at, (name, member) in enumerate(
            sorted((normal(name), member) for name, member in members.items())
        ):
            if at:
                self.begin(indent)
            if _is_long_key(name):
                self.put("? ")
                self.text(name, indent + 2)
                self.begin(indent)
                self.put(": ")
                self.value(member, indent + 2 if _is_filled(member) else indent)
                continue
            self.put(f"{_quoted(name)}:")
            if not _is_filled(member):
                self.put(" ")
                self.value(member, indent)
                continue
            inside = indent if isinstance(member.raw, tuple) else indent + 2
            self.begin(inside)
            self.value(member, inside)

    def text(self, text: str, indent: int) -> None:
        if "\n" in text and _SHOWN.fullmatch(text) and not _SPACE_AT_END.search(text):
            rest = text.removesuffix("\n")
            ending = "-" if rest == text else "+" if not rest or rest[-1] in _BREAKS else ""
            self.put(f"|{'2' if text[0] in f' {_BREAKS}' else ''}{ending}\n")
            self.put(_BEGINS_LINE.sub(" " * indent, text))
        else:
            self.put('"')
            self.put(f"\n{' ' * indent}".join(_folded(text, self.column, indent)) + '"')


def _is_filled(value: Value) -> bool:
    return isinstance(value.raw, tuple | Mapping) and bool(value.raw)


def _is_long_key(name: str) -> bool:
    return "\n" in name or len(name.encode()) > _LONGEST_KEY


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    # The library behind Terraform's function takes the mark at the beginning for one at each place
    return (_ANY if text.startswith("\ufeff") else _NOT_PLAIN).sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    point = ord(character)
    if character in _SHORT:
        return f"\\{_SHORT[character]}"
    return f"\\x{point:02X}" if point < 0x100 else f"\\u{point:04X}" if point < 0x10000 else f"\\U{point:08X}"


def _folded(text: str, column: int, indent: int) -> Iterator[str]:
    """The lines of a text in quotes, which begins at a column: a line ends at the first space after the width
    of a line, and a backslash keeps the spaces after that one.
    """
    if text.startswith("\ufeff"):
        yield _escaped(text)
        return
    line: list[str] = []
    for match in _WORDS_AND_SPACES.finditer(text):
        piece = _escaped(match[0])
        if piece[0] == " " and column > _WIDTH and 0 < match.start() < len(text) - 1:
            yield "".join(line)
            line, column = [], indent
            piece = "\\" + piece[1:] if len(piece) > 1 else ""
        line.append(piece)
        column += len(piece)
    yield "".join(line)
