"""A headless Chromium of the machine, and pages in it that record what must not happen."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, Dialog, Page, Request, sync_playwright

PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome")


def program() -> str | None:
    """The path of the browser."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


@contextmanager
def browser() -> Iterator[Browser]:
    """The browser, for the length of the block."""
    found = program()
    assert found is not None, f"none of {', '.join(PROGRAMS)} is on PATH: tests/run.sh installs one"
    with sync_playwright() as playwright:
        # As root, as in containers, Chromium has no sandbox.
        started = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        try:
            yield started
        finally:
            started.close()


@dataclass(slots=True, kw_only=True)
class Opened:
    """A page that is open. ``said``: its messages and errors. ``asked``: what it requests beside itself."""

    page: Page
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


@contextmanager
def opened(browser: Browser, file: Path, *, fragment: str = "", **context: Any) -> Iterator[Opened]:
    """The page of a file. Fails where it says something or requests something. ``context``: settings of the
    browser, such as ``color_scheme``.
    """
    own = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **context})
    try:
        shown = Opened(page=own.new_page())

        def refuse(dialog: Dialog) -> None:
            shown.said.append(dialog.message)
            dialog.dismiss()

        def note(request: Request) -> None:
            if request.url.partition("#")[0] not in (file.as_uri(), "data:,"):
                shown.asked.append(request.url)

        shown.page.on("console", lambda message: shown.said.append(message.text))
        shown.page.on("pageerror", lambda problem: shown.said.append(str(problem)))
        shown.page.on("dialog", refuse)
        shown.page.on("request", note)
        shown.page.goto(f"{file.as_uri()}{fragment}")
        yield shown
        assert (shown.said, shown.asked) == ([], [])
    finally:
        own.close()
