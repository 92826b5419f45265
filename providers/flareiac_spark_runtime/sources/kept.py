"""Clients that looks at running queries hold open, so that the next look does not open them again."""

from collections.abc import Callable, Hashable
from typing import Any


class Kept:
    """Things with a ``close``, by what they belong to. Of one thread."""

    def __init__(self) -> None:
        self._open: dict[Hashable, Any] = {}
        self._asked: set[Hashable] = set()

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The one of a key, which is made where there is none."""
        self._asked.add(key)
        if key not in self._open:
            self._open[key] = make()
        return self._open[key]

    def drop(self, key: Hashable) -> None:
        """Closes the one of a key, so that the next is a new one."""
        opened = self._open.pop(key, None)
        if opened is not None:
            opened.close()

    def sweep(self) -> None:
        """Closes those that were not asked for since the last time."""
        for key in set(self._open) - self._asked:
            self.drop(key)
        self._asked.clear()
