"""Keeps the syntax of top-level items from run to run: one file per source, items found by the digest of
their text. To read a kept item costs a third of parsing it.

Entries are JSON arrays, never pickles; the file begins with the digest of the rest, and what does not fit
counts as not there. So does what another release wrote, or what was read by another grammar: the same text
may have another syntax then. Touches the user's cache directory only.
"""

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, Final

from flareiac import __version__
from flareiac.kernel import user_cache
from flareiac.lang.grammar import grammar_digest
from flareiac.lang.later_body import LaterBody, as_mentions
from flareiac.lang.origin import Origin
from flareiac.lang.references import references
from flareiac.lang.split import top_level_items
from flareiac.lang.syntax import FIELDS, NODE_TYPES, BlockNode, Body, Node

FORMAT: Final = 7
"""The version of what is kept. With another one it is made again."""
_TUPLE, _NUMBER = -1, -2
_AS_THEY_ARE: Final[frozenset[type]] = frozenset({str, int, bool, type(None)})
_TAGS: Final = {kind: index for index, kind in enumerate(NODE_TYPES)}


def encode(node: Node) -> list[Any]:
    """A node as ``[tag, start, end, field, ...]``; tuples and numbers are arrays with tags of their own."""
    kind = node.__class__
    data: list[Any] = [_TAGS[kind], node.start, node.end]
    for name in FIELDS[kind]:
        value = getattr(node, name)
        data.append(value if value.__class__ in _AS_THEY_ARE else _encode_field(value))
    return data


def _encode_field(value: object) -> Any:
    if isinstance(value, tuple):
        return [
            _TUPLE,
            *[element if element.__class__ in _AS_THEY_ARE else _encode_field(element) for element in value],
        ]
    if isinstance(value, Node):
        return encode(value)
    if isinstance(value, Decimal):
        return [_NUMBER, str(value)]
    return value


def _setters(kind: type[Node]) -> tuple[Callable[[Node, Any], None], ...]:
    """Writers of a node's slots: building frozen nodes through them costs a third of calling the class."""
    return tuple(getattr(kind, name).__set__ for name in ("start", "end", *FIELDS[kind]))


_SLOTS: Final = tuple((kind, _setters(kind)) for kind in NODE_TYPES)
_SET_ORIGIN: Final[Callable[[Node, Origin], None]] = vars(Node)["origin"].__set__
_NEW: Final = object.__new__
_MISFITS: Final = (ValueError, TypeError, LookupError, ArithmeticError)


def decode(data: list[Any], origin: Origin) -> Any:
    """The inverse of ``encode``. Raises one of ``ValueError, TypeError, LookupError, ArithmeticError`` for
    what no node encodes to.
    """
    tag = data[0]
    if tag >= 0:
        kind, setters = _SLOTS[tag]
        node = _NEW(kind)
        _SET_ORIGIN(node, origin)
        for put, value in zip(setters, data[1:], strict=True):
            put(node, decode(value, origin) if value.__class__ is list else value)
        return node
    if tag == _TUPLE:
        return tuple([decode(value, origin) if value.__class__ is list else value for value in data[1:]])
    return Decimal(data[1])


def _encode_outline(body: Body) -> list[Any]:
    """As ``encode``, but for the bodies of blocks: where each stands, and its JSON as a text, which takes
    little to hold.
    """
    data = encode(body)
    for block in data[4][1:]:
        inside = block[5]
        block[5] = [inside[1], inside[2], json.dumps(inside, separators=(",", ":"))]
    return data


def _outline(data: list[Any], mentions: list[Any], origin: Origin, again: Callable[[], Body]) -> Body:
    """The body of an item with its blocks' headers. Raises as ``decode`` does."""
    tag, start, end, attributes, (blocks_tag, *blocks) = data
    if (tag, blocks_tag) != (_TAGS[Body], _TUPLE):
        raise ValueError("an item is a body")

    def read(number: int, text: str) -> Body:
        try:
            body = decode(json.loads(text), origin)
        except (*_MISFITS, RecursionError):
            body = None
        return body if isinstance(body, Body) else again().blocks[number].body

    block_nodes = []
    for number, ((block_tag, first, last, type_name, labels, body), inside) in enumerate(
        zip(blocks, mentions, strict=True)
    ):
        if block_tag != _TAGS[BlockNode]:
            raise ValueError("what is in a body is a block")
        later = LaterBody(origin, tuple(body[:2]), as_mentions(inside), partial(read, number, body[2]))
        label_nodes = decode(labels, origin)
        block_nodes.append(
            BlockNode(origin, first, last, type=type_name, label_nodes=label_nodes, body=later)
        )
    return Body(origin, start, end, attributes=decode(attributes, origin), blocks=tuple(block_nodes))


class SyntaxCache:
    """The kept items of one source; ``close`` writes them when they changed. One that is not ``used`` finds
    and keeps nothing.
    """

    def __init__(self, path: str, text: str, *, used: bool) -> None:
        name = hashlib.sha256(str(Path(path).absolute()).encode(errors="replace")).hexdigest()[:24]
        self._name, self._used = f"syntax/{FORMAT}-{name}.json", used
        self._reader = f"{__version__} {grammar_digest()}" if used else ""
        cached = user_cache.read_json(self._name) if used else None
        old = cached if isinstance(cached, dict) and cached.get("reader") == self._reader else {}
        self._text, self._old = _digest(text), old.get("entries", {})
        self._entries: dict[str, Any] = {}
        self._changed = old.get("text") != self._text
        self.ranges: list[tuple[int, int, str]] = (
            [(start, end, _digest(text[start:end])) for start, end in top_level_items(text)]
            if self._changed
            else old["ranges"]
        )
        """Where the items of the text are, with the digest of each."""

    def find(self, key: str, origin: Origin, again: Callable[[], Body]) -> Body | None:
        """The kept body of an item whose text has this digest. Bodies of blocks in it are read when they are
        looked into; ``again`` reads the item's text, for one that cannot be understood then.
        """
        data = self._old.get(key)
        if data is None:
            return None
        try:
            body = _outline(data["syntax"], data["mentions"], origin, again)
        except (*_MISFITS, RecursionError):
            return None
        self._entries[key] = data
        return body

    def add(self, key: str, body: Body) -> None:
        if self._used:
            with suppress(RecursionError):
                mentions = [
                    [
                        [reference.start, reference.end, reference.root, reference.steps]
                        for reference in references(block)
                    ]
                    for block in body.blocks
                ]
                self._entries[key] = {"syntax": _encode_outline(body), "mentions": mentions}
                self._changed = True

    def close(self) -> None:
        """Writes what is worth keeping."""
        if self._used and self._changed:
            content = {"text": self._text, "ranges": self.ranges, "entries": self._entries}
            user_cache.keep_json(self._name, {"reader": self._reader, **content})


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]
