"""Reads JSON text (RFC 8259) into values that know their places. Python's own reader knows no places, takes
names that occur twice, and makes floats of numbers.
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Final, NamedTuple, TypeAlias

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import did_you_mean
from flareiac.lang.syntax_errors import InvalidSyntax
from flareiac.lang.values import written_number


class JsonString(NamedTuple):
    """A text; the offsets include its quotes. ``is_plain``: it has no escapes, so that each character stands
    for itself.
    """

    text: str
    start: int
    end: int
    is_plain: bool


class JsonScalar(NamedTuple):
    value: Decimal | bool | None
    start: int
    end: int


class JsonArray(NamedTuple):
    elements: "tuple[JsonValue, ...]"
    start: int
    end: int


class JsonObject(NamedTuple):
    """Members in source order; a name may occur several times."""

    members: "tuple[tuple[JsonString, JsonValue], ...]"
    start: int
    end: int


JsonValue: TypeAlias = JsonString | JsonScalar | JsonArray | JsonObject

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_STRING: Final = re.compile(r'"([^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*)"')
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])", re.ASCII)
_LIKE_A_NUMBER: Final = re.compile(r"[-+.]*\d[\w.+-]*")
_WORD: Final = re.compile(r"[^\W\d][\w-]*")
_WORDS: Final = {"true": True, "false": False, "null": None}
_ESCAPE: Final = re.compile(
    r"\\(?:(?P<plain>[\"\\/bfnrt])|u(?P<pair>[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2})"
    r"|u(?P<code>[0-9A-Fa-f]{4})|(?P<bad>u[0-9A-Fa-f]{0,3}|.))",
    re.DOTALL,
)
_PLAIN: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_DEPTH_LIMIT: Final = 100
"""Deeper nesting than any program writes; keeps recursion over values within Python's stack."""
_COMMENTS: Final = ("//", "/*", "#")


def is_json(path: str) -> bool:
    """Returns True where a file holds HCL's JSON syntax, as its name says."""
    return path.endswith(".json")


def json_string(text: str) -> JsonString | None:
    """The string that a text spells; None where it spells something else."""
    try:
        value = read_json(text)
    except InvalidSyntax:
        return None
    return value if isinstance(value, JsonString) else None


def read_json(text: str) -> JsonValue:
    """The one value that a text spells. Raises ``InvalidSyntax``."""
    return _Reader(text).run()


def places_in(text: str, string: JsonString) -> Sequence[int]:
    """The offset in ``text`` of each character that a string means, and of its closing quote."""
    first, last = string.start + 1, string.end - 1
    if string.is_plain:
        return range(first, last + 1)
    places: list[int] = []
    at = first
    for match in _ESCAPE.finditer(text, first, last):
        places.extend(range(at, match.start()))
        places.append(match.start())
        at = match.end()
    places.extend(range(at, last + 1))
    return places


def _meaning(match: re.Match[str]) -> str:
    plain, pair, code, _bad = match.groups()
    if plain:
        return _PLAIN.get(plain, plain)
    if pair:
        return chr(0x10000 + ((int(pair[:4], 16) - 0xD800) << 10) + int(pair[6:], 16) - 0xDC00)
    number = int(code, 16)
    # One half of a pair is no character; Go's reader puts this one in its place
    return "\ufffd" if 0xD800 <= number <= 0xDFFF else chr(number)


class _Reader:
    """One pass over a text; ``at`` is where it stands."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0

    def run(self) -> JsonValue:
        self.space()
        value = self.value()
        self.space()
        if self.at < len(self.text):
            self.refuse_comment()
            raise self.wrong("The text goes on after the end of its one value.")
        return value

    def space(self) -> None:
        match = _SPACE.match(self.text, self.at)
        assert match is not None, "the pattern takes any text"
        self.at = match.end()

    def next(self) -> str:
        """The next character that is no white space; empty at the end."""
        self.space()
        return self.text[self.at : self.at + 1]

    def value(self) -> JsonValue:
        match self.text[self.at : self.at + 1]:
            case '"':
                return self.string()
            case "{":
                return self.object()
            case "[":
                return self.array()
            case _:
                return self.scalar()

    def string(self) -> JsonString:
        start = self.at
        match = _STRING.match(self.text, start)
        if match is None:
            raise self.unterminated(start)
        self.at = match.end()
        inside = match[1]
        if "\\" not in inside:
            return JsonString(inside, start, self.at, True)
        for escape in _ESCAPE.finditer(self.text, start + 1, self.at - 1):
            if escape["bad"] is not None:
                detail = (
                    f"{escape.group()} is not an escape sequence of JSON. There are \\n, \\r, \\t, \\b, \\f, "
                    '\\", \\/, \\\\ and \\uNNNN; a backslash itself is written \\\\.'
                )
                raise InvalidSyntax(codes.INVALID_ESCAPE, detail, *escape.span())
        return JsonString(_ESCAPE.sub(_meaning, inside), start, self.at, False)

    def unterminated(self, start: int) -> InvalidSyntax:
        stops = re.compile(r'(?:[^"\\\x00-\x1f]|\\[^\x00-\x1f])*').match(self.text, start + 1)
        end = stops.end() if stops else start + 1
        if end < len(self.text) and self.text[end] not in "\r\n\\":
            detail = f"A string holds no {self.text[end]!r} as it is; write it with an escape, such as \\t."
            return InvalidSyntax(codes.INVALID_CHARACTER, detail, end, end + 1)
        detail = "The line ends before the closing quote. A line break in a string is written \\n."
        return InvalidSyntax(codes.UNTERMINATED_STRING, detail, start, max(end, start + 1))

    def open(self) -> int:
        if self.depth >= _DEPTH_LIMIT:
            detail = f"Objects and arrays may be nested {_DEPTH_LIMIT} deep."
            raise InvalidSyntax(codes.TOO_DEEP, detail, self.at, self.at + 1)
        self.depth += 1
        self.at += 1
        return self.at - 1

    def goes_on(self, start: int, closing: str) -> bool:
        """Reads what follows a member or element; False at the closing bracket."""
        after = self.next()
        if after == closing:
            return False
        if after != ",":
            self.refuse_comment()
            raise self.missing(start, f'a comma or "{closing}"')
        comma = self.at
        self.at += 1
        if self.next() in ("}", "]"):
            what = "member" if closing == "}" else "element"
            detail = f"JSON takes no comma after the last {what}. Remove it."
            raise InvalidSyntax(codes.INVALID_SYNTAX, detail, comma, comma + 1)
        return True

    def array(self) -> JsonArray:
        start = self.open()
        elements: list[JsonValue] = []
        more = self.next() != "]"
        while more:
            self.space()
            elements.append(self.value())
            more = self.goes_on(start, "]")
        self.at += 1
        self.depth -= 1
        return JsonArray(tuple(elements), start, self.at)

    def object(self) -> JsonObject:
        start = self.open()
        members: list[tuple[JsonString, JsonValue]] = []
        more = self.next() != "}"
        while more:
            name = self.name(start)
            if (after := self.next()) != ":":
                self.refuse_comment()
                if after == "=":
                    raise self.wrong('Members are written "name": value, with a colon.')
                raise self.missing(start, "a colon")
            self.at += 1
            self.space()
            members.append((name, self.value()))
            more = self.goes_on(start, "}")
        self.at += 1
        self.depth -= 1
        return JsonObject(tuple(members), start, self.at)

    def name(self, start: int) -> JsonString:
        if self.next() == '"':
            return self.string()
        self.refuse_comment()
        if word := _WORD.match(self.text, self.at):
            detail = f'A name stands in double quotes: "{word.group()}".'
            raise InvalidSyntax(codes.INVALID_SYNTAX, detail, *word.span())
        raise self.missing(start, "a name in double quotes")

    def scalar(self) -> JsonScalar:
        start = self.at
        if match := _NUMBER.match(self.text, start):
            self.at = match.end()
            try:
                return JsonScalar(written_number(match.group()), start, self.at)
            except ValueError as error:
                detail = f"This number cannot be used: {error}."
                raise InvalidSyntax(codes.NUMBER_OUT_OF_RANGE, detail, *match.span()) from None
        if match := _WORD.match(self.text, start):
            word = match.group()
            if word in _WORDS:
                self.at = match.end()
                return JsonScalar(_WORDS[word], start, self.at)
            meant = did_you_mean(word.lower(), [*_WORDS]) or " A text stands in double quotes."
            detail = f"JSON has no word {word:.60}.{meant}"
            raise InvalidSyntax(codes.INVALID_SYNTAX, detail, *match.span())
        if match := _LIKE_A_NUMBER.match(self.text, start):
            detail = "This is no number of JSON, which are written such as 12, -0.5 or 1e3."
            raise InvalidSyntax(codes.INVALID_SYNTAX, detail, *match.span())
        self.refuse_comment()
        raise self.missing(None, "a value")

    def refuse_comment(self) -> None:
        for sign in _COMMENTS:
            if self.text.startswith(sign, self.at):
                detail = 'JSON has no comments. A member of a block named "//" is one: "//": "text".'
                raise InvalidSyntax(codes.INVALID_CHARACTER, detail, self.at, self.at + len(sign))
        if self.text.startswith(("'", "“", "”", "‘", "’"), self.at):
            raise self.wrong('Strings are written in straight double quotes: "text".')

    def missing(self, opened: int | None, wanted: str) -> InvalidSyntax:
        if self.at < len(self.text):
            return self.wrong(f"Expected {wanted} here, not {self.text[self.at]!r}.")
        if opened is None:
            return self.wrong(f"The text ends where {wanted} should follow.")
        detail = f"The text ends before this {self.text[opened]} is closed."
        return InvalidSyntax(codes.UNCLOSED_BRACKET, detail, opened, opened + 1)

    def wrong(self, detail: str) -> InvalidSyntax:
        return InvalidSyntax(codes.INVALID_SYNTAX, detail, self.at, self.at + 1)
