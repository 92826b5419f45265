"""A block body from the syntax cache, decoded on first access: most blocks are never looked into."""

from collections.abc import Callable
from typing import Any, TypeAlias

from flareiac.lang.origin import Origin
from flareiac.lang.syntax import FIELDS, AttributeNode, BlockNode, Body

Mention: TypeAlias = tuple[int, int, str, tuple[str | int | None, ...]]
"""A traversal: its offsets, the root symbol, and the steps from it."""


class LaterBody(Body):
    """``mentions``: the traversals inside, in source order. Raises what ``read`` raises."""

    __slots__ = ("_found", "_read", "mentions")
    mentions: tuple[Mention, ...]
    _read: Callable[[], Body]
    _found: Body | None

    def __init__(
        self, origin: Origin, place: tuple[int, int], mentions: tuple[Mention, ...], read: Callable[[], Body]
    ) -> None:
        for name, value in (
            *(("origin", origin), ("start", place[0]), ("end", place[1])),
            *(("mentions", mentions), ("_read", read), ("_found", None)),
        ):
            object.__setattr__(self, name, value)

    @property
    def attributes(self) -> tuple[AttributeNode, ...]:
        return self._body.attributes

    @property
    def blocks(self) -> tuple[BlockNode, ...]:
        return self._body.blocks

    @property
    def _body(self) -> Body:
        body = self._found
        if body is None:
            body = self._read()
            object.__setattr__(self, "_found", body)
        return body

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Body):
            return NotImplemented
        return (self.attributes, self.blocks) == (other.attributes, other.blocks)

    def __hash__(self) -> int:
        return hash((self.attributes, self.blocks))


FIELDS[LaterBody] = FIELDS[Body]


def as_mentions(data: Any) -> tuple[Mention, ...]:
    """Mentions from their JSON. Raises ``ValueError`` or ``TypeError`` for what is none."""
    return tuple((start, end, root, tuple(steps)) for start, end, root, steps in data)
