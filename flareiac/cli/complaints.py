"""Diagnostics for a person, on standard error, with the page to read about the first error."""

import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress

from flareiac.app.codes import code_page
from flareiac.cli.terminal import Terminal
from flareiac.kernel.diagnostics import Diagnostic, Failure, Severity
from flareiac.kernel.sources import Source
from flareiac.render.diagnostics import text


def complain(
    terminal: Terminal, diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source] | None = None
) -> None:
    """Says diagnostics; ``sources`` are the files that they point into."""
    found = list(diagnostics)
    if found:
        terminal.say(
            text(found, sources or {}, width=terminal.width(), colour=terminal.colour(sys.stderr.isatty()))
        )
        _name_page(terminal, found)


def _name_page(terminal: Terminal, found: Iterable[Diagnostic]) -> None:
    """Names the page of the first error that has one, once for a command."""
    if terminal.page_named:
        return
    with suppress(Failure):  # two installed providers exclude each other: this error has no page
        errors = (item.code for item in found if item.severity is Severity.ERROR)
        code = next((code for code in errors if code_page(code)), None)
        if code is not None:
            terminal.page_named = True
            terminal.say(f"Run flareiac explain {code} to read more.")
