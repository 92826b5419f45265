"""The txtar format: a comment, then files, each after a line ``-- name --``. Text in, text out, nothing
lost.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_MARKER = re.compile(r"^-- (\S(?:.*\S)?) --[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """A parsed archive. ``files`` is in the order of the text; each content ends with a newline unless it is
    empty.
    """

    comment: str
    files: Mapping[str, str]


class Malformed(ValueError):
    """A text that is no archive that a test should use (the same name twice)."""


def parse_txtar(text: str) -> Archive:
    """Parses; CRLF is read as LF. Raises ``Malformed``."""
    text = text.replace("\r\n", "\n")
    markers = list(_MARKER.finditer(text))
    comment = _ended(text[: markers[0].start()] if markers else text)
    files: dict[str, str] = {}
    for index, marker in enumerate(markers):
        name = marker.group(1)
        if name in files:
            raise Malformed(f"the file {name} appears twice")
        end = markers[index + 1].start() if index + 1 < len(markers) else len(text)
        files[name] = _ended(text[marker.end() + 1 : end])
    return Archive(comment=comment, files=files)


def format_txtar(archive: Archive) -> str:
    """The text of an archive; ``parse_txtar`` gives it back."""
    return _ended(archive.comment) + "".join(
        f"-- {name} --\n{_ended(content)}" for name, content in archive.files.items()
    )


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"
