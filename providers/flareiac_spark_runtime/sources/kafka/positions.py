"""Positions in Kafka as Spark writes them: ``{"topic":{"0":123}}``, the next offset of each partition."""

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

Positions: TypeAlias = Mapping[str, Mapping[int, int]]
"""The next offset by topic and partition."""


def positions_of(offset: Any) -> Positions | None:
    """The positions in an offset, as JSON holds it; None where it is none of Kafka's."""
    if not isinstance(offset, dict) or not offset:
        return None
    positions: dict[str, Mapping[int, int]] = {}
    for topic, partitions in offset.items():
        if not isinstance(partitions, dict) or not all(map(_is_partition, partitions.items())):
            return None
        positions[topic] = {int(number): next_offset for number, next_offset in partitions.items()}
    return positions


def offset_text(positions: Positions) -> str:
    """The offset in Spark's own bytes: topics and partitions in order, without blanks."""
    data = {
        topic: {str(number): partitions[number] for number in sorted(partitions)}
        for topic, partitions in sorted(positions.items())
    }
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False)


def log_text(offset: str) -> str:
    """The first entry of a source's log that begins at an offset, in Spark's own bytes."""
    # Spark writes a zero byte first, which Spark 2.1 took for an end; a reader checks the version after it.
    return f"\0v1\n{offset}"


def _is_partition(entry: tuple[str, Any]) -> bool:
    number, next_offset = entry
    return number.isdigit() and isinstance(next_offset, int) and not isinstance(next_offset, bool)
