"""Regular expressions as Terraform has them: RE2's syntax, Go's rules for matches and for templates. The only
user of google-re2.

RE2 matches in time linear to the text, so that no pattern of a project can hang a command.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Any, Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.lang.functions.signature import FunctionError, within_limit

_MOST_GROUPS: Final = 100
"""Groups of one pattern: RE2's time and memory for a match grow with the square of their number, and no
signal ends a match.
"""
_ESCAPED: Final = re.compile(r"\\Q.*?(?:\\E|\Z)|\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """One match: where it is, and the text of each group by number from 1 (None: the group took no part)."""

    start: int
    end: int
    text: str
    groups: tuple[str | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A compiled pattern; ``names`` has one entry for each group, empty where it has no name."""

    compiled: Any
    names: tuple[str, ...]

    def first(self, text: str) -> Match | None:
        return next(self.all(text), None)

    def is_whole(self, text: str) -> bool:
        """Returns True if the pattern matches all of the text."""
        return self.compiled.fullmatch(text) is not None

    def all(self, text: str) -> Iterator[Match]:
        """The matches as Go's regexp finds them: an empty one right after another does not count."""
        end = -1
        for match in self.compiled.finditer(text):
            if match.end() > match.start() or match.start() != end:
                yield Match(start=match.start(), end=match.end(), text=match.group(), groups=match.groups())
            end = match.end()

    def replace(self, text: str, template: str) -> str:
        """The text with each match replaced by the template."""
        out: list[str] = []
        at, length, parts = 0, len(text), _template(template)
        for match in self.all(text):
            out.append(text[at : match.start])
            for is_name, part in parts:
                out.append(self._group(part, match) if is_name else part)
                length += len(out[-1])
                within_limit(length)
            at = match.end
        return "".join(out) + text[at:]

    def _group(self, name: str, match: Match) -> str:
        if name == "0":
            return match.text
        if name.isascii() and name.isdigit() and not name.startswith("0"):
            number = int(name[:9])
            return (match.groups[number - 1] or "") if number <= len(match.groups) else ""
        return (match.groups[self.names.index(name)] or "") if name in self.names else ""


def compiled(pattern: str, argument: int) -> Pattern:
    """The pattern. Raises ``FunctionError`` for the argument at this position where RE2 (or Go) refuses
    it.
    """
    import re2  # loaded with the first pattern: few commands need it

    options = re2.Options()
    options.log_errors = False
    if any(escape.group(1) == "C" for escape in _ESCAPED.finditer(pattern)):
        raise FunctionError("invalid regular expression: invalid escape sequence: \\C", argument)
    try:
        made = re2.compile(pattern, options)
    except re2.error as problem:
        reason = problem.args[0] if problem.args else ""
        text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise FunctionError(f"invalid regular expression: {text}", argument) from None
    if made.groups > _MOST_GROUPS:
        why = f"invalid regular expression: it has more than {_MOST_GROUPS} groups"
        raise FunctionError(why, argument)
    numbered = {number: name for name, number in made.groupindex.items()}
    names = tuple(_text(numbered.get(number, "")) for number in range(1, made.groups + 1))
    if not all(name.isascii() for name in names):
        raise FunctionError(
            "invalid regular expression: the name of a group has letters, digits and _ only", argument
        )
    return Pattern(compiled=made, names=names)


def _text(name: str | bytes) -> str:
    return name.decode() if isinstance(name, bytes) else name


def _template(template: str) -> list[tuple[bool, str]]:
    """Go's ``$1``, ``$name``, ``${name}`` and ``$$``: the texts, and the names of groups (True), in order.
    What names no group is empty, and any other ``$`` is itself.
    """
    out: list[tuple[bool, str]] = []
    while "$" in template:
        before, _, template = template.partition("$")
        out.append((False, before))
        if template.startswith("$"):
            name, template = None, template[1:]
        else:
            name, template = _reference(template)
        out.append((False, "$") if name is None else (True, name))
    return [*out, (False, template)]


def _reference(template: str) -> tuple[str | None, str]:
    """The name that a template begins with after a ``$``, and the rest; None where it begins with none."""
    braced = template.startswith("{")
    start = end = 1 if braced else 0
    while end < len(template) and (template[end] == "_" or unicodedata.category(template[end]) in _NAME):
        end += 1
    if end == start or (braced and template[end : end + 1] != "}"):
        return None, template
    return template[start:end], template[end + 1 if braced else end :]


_NAME: Final = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nd"})
