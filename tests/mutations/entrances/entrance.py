"""An entrance: a place where bytes from outside come in, with a maker of inputs and what takes them."""

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flareiac.kernel.diagnostics import Diagnostic, Failure
from flareiac.kernel.sources import Source
from flareiac.render.control_characters import visible
from flareiac.render.diagnostics import as_json, text
from tests.mutations.verdict import hidden_bug, unprintable


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """An open entrance. ``make`` returns the same input for the same chance. ``enter`` raises for an input
    that ended in anything but a result or a diagnostic.
    """

    make: Callable[[random.Random], Any]
    enter: Callable[[Any], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrance:
    """``share``: the inputs of a run of a million. ``open`` takes an empty folder. ``memory``: a folder that
    is to be empty too, for this process alone.
    """

    name: str
    share: int
    open: Callable[[Path], Gate]
    memory: Path | None = None


class Bug(AssertionError):
    """An end that is good for the program and not for its user."""


def check(diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source] | None = None) -> None:
    """Raises ``Bug`` where diagnostics, as the command line prints them, name a bug of ours or cannot be
    printed.
    """
    found, of = list(diagnostics), sources or {}
    if not found:
        return
    shown = visible(text(found, of, width=100, colour=False))
    shown = shown.encode(errors="backslashreplace").decode()  # as the streams of the command line do
    as_json(found, of)
    # The words of a user may be those of a code
    if any(hidden_bug(item.code) for item in found) or "failed unexpectedly" in shown:
        raise Bug(f"a bug is named: {shown[:1000]}")
    if character := unprintable(shown):
        raise Bug(f"{character} in {shown[:1000]!r}")


def answer(call: Callable[[], Any]) -> Any:
    """The result of a call; None where it is refused with a diagnostic. Raises ``Bug`` as ``check`` does."""
    try:
        return call()
    except Failure as failure:
        check(failure.diagnostics, failure.sources)
        return None
