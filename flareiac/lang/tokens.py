"""Cuts a piece of text into the terminals of the grammar.

python-hcl2's own lexer is most of its cost; this one is a handful of regular expressions and a stack of what
is open. It is also where HCL is stricter than that lexer: escapes, raw newlines in strings, heredoc markers.
Newlines inside parentheses, brackets, interpolations and ``for`` braces mean nothing and are left out. A
heredoc comes out as a quoted string whose opening terminal is the marker.
"""

import re
from typing import Final, NamedTuple

from flareiac.kernel import codes
from flareiac.lang.syntax_errors import SyntaxTrouble


class Token(NamedTuple):
    """A terminal's name in the grammar, its text, and its place. Words are ``NAME``; the parser turns them
    into keywords where one fits.
    """

    kind: str
    text: str
    start: int
    end: int


_CODE: Final = re.compile(
    r"""[ \t\r]*(?:
      (?P<NAME>[^\W\d][\w-]*)
    | (?P<newline>\n|\#[^\n]*\n?|//[^\n]*\n?)
    | (?P<plain>"[^"\\$%\n]*")
    | (?P<FLOAT_LITERAL>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)
    | (?P<INT_LITERAL>\d+)
    | (?P<quote>")
    | (?P<comment>/\*(?:[^*]|\*(?!/))*\*/)
    | (?P<heredoc><<-?[^\W\d][\w.-]*\r?\n)
    | (?P<close>~\})
    | (?P<op>\.\.\.|\.\*|\[\*\]|=>|==|!=|<=|>=|&&|\|\||::|[{}()\[\]=.,:?!<>+*/%-])
    | (?P<end>\Z)
    )""",
    re.VERBOSE,
)
_QUOTED: Final = re.compile(
    r'(?P<text>(?:[^"\\$%\n]|\\.|\$\$\{|%%\{|\$(?!\{)|%(?!\{))+)|(?P<open>[$%]\{~?)|(?P<quote>")'
)
_LINE: Final = re.compile(r"(?P<text>(?:[^$%\n]|\$\$\{|%%\{|\$(?!\{)|%(?!\{))*\n?)")
_OPEN: Final = re.compile(r"[$%]\{~?")
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
_CLOSES: Final = {"}": ("{", "for"), ")": ("(",), "]": ("[",)}
_NAMES: Final = {
    "{": "brace",
    "for": "brace",
    "(": "parenthesis",
    "[": "bracket",
    "${": "template interpolation",
}
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

    def emit(self, kind: str, start: int, end: int) -> None:
        self.out.append(Token(kind, self.text[start:end], start, end))

    def run(self) -> list[Token]:
        text, out, match_code = self.text, self.out, _CODE.match
        while True:
            match = match_code(text, self.at)
            if match is None:
                raise self.unexpected()
            kind = match.lastgroup
            start, end = match.span(kind)  # type: ignore[arg-type]
            self.at = end
            if kind == "NAME":
                out.append(Token("NAME", text[start:end], start, end))
            elif kind == "op":
                self.operator(start, end)
            elif kind == "newline":
                if not self.open or self.open[-1][0] == "{":
                    out.append(Token("NL_OR_COMMENT", "\n", start, end))
            elif kind == "plain":
                out.append(Token("DBLQUOTE", '"', start, start + 1))
                if end - start > 2:
                    out.append(Token("STRING_CHARS", text[start + 1 : end - 1], start + 1, end - 1))
                out.append(Token("DBLQUOTE", '"', end - 1, end))
            elif kind == "quote":
                out.append(Token("DBLQUOTE", '"', start, end))
                self.push('"', start)
                self.quoted()
            elif kind == "heredoc":
                self.emit("DBLQUOTE", start, end)
                self.push(text[start:end].strip(), start)
                self.heredoc()
            elif kind == "close":
                self.close_template(start, end)
            elif kind == "FLOAT_LITERAL" or kind == "INT_LITERAL":
                self.number(kind, start, end)
            elif kind == "end":
                return self.finish()

    def number(self, kind: str, start: int, end: int) -> None:
        if self.out and self.out[-1].kind == "DOT" and kind == "FLOAT_LITERAL":
            raise SyntaxTrouble(
                codes.UNSUPPORTED_INDEX,
                "Two indexes in a row are written in brackets, such as [0][1].",
                start,
                end,
            )
        self.emit(kind, start, end)

    def push(self, what: str, start: int) -> None:
        if len(self.open) >= _DEPTH_LIMIT:
            raise SyntaxTrouble(
                codes.TOO_DEEP, f"Expressions and blocks may be nested {_DEPTH_LIMIT} deep.", start, start + 1
            )
        self.open.append((what, start))

    def operator(self, start: int, end: int) -> None:
        text = self.text[start:end]
        if self.text.startswith(("/*", "<<"), start):
            self.at = start
            raise self.unexpected()
        if text in "([":
            self.push(text, start)
        elif text == "{":
            self.push("for" if _FOR_INTRO.match(self.text, end) else "{", start)
        elif text in _CLOSES:
            self.close(text, start, end)
            return
        self.out.append(Token(_OPERATORS[text], text, start, end))

    def close(self, text: str, start: int, end: int) -> None:
        if text == "}" and self.open and self.open[-1][0] == "${":
            self.close_template(start, end)
            return
        if not self.open or self.open[-1][0] not in _CLOSES[text]:
            what = (
                f"does not close the {_NAMES[self.open[-1][0]]} opened before it."
                if self.open
                else "closes nothing: nothing is open here."
            )
            raise SyntaxTrouble(codes.UNEXPECTED_BRACKET, f'"{text}" {what}', start, end)
        self.open.pop()
        self.out.append(Token(_OPERATORS[text], text, start, end))

    def close_template(self, start: int, end: int) -> None:
        if not self.open or self.open[-1][0] != "${":
            self.at = start
            raise self.unexpected()
        self.open.pop()
        self.out.append(Token("RBRACE", self.text[start:end], start, end))
        if self.open[-1][0] == '"':
            self.quoted()
        else:
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
        closing = re.compile(r"[ \t]*" + re.escape(marker.lstrip("<-")) + r"[ \t]*(?=\r?\n|\Z)")
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
                raise SyntaxTrouble(
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

    def check_escapes(self, start: int, end: int) -> None:
        for match in _ESCAPE.finditer(self.text, start, end):
            if len(match.group()) == len("\\U0010FFFF") and match.group().upper() > _LAST_CHARACTER:
                raise SyntaxTrouble(
                    codes.INVALID_ESCAPE, f"Unicode has no character {match.group()}.", *match.span()
                )
            if match.group("bad") is not None:
                raise SyntaxTrouble(
                    codes.INVALID_ESCAPE,
                    f'{match.group()} is not an escape sequence. There are \\n, \\r, \\t, \\", \\\\, '
                    "\\uNNNN and \\UNNNNNNNN; "
                    "a backslash itself is written \\\\.",
                    *match.span(),
                )

    def unterminated_string(self) -> SyntaxTrouble:
        opened = self.open[-1][1]
        return SyntaxTrouble(
            codes.UNTERMINATED_STRING,
            "The line ends before the closing quote. Close the string on the same line, or use a heredoc "
            "for text of several lines.",
            opened,
            self.at,
        )

    def unexpected(self) -> SyntaxTrouble:
        at = self.at + len(self.text[self.at :]) - len(self.text[self.at :].lstrip(" \t\r"))
        rest = self.text[at : at + 2]
        match rest:
            case "/*":
                return SyntaxTrouble(
                    codes.UNTERMINATED_COMMENT,
                    "Nothing closes it: write */ where the comment ends.",
                    at,
                    at + 2,
                )
            case "<<":
                return SyntaxTrouble(
                    codes.INVALID_HEREDOC,
                    "A heredoc starts with << or <<- and a name at the end of the line, such as <<EOT.",
                    at,
                    at + 2,
                )
            case _ if rest[:1] in "'`‘’“”":
                return SyntaxTrouble(
                    codes.INVALID_CHARACTER,
                    'Strings are written in straight double quotes: "text".',
                    at,
                    at + 1,
                )
            case _ if rest[:1] in "&|":
                return SyntaxTrouble(
                    codes.INVALID_CHARACTER, 'Logical operators are "&&" and "||".', at, at + 1
                )
            case _:
                return SyntaxTrouble(codes.INVALID_CHARACTER, _meaningless(rest[:1]), at, at + 1)

    def finish(self) -> list[Token]:
        if self.open:
            what, start = self.open[-1]
            name, closing = _NAMES[what], {"{": "}", "for": "}", "(": ")", "[": "]", "${": "}"}[what]
            raise SyntaxTrouble(
                codes.UNCLOSED_BRACKET,
                f"There is no {closing} for this {name} before the text ends.",
                start,
                start + len(what.replace("for", "{")),
            )
        return self.out


def tokenize(text: str) -> list[Token]:
    """The terminals of a text. Raises ``SyntaxTrouble``."""
    return _Reader(text).run()


def _meaningless(character: str) -> str:
    apart = " Each attribute stands on a line of its own." if character == ";" else ""
    return f"HCL has no meaning for {character!r} here.{apart}"
