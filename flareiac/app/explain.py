"""The use case of ``explain``: what a name of the documentation stands for. Touches the installed packages
and their pages.
"""

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Final

from flareiac.app.codes import code_page, known_codes
from flareiac.app.discovery import installed
from flareiac.config.entries import Entry, Page
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure, did_you_mean, error
from flareiac.lang.functions import functions
from flareiac.sdk.documents import Documented
from flareiac.sdk.schema import Block

_HEADING: Final = re.compile(r"^## `(\w+)`\s*$", re.MULTILINE)
"""A section of a page about one word, which ``explain`` finds by that word."""
_CODES: Final = "Codes of errors and warnings"


def everything() -> Mapping[str, Entry]:
    """Each name that can be explained. The attributes of blocks are named with a dot, as in
    ``job.input.table``.
    """
    found: dict[str, Entry] = {}
    for source in (_topics, _functions, _pages, _codes, _blocks):
        found.update(source())
    return found


def explain(name: str) -> tuple[str, Entry]:
    """The entry of a name, and the name as it is listed. Raises ``Failure`` when there is none."""
    known = everything()
    wanted = _without_labels(name)
    for candidate in (wanted, wanted.lower(), wanted.upper(), f"data.{wanted}"):
        if candidate in known:
            return candidate, known[candidate]
    family = next(
        (item for item in known if item.endswith("*") and wanted.startswith(item.removesuffix("*"))), None
    )
    if family is not None:
        return family, known[family]
    if (retired := code_page(wanted)) is not None:
        return wanted.upper(), Page(title=wanted.upper(), text=retired, kind="code")
    why = (
        f'There is none of "{name}". flareiac explain lists what can be '
        f"explained.{did_you_mean(wanted, known)}"
    )
    raise Failure(error(codes.NO_EXPLANATION, why))


def _without_labels(name: str) -> str:
    """``job.flights`` stays as it is; brackets, quotes and parentheses that were copied along go."""
    return re.sub(r"\(.*\)$|\[[^\]]*\]|[\"']", "", name.strip())


def _topics() -> Iterator[tuple[str, Entry]]:
    for provider in installed().providers.values():
        if isinstance(provider, Documented):
            for topic in provider.topics():
                yield topic.name, topic


def _functions() -> Iterator[tuple[str, Entry]]:
    yield from functions(Path(), installed().registry.functions).items()


def _pages() -> Iterator[tuple[str, Entry]]:
    for file in sorted(files("flareiac").joinpath("docs").iterdir(), key=lambda item: item.name):
        name, dot, suffix = file.name.partition(".")
        if f"{dot}{suffix}" != ".md":
            continue
        text = file.read_text(encoding="utf-8")
        yield from _sections(text)
        yield name, Page(title=text.partition("\n")[0].lstrip("# "), text=text)


def _codes() -> Iterator[tuple[str, Entry]]:
    known = known_codes()
    listed = "".join(f"- `{name}`: {code.title}\n" for name, code in known.items())
    yield (
        "codes",
        Page(title=_CODES, text=f"# {_CODES}\n\nFor one of them: `flareiac explain CODE`.\n\n{listed}"),
    )
    for name, code in known.items():
        yield name, Page(title=code.title, text=code_page(name) or "", kind="code")


def _sections(text: str) -> Iterator[tuple[str, Entry]]:
    for match in _HEADING.finditer(text):
        section = re.split(r"^## ", text[match.end() :], maxsplit=1, flags=re.MULTILINE)[0]
        yield match[1], Page(title=match[1], text=f"## `{match[1]}`\n{section.rstrip()}\n", kind="section")


def _blocks() -> Iterator[tuple[str, Entry]]:
    for name, kind in installed().registry.types.items():
        yield name, kind
        yield from _inside(name, kind.schema)


def _inside(path: str, block: Block) -> Iterator[tuple[str, Entry]]:
    for name, attribute in block.attributes.items():
        yield f"{path}.{name}", attribute
    for name, nested in block.blocks.items():
        yield f"{path}.{name}", nested
        yield from _inside(f"{path}.{name}", nested.block)
