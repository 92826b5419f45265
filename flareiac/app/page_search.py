"""Finds the sections of the documentation that are about a word. Touches the installed pages."""

import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Final

from flareiac.config.entries import Page
from flareiac.kernel.lazy_dataclass import dataclass

MOST_LISTED: Final = 10
"""So many sections are listed, those first that say the word most often."""
_SHORTEST: Final = 3
_FENCED: Final = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_HEADING: Final = re.compile(r"^#{1,3} (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading of a page and what stands under it, down to the next heading."""

    page: str
    heading: str
    text: str


def pages() -> Iterator[tuple[str, str]]:
    """The name and the Markdown of each page."""
    for file in sorted(files("flareiac").joinpath("docs").iterdir(), key=lambda file: file.name):
        name, dot, suffix = file.name.partition(".")
        if f"{dot}{suffix}" == ".md":
            yield name, file.read_text(encoding="utf-8")


def about(word: str) -> Page | None:
    """The section whose heading has a word, or a list of the sections that have it; None where none has it.

    Letter case and a plural do not count.
    """
    stem = re.sub(r"(?<=\w{3})s$", "", word.strip().lower())
    if len(stem) < _SHORTEST:
        return None
    matches = re.compile(rf"\b{re.escape(stem)}", re.IGNORECASE)
    sections = [section for name, text in pages() for section in _sections(name, text)]
    headed = [section for section in sections if matches.search(section.heading)]
    if len(headed) == 1:
        return Page(title=headed[0].heading, text=headed[0].text, kind="section")
    counted = [(len(matches.findall(section.text)), section) for section in sections if section not in headed]
    counted.sort(key=lambda pair: -pair[0])
    listed = [*headed, *(section for count, section in counted if count)]
    return _listed(word, listed) if listed else None


def _listed(word: str, listed: list[Section]) -> Page:
    lines = [f"- `{section.page}`: {section.heading}" for section in listed[:MOST_LISTED]]
    more = len(listed) - len(lines)
    rest = f"\n{more} more sections have it." if more else ""
    text = f'Nothing is called "{word}". It stands in these sections of the pages:\n\n' + "\n".join(lines)
    return Page(title=word, text=f"{text}\n{rest}")


def _sections(page: str, text: str) -> Iterator[Section]:
    hidden = [match.span() for match in _FENCED.finditer(text)]  # a comment in a program is no heading
    heads = [
        match
        for match in _HEADING.finditer(text)
        if not any(begin <= match.start() < end for begin, end in hidden)
    ]
    for head, after in zip(heads, [*heads[1:], None], strict=True):
        end = after.start() if after is not None else len(text)
        yield Section(page=page, heading=head[1], text=text[head.start() : end].rstrip() + "\n")
