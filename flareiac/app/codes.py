"""Looks up the meaning of a code in the tables and pages of the core and of the installed providers. Reads
package data only.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Final

from flareiac.app.discovery import installed
from flareiac.kernel import codes
from flareiac.kernel.codes import Code, CodeTable, code_table

_RETIRED: Final = re.compile(r"^- (FI[A-Z]\d{3}): (See FI[A-Z]\d{3}\.)$", re.MULTILINE)
_SUCCESSOR: Final = re.compile(r"See (FI[A-Z]\d{3})\.")


def code_tables() -> Iterator[CodeTable]:
    """The core's table, then those of the installed providers."""
    yield code_table(codes, package="flareiac", folder="docs/codes")
    for provider in installed().providers.values():
        yield provider.codes()


def known_codes() -> Mapping[str, Code]:
    """Every code by its id, in the order of the ids."""
    by_id = {code.id: code for table in code_tables() for code in table.codes}
    return dict(sorted(by_id.items()))


def code_page(id: str) -> str | None:  # noqa: A002 - the field's own word
    """The Markdown section of a code with its heading; of a retired one the section to read instead. None for
    an unknown code.
    """
    wanted = id.upper()
    sections = _sections()
    if (successor := _SUCCESSOR.fullmatch(sections.get(wanted, ""))) is not None:
        return f"{wanted} is no longer used. {successor.group()}\n\n{sections[successor.group(1)]}"
    return sections.get(wanted)


@cache
def _sections() -> Mapping[str, str]:
    sections: dict[str, str] = {}
    for table in code_tables():
        for text in page_texts(table):
            sections |= _split(text)
    return sections


def page_texts(table: CodeTable) -> Iterator[str]:
    """The Markdown files of a table."""
    if not table.codes:
        return
    place = files(table.package)
    if not table.folder:
        yield place.joinpath("codes.md").read_text("utf-8")
        return
    folder = place.joinpath(table.folder)
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".md"):
            yield file.read_text("utf-8")


def _split(text: str) -> dict[str, str]:
    """The sections of a page by their code, headings included; for a retired code the sentence that names its
    successor.
    """
    pieces = ("\n" + text).split("\n## ")[1:]
    sections = {
        piece.split()[0]: f"## {piece.strip()}" for piece in pieces if not piece.startswith("Retired\n")
    }
    return sections | dict(_RETIRED.findall(text))
