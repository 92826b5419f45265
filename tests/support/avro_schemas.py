"""Avro schemas, drawn by Hypothesis."""

import itertools
from typing import Any

from hypothesis import strategies as st

Json = Any
_LOGICAL = (
    ("int", "date"),
    ("int", "time-millis"),
    ("long", "timestamp-millis"),
    ("long", "timestamp-micros"),
    ("long", "local-timestamp-millis"),
    ("long", "local-timestamp-micros"),
)
_PRIMITIVES = ("boolean", "int", "long", "float", "double", "bytes", "string")


def schemas(depth: int = 3) -> st.SearchStrategy[Json]:
    """Records with fields of every kind, nested; some types have names, and are used twice."""
    return st.builds(_Drawing).flatmap(lambda drawing: drawing.record(depth))


class _Drawing:
    """Names of one schema, each used once."""

    def __init__(self) -> None:
        self._numbers = itertools.count()

    def record(self, depth: int) -> st.SearchStrategy[Json]:
        fields = st.lists(st.deferred(lambda: self.type(depth - 1)), min_size=1, max_size=4)
        return fields.map(self._record)

    def type(self, depth: int) -> st.SearchStrategy[Json]:
        flat = st.one_of(
            st.sampled_from(_PRIMITIVES),
            st.sampled_from(_LOGICAL).map(lambda pair: {"type": pair[0], "logicalType": pair[1]}),
            st.integers(0, 4).map(
                lambda scale: {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": scale}
            ),
            st.integers(1, 5).map(lambda size: {"type": "fixed", "name": self._name("F"), "size": size}),
            st.just(["A", "B"]).map(
                lambda symbols: {"type": "enum", "name": self._name("E"), "symbols": symbols}
            ),
        )
        if depth <= 0:
            return st.one_of(flat, flat.map(lambda kind: ["null", kind]))
        inner = st.deferred(lambda: self.type(depth - 1))
        nested = st.one_of(
            flat,
            inner.map(lambda kind: {"type": "array", "items": kind}),
            inner.map(lambda kind: {"type": "map", "values": kind}),
            self.record(depth),
        )
        return st.one_of(
            nested, nested.map(lambda kind: ["null", kind]), flat.map(lambda kind: ["null", kind])
        )

    def _record(self, kinds: list[Json]) -> Json:
        fields = [{"name": f"f{index}", "type": kind} for index, kind in enumerate(kinds)]
        return {"type": "record", "name": self._name("R"), "fields": fields}

    def _name(self, letter: str) -> str:
        number = next(self._numbers)
        return f"{letter}{number}" if number % 2 else f"ns.of.{letter}{number}"
