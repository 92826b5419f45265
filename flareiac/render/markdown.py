"""Markdown for a terminal: as plain text, or with bold headings and code where there is colour. Pure."""

import io
import re
import textwrap
from typing import ClassVar, Final

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown
from rich.text import Text
from rich.theme import Theme

_FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_WIDEST: Final = 120
_LINK: Final = re.compile(r"\[([^\]]+)\]\((\w+)\.md\)")
_PLAIN: Final = (
    "em",
    "link",
    "link_url",
    "table.border",
    "table.header",
    "item.bullet",
    "item.number",
    "block_quote",
    "hr",
)
_STRONG: Final = ("h1", "h2", "h3", "strong")
_THEME: Final = Theme(
    {
        "markdown.code": "not bold cyan",
        **{f"markdown.{name}": "bold" for name in _STRONG},
        **{f"markdown.{name}": "none" for name in _PLAIN},
    }
)
"""Only the colours that ``Style`` has: the terminal takes no others."""


class _Heading(Heading):
    """At the left, without a frame; the title of a page is underlined."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        if self.tag == "h1":
            yield self.text
            yield Text("=" * self.text.cell_len)
        else:
            yield self.text


class _CodeBlock(CodeBlock):
    """Indented, as it was written: to be copied."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = textwrap.indent(str(self.text).rstrip(), "    ")
        yield Text(code, style="cyan", no_wrap=True, overflow="ignore")


class _Page(Markdown):
    elements: ClassVar = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _CodeBlock,
        "code_block": _CodeBlock,
    }


def terminal_text(markdown: str, *, width: int, colour: bool) -> str:
    """The text for a terminal of this width."""
    parts = _FENCED.split(_LINK.sub(r"\1 (`flareiac explain \2`)", markdown))
    if not colour:  # without colour only the backticks tell code from prose
        parts = [
            part if at % 2 else re.sub(r"`([^`]+)`", r"`` `\1` ``", part) for at, part in enumerate(parts)
        ]
    target = io.StringIO()
    console = Console(
        file=target,
        width=min(width, _WIDEST),
        force_terminal=colour,
        color_system="standard" if colour else None,
        theme=_THEME,
        highlight=False,
        emoji=False,
    )
    console.print(_Page("".join(parts), hyperlinks=False), crop=False)
    return "\n".join(line.rstrip() for line in target.getvalue().split("\n")).strip("\n") + "\n"
