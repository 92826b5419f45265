"""The beginning of a first start, as it is written in a stream. Pure."""

import datetime as dt
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from flareiac_spark_runtime.sources.kafka.positions import positions_of

EARLIEST: Final = "earliest"
LATEST: Final = "latest"
OF_EARLIEST: Final = -2
OF_LATEST: Final = -1
"""The numbers that Kafka and Spark write for the two, in the place of an offset or of a time."""
ByPartition: TypeAlias = Mapping[str, Mapping[str, int]]
"""The next offset by topic and partition, as Spark's options spell them."""
Starting: TypeAlias = str | ByPartition
"""``earliest``, ``latest``, an ISO 8601 time with offset, or the next offset by topic and partition."""


class NotAStart(ValueError):
    """The written value is no beginning; the message gives the reason, as a sentence."""


def starting_of(written: Any, topics: tuple[str, ...]) -> Starting:
    """The written beginning, in one form. ``topics``: those that the stream names. Raises ``NotAStart``."""
    if isinstance(written, str):
        if written not in (EARLIEST, LATEST) and time_ms(written) is None:
            raise NotAStart(
                f'{written!r} is not a start. Write "earliest", "latest" or a time with offset, such as '
                '"2026-01-31T00:00:00Z".'
            )
        return written
    if not isinstance(written, Mapping) or not written:
        raise NotAStart(f"{written!r} is neither a text nor a map of offsets.")
    if all(isinstance(value, Mapping) for value in written.values()):
        by_topic = dict(written)
    elif len(topics) == 1:
        by_topic = {topics[0]: dict(written)}
    else:
        raise NotAStart('Of several topics say which one: { orders = { "0" = 12 } }.')
    positions = positions_of(by_topic)
    if positions is None or any(
        offset < 0 for partitions in positions.values() for offset in partitions.values()
    ):
        raise NotAStart(f"{written!r} does not give a whole number for each partition.")
    if unknown := sorted(set(positions) - set(topics)):
        raise NotAStart(f"The stream does not read {', '.join(unknown)}.")
    return {
        topic: {str(number): partitions[number] for number in sorted(partitions)}
        for topic, partitions in sorted(positions.items())
    }


def begin_of(text: str) -> int:
    """A beginning that is written as a text, as Kafka's number for an end or in UTC milliseconds."""
    moment = time_ms(text)
    return moment if moment is not None else OF_LATEST if text == LATEST else OF_EARLIEST


def time_ms(text: str) -> int | None:
    """UTC milliseconds since 1970; None for what is no ISO 8601 time with offset."""
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if moment.tzinfo is None else int(moment.timestamp() * 1000)
