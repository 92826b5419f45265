"""Places of files as texts that can be compared: absolute paths and URIs, each without a slash at its end.
Pure.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Final, Generic, TypeVar

Owner = TypeVar("Owner")

_THIS_HOST: Final = ("", "localhost")


def path_of_uri(uri: str) -> str | None:
    """The absolute path that a ``file:`` URI names, None for any other text, and for a file on a host: in
    ``file://./a`` the host is a dot, and file systems of Hadoop and pyarrow disagree about such a path.
    """
    if uri[:6].lower() != "file:/":
        return None
    path = uri[5:]
    if path.startswith("//"):
        host, slash, rest = path[2:].partition("/")
        if host.lower() not in _THIS_HOST:
            return None
        path = slash + rest
    return "/" + path.lstrip("/")


def is_within(place: str, other: str) -> bool:
    """Returns True if ``place`` is the other one, or inside it."""
    return _folder(place).startswith(_folder(other))


def outermost(places: Iterable[str]) -> tuple[str, ...]:
    """These places without those that are inside others of them, in order."""
    outer: list[str] = []
    for place in sorted(set(places), key=_folder):
        if not outer or not is_within(place, outer[-1]):
            outer.append(place)
    return tuple(outer)


class LocationIndex(Generic[Owner]):
    """An index of the owners of files by location; a look-up does not visit all of them."""

    def __init__(self, places: Iterable[tuple[str, Owner]]) -> None:
        self._places = sorted(
            ((_folder(place), place, owner) for place, owner in places), key=lambda entry: entry[0]
        )
        self._folders = [folder for folder, _place, _owner in self._places]

    def sharing(self, place: str) -> Iterator[tuple[str, Owner]]:
        """Every place that is this one, around it or inside it, with its owner."""
        folder = _folder(place)
        end = folder.find("/")
        while end != -1 and end < len(folder) - 1:
            yield from self._from(folder[: end + 1], inside=False)
            end = folder.find("/", end + 1)
        yield from self._from(folder, inside=True)

    def _from(self, folder: str, *, inside: bool) -> Iterator[tuple[str, Owner]]:
        for at in range(bisect_left(self._folders, folder), len(self._folders)):
            there, place, owner = self._places[at]
            if not (there.startswith(folder) if inside else there == folder):
                return
            yield place, owner


def _folder(place: str) -> str:
    return place.rstrip("/") + "/"
