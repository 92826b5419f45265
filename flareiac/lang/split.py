"""Cuts a file into its top-level items, so that each is read, cached and complained of by itself.

A coarse scan: it knows strings, templates, comments, heredocs and brackets, and nothing else. Broken text is
cut somewhere; reading the piece tells what is wrong.
"""

import re
from typing import Final

_INTEREST: Final = re.compile(
    r"""(?P<plain>"[^"\\$%\n]*")
      | (?P<quote>")
      | (?P<comment>/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)|(?:\#|//)[^\n]*)
      | (?P<heredoc><<-?[^\W\d][\w.-]*\r?\n)
      | (?P<open>[{(\[])
      | (?P<close>[})\]])
      | (?P<newline>\n)
    """,
    re.VERBOSE,
)
_IN_QUOTES: Final = re.compile(r'(?:[^"\\$%\n]|\\.|\$\$\{|%%\{|\$(?!\{)|%(?!\{))*(?P<end>[$%]\{|"|\n|\Z|\\)')
_IN_HEREDOC: Final = re.compile(r"(?:[^$%\n]|\$\$\{|%%\{|\$(?!\{)|%(?!\{))*(?P<end>[$%]\{|\n|\Z)")


def top_level_items(text: str) -> list[tuple[int, int]]:
    """The ranges of top-level items, without the blank lines and comments between them."""
    scan = _Scan(text)
    scan.run()
    return scan.items


_OPENED: Final = {"}": "{", ")": "(", "]": "["}


class _Scan:
    def __init__(self, text: str) -> None:
        self.text = text
        self.items: list[tuple[int, int]] = []
        self.stack: list[str] = []

    def run(self) -> None:
        text, at, start = self.text, 0, 0
        begun = False
        while match := _INTEREST.search(text, at):
            kind = match.lastgroup
            if not begun and text[at : match.start()].strip():
                begun, start = True, _first(text, at)
            at = match.end()
            match kind:
                case "newline":
                    if begun and not self.stack:
                        self.items.append((start, match.start()))
                        begun = False
                    continue
                case "comment" if begun or not _cut_off(match.group()):
                    continue
                case _:
                    pass
            if not begun:
                begun, start = True, match.start()
            at = self.enter(kind, match.group(), at)
        if not begun and text[at:].strip():
            begun, start = True, _first(text, at)
        if begun:
            self.items.append((start, len(text)))

    def enter(self, kind: str | None, shown: str, at: int) -> int:
        match kind:
            case "open":
                self.stack.append(shown)
            case "close":
                return self.leave(shown, at)
            case "quote":
                self.stack.append('"')
                return self.inside(at)
            case "heredoc":
                self.stack.append(shown.strip().lstrip("<-") + "\n")
                return self.inside(at)
            case _:
                pass
        return at

    def leave(self, shown: str, at: int) -> int:
        if not self.stack or _OPENED[shown] != self.stack[-1][-1]:
            return at
        return self.inside(at) if self.stack.pop() == "${" else at

    def inside(self, at: int) -> int:
        """Goes on inside the innermost string or heredoc."""
        return self.quoted(at) if self.stack[-1] == '"' else self.heredoc(at)

    def quoted(self, at: int) -> int:
        match = _IN_QUOTES.match(self.text, at)
        assert match is not None
        if match.group("end") in {"${", "%{"}:
            self.stack.append("${")
            return match.end()
        self.stack.pop()
        return match.end() if match.group("end") == '"' else match.start("end")

    def heredoc(self, at: int) -> int:
        marker = self.stack[-1][:-1]
        while at < len(self.text):
            if self.text[at - 1] == "\n":
                line = _line(self.text, at)
                if line.strip() == marker:
                    self.stack.pop()
                    return at + len(line)
            match = _IN_HEREDOC.match(self.text, at)
            assert match is not None
            at = match.end()
            if match.group("end") in {"${", "%{"}:
                self.stack.append("${")
                return at
        return at


def _cut_off(comment: str) -> bool:
    """Whether a block comment has no end: that must be read to be complained of."""
    return comment.startswith("/*") and not (comment.endswith("*/") and len(comment) > 3)


def _line(text: str, at: int) -> str:
    end = text.find("\n", at)
    return text[at:] if end < 0 else text[at:end]


def _first(text: str, at: int) -> int:
    """The offset of the first character that is not white space."""
    while text[at].isspace():
        at += 1
    return at
