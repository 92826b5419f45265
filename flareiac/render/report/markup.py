"""HTML of which no text can become markup: texts are escaped where they enter an element. Pure."""

import html
from typing import Final, TypeAlias
from urllib.parse import quote

from flareiac.render.report.escaping import line, seen

_EMPTY: Final = frozenset({"input", "link", "meta"})


class Html(str):
    """Text that is markup, made by ``element`` and ``joined`` alone."""

    __slots__ = ()


Child: TypeAlias = str | None
"""What an element holds: ``Html`` as it is, any other text escaped, None for nothing."""


def element(name: str, /, *children: Child, **attributes: str | bool | float | None) -> Html:
    """An element. Texts in it show what cannot be seen, and no secret. Those of attributes are escaped and no
    more: they are ``line``'s where they are not the page's own. Attributes that are None or False are left
    out, and one that is True has no value; in their names a ``_`` at the end is dropped and any other is a
    ``-``.
    """
    opened = begun(name, **attributes)
    return opened if name in _EMPTY else Html(f"{opened}{joined(*children)}</{name}>")


def begun(name: str, /, **attributes: str | bool | float | None) -> Html:
    """The beginning of an element; for one that is large, whose content is not copied into it."""
    opened = name
    for key, value in attributes.items():
        if value is not None and value is not False:
            written = key.rstrip("_").replace("_", "-")
            opened += f" {written}" if value is True else f' {written}="{_attribute(value)}"'
    return Html(f"<{opened}>")


def ended(name: str, /) -> Html:
    """The end of an element."""
    return Html(f"</{name}>")


def joined(*children: Child, between: str = "") -> Html:
    """Markup and texts one after the other. ``between`` is a text, too."""
    return Html(html.escape(between).join(_escaped(child) for child in children if child is not None))


def raw(name: str, content: str) -> Html:
    """An element of a program's own text, which the browser does not read as markup (a script or a style)."""
    assert "</" not in content, "the element would end there"
    return Html(f"<{name}>{content}</{name}>")


def anchor(address: str) -> str:
    """The ``id`` of the element that an address leads to."""
    return line(address)


def link_to(address: str) -> str:
    """The link to an address in the same page."""
    return f"#{quote(anchor(address), safe='')}"


def _attribute(value: str | float) -> str:
    return html.escape(value) if isinstance(value, str) else f"{value:g}"


def _escaped(child: str) -> str:
    return child if isinstance(child, Html) else html.escape(seen(child), quote=False)
