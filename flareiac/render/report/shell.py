"""The frame of a page: one file that fetches nothing and runs no script but its own. Pure but for the files
beside it.

The page is whole without its script and without its style, which some servers of artifacts forbid: the
script adds filters, keys and jumps.
"""

import base64
import hashlib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Final

from flareiac.render.report.markup import Html, begun, element, ended, raw

_BESIDE: Final = "flareiac.render.report"


def page(title: str, content: Iterable[Html]) -> str:
    """A whole document, with each piece of its content on a line of its own."""
    style, script = _own("page.css"), _own("page.js")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        # Without one, a browser asks the server for its picture.
        element("link", rel="icon", href="data:,"),
        element("title", title),
        raw("style", style),
    )
    before = ("<!doctype html>", begun("html", lang="en"), head, begun("body"))
    after = (raw("script", script), ended("body"), ended("html"), "")
    text = "\n".join([*before, *content, *after])
    # Whatever encoding a shell gives to what is redirected into a file, these characters stay the same.
    return text if text.isascii() else text.encode("ascii", "xmlcharrefreplace").decode()


@cache
def _own(name: str) -> str:
    return files(_BESIDE).joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
