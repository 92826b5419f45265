"""Cuts a piece of text into the terminals of the grammar.

python-hcl2's own lexer is most of its cost; this one is a handful of regular expressions and a stack of what
is open. It is also where HCL is stricter than that lexer: escapes, raw newlines in strings, heredoc markers.
Newlines inside parentheses, brackets, interpolations and ``for`` braces mean nothing and are left out. A
heredoc comes out as a quoted string whose opening terminal is the marker.
"""

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from flareiac.kernel import codes
from flareiac.lang.syntax_errors import InvalidSyntax


class Token(NamedTuple):
    """A terminal's name in the grammar, its text, and its place. Words are ``NAME``; the parser turns them
    into keywords where one fits.
    """

    kind: str
    text: str
    start: int
    end: int


_CODE: Final = re.compile(
    r"""(?:[ \t\r]+|/\*(?:[^*]|\*(?!/))*\*/)*(?:
      (?P<NAME>[^\W\d][\w-]*)
    | (?P<newline>\n|\#[^\n]*\n?|//[^\n]*\n?)
    | (?P<plain>"[^"\\$%\n]*")
    | (?P<FLOAT_LITERAL>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)
    | (?P<INT_LITERAL>\d+)
    | (?P<quote>")
    | (?P<heredoc><<-?[^\W\d][\w.-]*\r?\n)
    | (?P<close>~\})
    | (?P<op>(?!/\*|<<)(?:\.\.\.|\.\*|\[\*\]|=>|==|!=|<=|>=|&&|\|\||::|[{}()\[\]=.,:?!<>+*/%-]))
    | (?P<end>\Z)
    | (?P<refused>)
    )""",
    re.VERBOSE,
)
_QUOTED: Final = re.compile(
    r'(?P<text>(?:[^"\\$%\n]|\\.|\$\$\{|%%\{|\$(?!\{)|%(?!\{))+)|(?P<open>[$%]\{~?)|(?P<quote>")'
)
_LINE: Final = re.compile(r"(?P<text>(?:[^$%\n]|\$\$\{|%%\{|\$(?!\{)|%(?!\{))*\n?)")
_OPEN: Final = re.compile(r"[$%]\{~?")
_NEXT_OPEN: Final = re.compile(r"\$\$\{|%%\{|(?P<open>[$%]\{~?)")
_ESCAPE: Final = re.compile(r"\\(?:[nrt\"\\]|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|(?P<bad>.?))", re.DOTALL)
_FOR_INTRO: Final = re.compile(r"(?:\s|#[^\n]*\n|//[^\n]*\n|/\*(?:[^*]|\*(?!/))*\*/)*for\s+[^\W\d]")

_OPERATORS: Final = {
    "==": "DOUBLE_EQ",
    "!=": "NEQ",
    "<": "LT",
    ">": "GT",
    "<=": "LEQ",
    ">=": "GEQ",
    "-": "MINUS",
    "*": "ASTERISK",
    "/": "SLASH",
    "%": "PERCENT",
    "&&": "DOUBLE_AMP",
    "||": "DOUBLE_PIPE",
    "+": "PLUS",
    "!": "NOT",
    "?": "QMARK",
    "(": "LPAR",
    ")": "RPAR",
    "{": "LBRACE",
    "}": "RBRACE",
    "[": "LSQB",
    "]": "RSQB",
    ",": "COMMA",
    ".": "DOT",
    "=": "EQ",
    ":": "COLON",
    ".*": "ATTR_SPLAT",
    "[*]": "FULL_SPLAT_START",
    "=>": "FOR_OBJECT_ARROW",
    "...": "ELLIPSIS",
    "::": "COLONS",
}
_BRACKETS: Final = {
    "{": ("brace", "}"),
    "{for": ("brace", "}"),
    "(": ("parenthesis", ")"),
    "[": ("bracket", "]"),
    "${": ("template interpolation", "}"),
}
"""The parts that may be open, beside strings and heredocs: the name of each, and the token that closes it."""
_REFUSED: Final = (
    ("/*", codes.UNTERMINATED_COMMENT, "Nothing closes it: write */ where the comment ends."),
    (
        "<<",
        codes.INVALID_HEREDOC,
        "A heredoc starts with << or <<- and a name at the end of the line, such as <<EOT.",
    ),
    *(
        (quote, codes.INVALID_CHARACTER, 'Strings are written in straight double quotes: "text".')
        for quote in "'`‘’“”"
    ),
    *((sign, codes.INVALID_CHARACTER, 'Logical operators are "&&" and "||".') for sign in "&|"),
    (
        ";",
        codes.INVALID_CHARACTER,
        "HCL has no meaning for ';' here. Each attribute stands on a line of its own.",
    ),
)
"""Beginnings of what is no terminal, as people write them."""
_LAST_CHARACTER: Final = "\\U0010FFFF"
_DEPTH_LIMIT: Final = 200
"""Deeper nesting than any person writes; keeps recursion over the tree within Python's stack."""


class _Reader:
    """One pass over a text. ``open`` holds what is open, innermost last, with the offset where it was
    opened.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.out: list[Token] = []
        self.open: list[tuple[str, int]] = []
        self.handlers: dict[str, Callable[[int, int], None]] = {
            "op": self.operator,
            "newline": self.newline,
            "plain": self.plain,
            "quote": self.quote,
            "INT_LITERAL": self.integer,
            "FLOAT_LITERAL": self.fraction,
            "heredoc": self.marker,
            "close": self.close_template,
            "refused": self.refuse,
        }

    def emit(self, kind: str, start: int, end: int) -> None:
        self.out.append(Token(kind, self.text[start:end], start, end))

    def run(self) -> list[Token]:
        text, out, match_code, handlers = self.text, self.out, _CODE.match, self.handlers
        while match := match_code(text, self.at):
            kind = match.lastgroup or ""
            start, end = match.span(kind)
            self.at = end
            if kind == "NAME":  # most of all terminals
                out.append(Token(kind, text[start:end], start, end))
            elif kind == "end":
                break
            else:
                handlers[kind](start, end)
        if self.open:
            raise self.unclosed()
        return out

    def newline(self, start: int, end: int) -> None:
        if not self.open or self.open[-1][0] == "{":
            self.out.append(Token("NL_OR_COMMENT", "\n", start, end))

    def plain(self, start: int, end: int) -> None:
        self.out.append(Token("DBLQUOTE", '"', start, start + 1))
        if end - start > 2:
            self.emit("STRING_CHARS", start + 1, end - 1)
        self.out.append(Token("DBLQUOTE", '"', end - 1, end))

    def quote(self, start: int, end: int) -> None:
        self.emit("DBLQUOTE", start, end)
        self.push('"', start)
        self.quoted()

    def marker(self, start: int, end: int) -> None:
        self.emit("DBLQUOTE", start, end)
        self.push(self.text[start:end].strip(), start)
        self.heredoc()

    def integer(self, start: int, end: int) -> None:
        self.emit("INT_LITERAL", start, end)

    def fraction(self, start: int, end: int) -> None:
        if self.out and self.out[-1].kind == "DOT":
            raise InvalidSyntax(
                codes.UNSUPPORTED_INDEX,
                "Two indexes in a row are written in brackets, such as [0][1].",
                start,
                end,
            )
        self.emit("FLOAT_LITERAL", start, end)

    def push(self, what: str, start: int) -> None:
        if len(self.open) >= _DEPTH_LIMIT:
            raise InvalidSyntax(
                codes.TOO_DEEP, f"Expressions and blocks may be nested {_DEPTH_LIMIT} deep.", start, start + 1
            )
        self.open.append((what, start))

    def operator(self, start: int, end: int) -> None:
        text = self.text[start:end]
        if text in "([":
            self.push(text, start)
        elif text == "{":
            self.push("{for" if _FOR_INTRO.match(self.text, end) else "{", start)
        elif text in "})]":
            self.close(text, start, end)
            return
        self.out.append(Token(_OPERATORS[text], text, start, end))

    def close(self, text: str, start: int, end: int) -> None:
        what = self.open[-1][0] if self.open else ""
        if what == "${" and text == "}":
            self.close_template(start, end)
            return
        name, closing = _BRACKETS.get(what, ("", ""))
        if text != closing:
            why = "closes nothing: nothing is open here."
            if what:
                why = f"does not close the {name} opened before it."
            raise InvalidSyntax(codes.UNEXPECTED_BRACKET, f'"{text}" {why}', start, end)
        self.open.pop()
        self.out.append(Token(_OPERATORS[text], text, start, end))

    def close_template(self, start: int, end: int) -> None:
        if not self.open or self.open[-1][0] != "${":
            self.refuse(start, end)
        self.open.pop()
        self.out.append(Token("RBRACE", self.text[start:end], start, end))
        match self.open[-1][0]:
            case '"':
                self.quoted()
            case "":
                self.template()
            case _:
                self.heredoc()

    def quoted(self) -> None:
        """Reads on inside a quoted string, up to its end or to the next interpolation."""
        while True:
            match = _QUOTED.match(self.text, self.at)
            if match is None:
                raise self.unterminated_string()
            start, end = match.span()
            self.at = end
            if match.lastgroup == "text":
                self.check_escapes(start, end)
                self.emit("STRING_CHARS", start, end)
            elif match.lastgroup == "open":
                self.enter(start, end)
                return
            else:
                self.open.pop()
                self.emit("DBLQUOTE", start, end)
                return

    def enter(self, start: int, end: int) -> None:
        self.emit("INTERP_START" if self.text[start] == "$" else "DIRECTIVE_START", start, end)
        self.push("${", start)

    def heredoc(self) -> None:
        """Reads on inside a heredoc, up to its end or to the next interpolation."""
        marker, opened = self.open[-1]
        closing = re.compile(r"[ \t]*" + re.escape(marker.lstrip("<-")) + r"[ \t]*(?=\r?(?:\n|\Z))")
        start, text = self.at, self.text
        while True:
            fresh_line = text[self.at - 1] == "\n"
            if fresh_line and (match := closing.match(text, self.at)):
                if self.at > start:
                    self.emit("STRING_CHARS", start, self.at)
                self.open.pop()
                self.at = match.end()
                self.emit("DBLQUOTE", match.start(), match.end())
                return
            if self.at >= len(text):
                raise InvalidSyntax(
                    codes.INVALID_HEREDOC,
                    f"Nothing closes it: write {marker.lstrip('<-')} alone on a line where the text ends.",
                    opened,
                    opened + len(marker),
                )
            self.at = _LINE.match(text, self.at).end()  # type: ignore[union-attr]
            if match := _OPEN.match(text, self.at):
                if self.at > start:
                    self.emit("STRING_CHARS", start, self.at)
                self.at = match.end()
                self.enter(*match.span())
                return

    def template(self) -> None:
        """Reads on in a text that is a template as a whole, up to its end or to the next interpolation."""
        start = self.at
        for match in _NEXT_OPEN.finditer(self.text, start):
            if match["open"] is not None:
                if match.start() > start:
                    self.emit("STRING_CHARS", start, match.start())
                self.at = match.end()
                self.enter(*match.span())
                return
        self.at = len(self.text)
        if self.at > start:
            self.emit("STRING_CHARS", start, self.at)
        self.open.pop()
        self.emit("DBLQUOTE", self.at, self.at)

    def check_escapes(self, start: int, end: int) -> None:
        for match in _ESCAPE.finditer(self.text, start, end):
            if len(match.group()) == len("\\U0010FFFF") and match.group().upper() > _LAST_CHARACTER:
                raise InvalidSyntax(
                    codes.INVALID_ESCAPE, f"Unicode has no character {match.group()}.", *match.span()
                )
            if match.group("bad") is not None:
                raise InvalidSyntax(
                    codes.INVALID_ESCAPE,
                    f'{match.group()} is not an escape sequence. There are \\n, \\r, \\t, \\", \\\\, '
                    "\\uNNNN and \\UNNNNNNNN; "
                    "a backslash itself is written \\\\.",
                    *match.span(),
                )

    def unterminated_string(self) -> InvalidSyntax:
        opened = self.open[-1][1]
        return InvalidSyntax(
            codes.UNTERMINATED_STRING,
            "The line ends before the closing quote. Close the string on the same line, or use a heredoc "
            "for text of several lines.",
            opened,
            self.at,
        )

    def refuse(self, start: int, _end: int) -> None:
        for beginning, code, detail in _REFUSED:
            if self.text.startswith(beginning, start):
                raise InvalidSyntax(code, detail, start, start + len(beginning))
        detail = f"HCL has no meaning for {self.text[start]!r} here."
        raise InvalidSyntax(codes.INVALID_CHARACTER, detail, start, start + 1)

    def unclosed(self) -> InvalidSyntax:
        what, start = self.open[-1]
        name, closing = _BRACKETS[what]
        detail = f"There is no {closing} for this {name} before the text ends."
        end = start + len(what.removesuffix("for"))
        return InvalidSyntax(codes.UNCLOSED_BRACKET, detail, start, end)


def tokenize(text: str) -> list[Token]:
    """The terminals of a text. Raises ``InvalidSyntax``."""
    return _Reader(text).run()


def tokenize_template(text: str) -> list[Token]:
    """The terminals of an attribute whose value is the template that the text spells as a whole, without
    quotes; it means what a heredoc with this text does. Raises ``InvalidSyntax``.
    """
    reader = _Reader(text)
    reader.out += [Token("NAME", "value", 0, 0), Token("EQ", "=", 0, 0), Token("DBLQUOTE", "<<", 0, 0)]
    reader.open.append(("", 0))
    reader.template()
    return reader.run()
