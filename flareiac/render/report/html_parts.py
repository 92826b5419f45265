"""The common parts of the pages of reports, the way to them, and the foot. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.render.report.content import VerdictPart
from flareiac.render.report.markup import Html, begun, element, ended, joined

KEYS: Final = (
    ("/", "filter by text"),
    ("Esc", "clear it"),
    ("j", "next change"),
    ("k", "change before"),
    ("Enter", "open or close"),
    ("e", "expand all"),
    ("c", "collapse all"),
)
"""The first two are those of filters, the rest those of changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A section of a page. ``key`` is its ``id`` without its beginning, and the class of its look.
    ``filtered``: its entries answer to the filters.
    """

    key: str
    title: str
    count: int
    content: Sequence[Html]
    filtered: bool = False


def contents(parts: Iterable[Part]) -> Html:
    """The list of the parts, as links."""
    links = (
        element("li", element("a", part.title, href=f"#part-{part.key}"), f" {part.count:,}")
        for part in parts
    )
    return element("nav", element("ul", *links), aria_label="Parts of the report")


def section(part: Part) -> Iterator[Html]:
    """A part with its head, in pieces."""
    key = f"part-{part.key}"
    head = element("h2", f"{part.title} ", element("small", f"{part.count:,}"), id=f"{key}-title")
    looks = f"{part.key} filtered" if part.filtered else part.key
    yield begun("section", id=key, class_=looks, aria_labelledby=f"{key}-title")
    yield head
    yield from part.content
    yield ended("section")


def weighed(part: VerdictPart) -> Html:
    """A part of a sentence, which stands out where a reader must not miss it."""
    return element("b", part.text, class_="grave") if part.grave else element("span", part.text)


def scrolled(content: Html, label: str, look: str) -> Html:
    """A frame around something that may be wider than the page; it scrolls, also by keys."""
    return element("div", content, class_=look, tabindex="0", role="region", aria_label=label)


def footer(keys: Sequence[tuple[str, str]], version: str, serial: int, state: str) -> Html:
    """The keys of the page, and what it was made from."""
    said = (joined(element("kbd", key), f" {what}") for key, what in keys)
    origin = f"Made by FlareIaC {version} from serial {serial} of state "
    return element(
        "footer",
        element("p", "Keys: ", joined(*said, between=", ")),
        element("p", origin, element("code", state)),
        class_="quiet",
    )
