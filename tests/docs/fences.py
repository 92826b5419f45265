"""The fenced blocks of a page, with what their first line says."""

import re
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """``language`` is the first word after the marks, ``argument`` the rest of that line."""

    page: Path
    line: int
    language: str
    argument: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def fences(page: Path) -> list[Fence]:
    """The blocks of a page in their order."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _FENCE.finditer(text):
        language, _, argument = match[1].partition(" ")
        line = text.count("\n", 0, match.start()) + 1
        found.append(Fence(page=page, line=line, language=language, argument=argument.strip(), text=match[2]))
    return found


def outline(text: str) -> list[str]:
    """The lines that must be seen, without layout: white space counts as one space, a line of dots stands for
    any lines.
    """
    return [line for line in (" ".join(item.split()) for item in text.splitlines()) if line]


def missing(wanted: list[str], seen: list[str]) -> str | None:
    """The first wanted line that is not among the seen ones in order (``...`` ends a line of which only the
    start is said).
    """
    rest = iter(seen)
    for line in wanted:
        if line == "...":
            continue
        start = line.removesuffix(" ...")
        if not any(item == line or (start != line and item.startswith(start)) for item in rest):
            return line
    return None


def shape(line: str) -> str:
    """A line without what differs from run to run: each word with a digit in it is one mark; of a row about a
    job its name counts.
    """
    words = line.split()
    if words and words[0].startswith("job."):
        return words[0]
    return " ".join("#" if any(sign.isdigit() for sign in word) else word for word in words)
