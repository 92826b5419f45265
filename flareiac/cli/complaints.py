"""Diagnostics for a person, on standard error, with the page to read about the gravest one."""

import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress

from flareiac.app.codes import code_page
from flareiac.cli.terminal import Terminal
from flareiac.kernel.diagnostics import Diagnostic, Failure, Severity
from flareiac.kernel.sources import Source
from flareiac.render.diagnostics import page_hint, text


def complain(
    terminal: Terminal, diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source] | None = None
) -> None:
    """Says diagnostics; ``sources`` are the files that they point into."""
    complaints = list(diagnostics)
    if complaints:
        terminal.say(
            text(
                complaints, sources or {}, width=terminal.width(), colour=terminal.colour(sys.stderr.isatty())
            )
        )
        _name_page(terminal, complaints)


def _name_page(terminal: Terminal, diagnostics: Iterable[Diagnostic]) -> None:
    """Names the page of the first error that has one, or else of the first warning, once for a command. An
    error after a warning is named, too.
    """
    with suppress(Failure):  # two installed providers exclude each other: this error has no page
        gravest_first = sorted(diagnostics, key=lambda diagnostic: diagnostic.severity is not Severity.ERROR)
        first = next((diagnostic for diagnostic in gravest_first if code_page(diagnostic.code)), None)
        if first is not None and terminal.page_named not in (first.severity, Severity.ERROR):
            terminal.page_named = first.severity
            terminal.say(page_hint(first.code))
