"""The lag of a query behind a source, in records. Pure."""

from collections.abc import Mapping
from typing import Any, TypeAlias

Positions: TypeAlias = Mapping[str, Mapping[str, int]]


def records_behind(end: Any, latest: Any) -> int | None:
    """The lag of a source whose offsets count records, as Kafka's do (``{topic: {partition: next}}``); None
    for any other. A partition that was not read yet is read from its first record on.
    """
    read, there = _positions(end), _positions(latest)
    if read is None or there is None:
        return None
    return sum(
        max(0, at - read.get(topic, {}).get(number, 0))
        for topic, each in there.items()
        for number, at in each.items()
    )


def _positions(offset: Any) -> Positions | None:
    if not isinstance(offset, Mapping) or not offset:
        return None
    return offset if all(map(_is_topic, offset.values())) else None


def _is_topic(each: Any) -> bool:
    return isinstance(each, Mapping) and all(
        number.isdecimal() and isinstance(at, int) and not isinstance(at, bool) for number, at in each.items()
    )
