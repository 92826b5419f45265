"""The files that a pattern names, with the syntax of Terraform's ``fileset``: ``*``, ``?``, ``[a-z]``,
``[^a]``, ``{a,b}``, a backslash before a character that means itself, and ``**`` for folders of any depth.
"""

import os
import posixpath
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from flareiac.lang.functions.patterns import Pattern, compiled
from flareiac.lang.functions.signature import FunctionError, within_limit
from flareiac.lang.values import normal

_ANY_NAME: Final = "[^/]"
_NOTHING: Final = r"[^\x00-\x{10FFFF}]"


def files_named(folder: Path, pattern: str, is_inside: Callable[[Path], bool]) -> Iterator[str]:
    """The paths of files relative to a folder. Raises ``FunctionError``.

    Links are followed, but not to what ``is_inside`` refuses, and not round in a circle.
    """
    steps = posixpath.normpath(pattern.lstrip("/") or ".").split("/")
    begin = folder
    while steps and steps[0] == "..":
        begin = begin.parent
        steps.pop(0)
    if not is_inside(begin):
        raise FunctionError(f"{pattern!r} leads out of the module's directory", 1)
    parts: list[Pattern | None] = []
    for step in steps:
        if step != "**" or not parts or parts[-1] is not None:
            parts.append(None if step == "**" else _pattern(step))
    search = _Search(is_inside)
    for path in search.below(begin, tuple(parts), (begin.resolve(),)):
        yield os.path.relpath(path, folder)


class _Entry(NamedTuple):
    name: str
    path: Path


class _Search:
    """One search. ``looked_at``: names so far."""

    def __init__(self, is_inside: Callable[[Path], bool]) -> None:
        self.is_inside, self.looked_at = is_inside, 0

    def below(
        self, folder: Path, parts: tuple[Pattern | None, ...], above: tuple[Path, ...]
    ) -> Iterator[Path]:
        """The files below a folder that the parts of a pattern name. ``above``: the folders around, resolved;
        the parts after ``**`` may stand at any depth.
        """
        part, rest = parts[0], parts[1:]
        if part is None and rest:
            yield from self.below(folder, rest, above)
        for entry in self.entries(folder):
            if part is not None and not part.is_whole(normal(entry.name)):
                continue
            if entry.path.is_dir():
                resolved = entry.path.resolve()
                further = parts if part is None else rest
                if further and resolved not in above and self.is_inside(resolved):
                    yield from self.below(entry.path, further, (*above, resolved))
            elif not rest:
                yield from self.file(entry, is_named=part is not None)

    def file(self, entry: _Entry, *, is_named: bool) -> Iterator[Path]:
        if not entry.path.exists():
            if is_named:
                raise FunctionError(f"{entry.path.name!r} is a link to a file that does not exist", 1)
        elif entry.path.is_file() and self.is_inside(entry.path.resolve()):
            yield entry.path

    def entries(self, folder: Path) -> Iterator[_Entry]:
        try:
            names = sorted(os.listdir(folder))  # noqa: PTH208 - the names alone
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise FunctionError(f"the folder {folder.name!r} cannot be read: {error.strerror}", 0) from None
        self.looked_at += len(names)
        within_limit(self.looked_at, "parts")
        for name in names:
            try:
                name.encode()
            except UnicodeEncodeError:
                raise FunctionError(
                    f"the folder {folder.name!r} has a file whose name is not UTF-8", 0
                ) from None
            yield _Entry(name, folder / name)


def _pattern(text: str) -> Pattern:
    reader = _PatternReader(normal(text))
    return compiled(f"(?s){reader.read('')}", 1)


class _PatternReader:
    """One part of a pattern as a regular expression of RE2."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def read(self, stops: str) -> str:
        out: list[str] = []
        while self.at < len(self.text) and self.text[self.at] not in stops:
            character = self.text[self.at]
            self.at += 1
            if character == "*":
                out.append(f"{_ANY_NAME}*")
            elif character == "?":
                out.append(_ANY_NAME)
            elif character == "[":
                out.append(self.characters())
            elif character == "{":
                out.append(self.choices())
            else:
                out.append(_itself(self.escaped() if character == "\\" else character))
        return "".join(out)

    def choices(self) -> str:
        choices = [self.read(",}")]
        while self.text[self.at : self.at + 1] == ",":
            self.at += 1
            choices.append(self.read(",}"))
        if self.at >= len(self.text):
            raise self.failure("nothing closes the {; what stands in braces has no /")
        self.at += 1
        return f"(?:{'|'.join(choices)})"

    def characters(self) -> str:
        negated = self.text.startswith("^", self.at)
        self.at += negated
        ranges: list[str] = []
        is_first = True
        while is_first or self.text[self.at : self.at + 1] != "]":
            is_first = False
            low = high = self.character()
            if self.text.startswith("-", self.at):
                self.at += 1
                high = self.character()
            if low <= high:
                ranges.append(f"{_itself(low)}-{_itself(high)}")
        self.at += 1
        if not ranges:
            return _ANY_NAME if negated else _NOTHING
        return f"[{'^/' if negated else ''}{''.join(ranges)}]"

    def character(self) -> str:
        character = self.text[self.at : self.at + 1]
        self.at += 1
        if character == "\\":
            return self.escaped()
        if character in ("", "-", "]"):
            raise self.failure(
                "[ begins no list of characters such as [a-z] or [^a]; \\ stands before - and ]"
            )
        return character

    def escaped(self) -> str:
        if self.at >= len(self.text):
            raise self.failure("a character follows the backslash that is to mean itself")
        self.at += 1
        return self.text[self.at - 1]

    def failure(self, why: str) -> FunctionError:
        return FunctionError(f"{self.text!r} is not a pattern: {why}", 1)


def _itself(character: str) -> str:
    return rf"\x{{{ord(character):X}}}"
