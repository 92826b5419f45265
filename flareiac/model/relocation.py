"""Places in saved documents. Whatever lies below the root module is stored relative to it, so that another
checkout can use it. Pure.

A stored place starts with ``$root`` instead of the root module's folder. Relocation is a matter of documents
alone: what is in memory names absolute places, which is what systems need.
"""

import posixpath
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import PurePath
from typing import Final

from flareiac.kernel.data import Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.paths import Path

ROOT: Final = "$root"
"""The text that stands for the root module's folder in a stored place."""
_MARKED = re.compile(r"\$+root(?![A-Za-z0-9_])")
_WORD = re.compile(r"[^\s'\"`]+")
_SCHEME = re.compile(r"[a-z][a-z0-9+.]*:/{0,3}")


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundPlace:
    """An attribute that names a place which is the same one only for the folder that the plan was made in."""

    address: str
    attribute: Path
    climbs: bool = False
    """True if it is relative and leaves the root module (``../lake``); else it is absolute and lies below the
    root module.
    """


def stored(value: Data, root: str) -> Data:
    """JSON data with the root module's folder replaced by a mark in every text and key."""
    pattern = _below(root)

    def text(written: str) -> str:
        if "$" in written:
            written = _MARKED.sub(lambda match: f"${match[0]}", written)
        return pattern.sub(ROOT, written) if pattern is not None and root in written else written

    return _mapped(value, text)


def restored(value: Data, root: str) -> Data:
    """The inverse of ``stored``, for the root module in this folder."""

    def text(written: str) -> str:
        return (
            _MARKED.sub(lambda match: root if match[0] == ROOT else match[0][1:], written)
            if ROOT in written
            else written
        )

    return _mapped(value, text)


def bound_places(address: str, attributes: Data, root: str) -> Iterator[BoundPlace]:
    """The attributes, as written, that mean another place once the root module is elsewhere."""
    for path, text in _texts(attributes, ()):
        if _names(text, root):
            yield BoundPlace(address=address, attribute=path)
        elif ".." in text and _climbs(text):
            yield BoundPlace(address=address, attribute=path, climbs=True)


def holds(place: BoundPlace, made_in: str, here: str) -> bool:
    """Returns True if a bound place is the same one for the root module in ``here`` as for the one in
    ``made_in``.
    """
    return made_in == here or (place.climbs and PurePath(made_in).parent == PurePath(here).parent)


def _climbs(text: str) -> bool:
    """Returns True if a relative path in a text leaves the folder that it starts from."""
    paths = (_SCHEME.sub("", word, count=1) if _SCHEME.match(word) else word for word in _WORD.findall(text))
    return any(
        posixpath.normpath(path).startswith("../") or posixpath.normpath(path) == ".."
        for path in paths
        if "../" in f"{path}/"
    )


def _names(text: str, root: str) -> bool:
    if root == "/":
        return text.startswith("/") or ":/" in text
    pattern = _below(root)
    return root in text and pattern is not None and pattern.search(text) is not None


@lru_cache(maxsize=4)
def _below(root: str) -> re.Pattern[str] | None:
    """The root's folder where it begins a path: not inside a longer path or name, nor behind a dollar sign,
    which marks.
    """
    return None if root in ("", "/") else re.compile(rf"(?<![\w.$-]){re.escape(root)}(?![^/\s'\"#?,;:)\]}}])")


def _mapped(value: Data, text: Callable[[str], str]) -> Data:
    match value:
        case str():
            return text(value)
        case dict():
            return {text(key): _mapped(member, text) for key, member in value.items()}
        case list():
            return [_mapped(element, text) for element in value]
        case _:
            return value


def _texts(value: Data, path: Path) -> Iterator[tuple[Path, str]]:
    match value:
        case str():
            yield path, value
        case dict():
            for key, member in value.items():
                yield from _texts(member, (*path, key))
        case list() | tuple():
            for at, element in enumerate(value):
                yield from _texts(element, (*path, at))
        case _:
            pass
