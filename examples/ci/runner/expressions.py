"""The expressions of GitHub's workflows, as far as the example uses them. Pure."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from examples.ci.runner.machine import Refused

_PLACE: Final = re.compile(r"\$\{\{(.*?)\}\}")
_CALL: Final = re.compile(r"(!?)(\w+)\((?:'([^']*)')?\)")
Call = Callable[[str], str]


def filled(text: str, names: Mapping[str, str], calls: Mapping[str, Call]) -> str:
    """A text with its ``${{ }}`` filled in."""
    return _PLACE.sub(lambda match: _computed(match.group(1), names, calls), text)


def holds(text: str, names: Mapping[str, str], calls: Mapping[str, Call]) -> bool:
    """The value of an ``if``."""
    inner = _PLACE.fullmatch(text.strip())
    return all(_term(term, names, calls) for term in (inner.group(1) if inner else text).split("&&"))


def _computed(text: str, names: Mapping[str, str], calls: Mapping[str, Call]) -> str:
    if "==" in text or "!=" in text:
        return "true" if holds(text, names, calls) else "false"
    return value_of(text, names, calls)


def _term(text: str, names: Mapping[str, str], calls: Mapping[str, Call]) -> bool:
    for sign, equal in (("==", True), ("!=", False)):
        left, found, right = text.partition(sign)
        if found:
            return (value_of(left, names, calls) == value_of(right, names, calls)) is equal
    return value_of(text, names, calls) not in ("", "false")


def value_of(text: str, names: Mapping[str, str], calls: Mapping[str, Call]) -> str:
    """A literal, a name or a call; an unknown one is refused, where GitHub would take it for empty."""
    text = text.strip()
    if text.startswith("'") and text.endswith("'"):
        return text[1:-1]
    called = _CALL.fullmatch(text)
    if called and called.group(2) in calls:
        value = calls[called.group(2)](called.group(3) or "")
        return value if not called.group(1) else ("true" if value in ("", "false") else "false")
    if text not in names:
        raise Refused(f"the expression {text} is not known")
    return names[text]
