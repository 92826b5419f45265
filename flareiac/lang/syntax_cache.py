"""Keeps the syntax of top-level items from run to run: one file per source, items found by the digest of their text.

Entries are JSON arrays, never pickles. What can not be read counts as not there. Touches the user's cache directory only.
"""

import hashlib
import json
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from flareiac.lang import user_cache
from flareiac.lang.origin import Origin
from flareiac.lang.syntax import FIELDS, NODE_TYPES, Body, Node

_FORMAT: Final = 1
_TAGS: Final = {kind: index for index, kind in enumerate(NODE_TYPES)}


def encode(node: Node) -> list[Any]:
    """A node as ``[tag, start, end, field, ...]``."""
    return [_TAGS[type(node)], node.start, node.end, *(_encode_field(getattr(node, name)) for name in FIELDS[type(node)])]


def _encode_field(value: Any) -> Any:
    if isinstance(value, Node):
        return encode(value)
    if isinstance(value, tuple):
        return {"t": [_encode_field(item) for item in value]}
    if isinstance(value, Decimal):
        return {"n": str(value)}
    return value


def decode(data: list[Any], origin: Origin) -> Node:
    """The inverse of ``encode``. Raises one of ``ValueError, TypeError, LookupError, ArithmeticError`` for what no node encodes to."""
    kind = NODE_TYPES[data[0]]
    fields = {
        name: (_decode_field(value, origin) if type(value) is list or type(value) is dict else value)
        for name, value in zip(FIELDS[kind], data[3:], strict=True)
    }
    node: Node = kind(origin=origin, start=data[1], end=data[2], **fields)
    return node


def _decode_field(value: Any, origin: Origin) -> Any:
    if type(value) is list:
        return decode(value, origin)
    if "t" in value:
        return tuple(_decode_field(item, origin) if type(item) is list or type(item) is dict else item for item in value["t"])
    return Decimal(value["n"])


class SyntaxCache:
    """The kept items of one source; ``close`` writes them when they changed."""

    def __init__(self, path: str) -> None:
        name = hashlib.sha256(str(Path(path).absolute()).encode(errors="replace")).hexdigest()[:24]
        self._name = f"syntax/{_FORMAT}-{name}.json"
        self._old = _load(self._name)
        self._new: dict[str, Any] = {}
        self._changed = False

    def find(self, text: str, origin: Origin) -> Body | None:
        """The kept body of an item with exactly this text."""
        key = _digest(text)
        data = self._old.get(key)
        if data is None:
            return None
        try:
            body = decode(data, origin)
        except (ValueError, TypeError, LookupError, ArithmeticError):
            return None
        if not isinstance(body, Body):
            return None
        self._new[key] = data
        return body

    def add(self, text: str, body: Body) -> None:
        self._new[_digest(text)] = encode(body)
        self._changed = True

    def close(self) -> None:
        if self._changed:
            user_cache.keep(self._name, json.dumps(self._new, separators=(",", ":"), ensure_ascii=False).encode(errors="replace"))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def _load(name: str) -> dict[str, Any]:
    kept = user_cache.read(name)
    if kept is None:
        return {}
    try:
        data = json.loads(kept)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
