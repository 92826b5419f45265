"""The use case of ``explain``: what a name of the documentation stands for. Touches the installed packages
and their pages.
"""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from flareiac.app.codes import code_page, known_codes
from flareiac.app.discovery import installed
from flareiac.app.page_search import about, pages
from flareiac.config.blocks import instead_of
from flareiac.config.entries import Entry, Page
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.lang.functions import functions
from flareiac.sdk.documents import Documented
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.schema import Attribute, Block, NestedBlock

_HEADING: Final = re.compile(r"^## `([\w.]+)`\s*$", re.MULTILINE)
"""A section of a page about one word, which ``explain`` finds by that word."""
_CODES: Final = "Codes of errors and warnings"
_ALIKE: Final = 0.75
"""The likeness to the name that was asked for from which another name is offered instead."""
_CLOSE: Final = 0.8
"""The same, where pages have the word, so that it is less likely a slip."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """The entry of a name as it is listed, and other names that may be meant."""

    name: str
    entry: Entry
    also: tuple[str, ...] = ()


def everything() -> Mapping[str, Entry]:
    """Each name that can be explained. The attributes of blocks are named with a dot, as in
    ``job.input.table``.
    """
    entries: dict[str, Entry] = {}
    for source in (_topics, _functions, _pages, _codes, _blocks):
        entries.update(source())
    return entries


def explain(name: str) -> Explained:
    """The entry of a name. Raises ``Failure`` when there is none and no page has the word."""
    known = everything()
    wanted = _without_labels(name)
    inside = _named_inside(known, wanted)
    for candidate in (wanted, wanted.lower(), wanted.upper(), f"data.{wanted}"):
        if candidate in known:
            entry = known[candidate]
            also = (
                ()
                if isinstance(entry, ResourceType)
                else tuple(other for other in inside if other != candidate)
            )
            return Explained(name=candidate, entry=entry, also=also)
    family = next(
        (
            entry_name
            for entry_name in known
            if entry_name.endswith("*") and wanted.startswith(entry_name.removesuffix("*"))
        ),
        None,
    )
    if family is not None:
        return Explained(name=family, entry=known[family])
    if len(inside) == 1:
        return Explained(name=inside[0], entry=known[inside[0]])
    if inside:
        return Explained(name=wanted, entry=_several(wanted, inside))
    if (retired := code_page(wanted)) is not None:
        return Explained(name=wanted.upper(), entry=Page(title=wanted.upper(), text=retired, kind="code"))
    if (instead := instead_of(wanted)) is not None:
        return Explained(
            name=wanted, entry=Page(title=wanted, text=f"There is no block `{wanted}`. {instead}\n")
        )
    near = _nearest(wanted, known)
    if (page := about(wanted)) is not None:
        return Explained(
            name=wanted, entry=page, also=near if near and _alike(wanted, near[0]) >= _CLOSE else ()
        )
    meant = f' Did you mean "{near[0]}"?' if near else ""
    why = f'Nothing is called "{name}". flareiac explain lists what can be explained.{meant}'
    raise Failure(error(codes.NO_EXPLANATION, why))


def _alike(one: str, other: str) -> float:
    return difflib.SequenceMatcher(a=one, b=other).ratio()


def _named_inside(known: Mapping[str, Entry], wanted: str) -> tuple[str, ...]:
    """The attributes and blocks of this name, wherever they stand: ``renamed`` is ``table.renamed``."""
    end = f".{wanted.lower()}"
    return tuple(
        name
        for name, entry in known.items()
        if name.lower().endswith(end) and isinstance(entry, Attribute | NestedBlock)
    )


def _several(wanted: str, names: Sequence[str]) -> Page:
    listed = "".join(f"- `{name}`\n" for name in names)
    text = (
        f"`{wanted}` stands in several blocks:\n\n{listed}\nFor one of them: `flareiac explain {names[0]}`.\n"
    )
    return Page(title=wanted, text=text)


def _nearest(wanted: str, known: Mapping[str, Entry]) -> tuple[str, ...]:
    """The name that is spelled most like this one, at most one; what stands inside blocks goes by its last
    word, too.
    """
    names = {
        name.rpartition(".")[2]: None
        for name, entry in known.items()
        if isinstance(entry, Attribute | NestedBlock)
    }
    return tuple(difflib.get_close_matches(wanted, [*names, *known], n=1, cutoff=_ALIKE))


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
    for name, text in pages():
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
