"""The offsets of a stream of Kafka in a checkpoint: the next one of each partition. Any query can begin
there.
"""

from collections.abc import Mapping
from typing import Any

from flareiac.kernel.data import parse_json
from flareiac.sdk import name_patterns
from flareiac_spark.sources.findings import Partition
from flareiac_spark.sources.offsets import CarryOver, Offsets, SourceOnDisk, Write
from flareiac_spark.sources.reachable import NotedTopic, NotedTopics
from flareiac_spark_runtime.checkpoint_log import Damaged, any_json, text_of
from flareiac_spark_runtime.sources.kafka.positions import log_text, offset_text, positions_of
from flareiac_spark_runtime.sources.kafka.topic_notes import notes_place, read_notes
from flareiac_spark_runtime.sources.record_lag import records_behind
from flareiac_spark_runtime.storage import Place


class KafkaOffsets(Offsets):
    """See ``Offsets``."""

    carry_over = CarryOver.POSITION
    begins_at_times = True
    named = "topics"
    read_again = "reads its topics from the oldest records that are left; deleted records are not read"

    def is_own(self, offset: Any) -> bool:
        return positions_of(offset) is not None

    def is_own_log(self, log: Place) -> bool:
        try:
            return (log / "0").read_bytes()[:1] == b"\0"
        except OSError:
            return False

    def describe(self, source: SourceOnDisk, log: Place) -> str:
        positions = positions_of(parse_json(super().describe(source, log))) or {}
        return "; ".join(
            f"{topic}: " + ", ".join(f"partition {number} up to {at}" for number, at in sorted(each.items()))
            for topic, each in sorted(positions.items())
        )

    def goes_on(self, source: SourceOnDisk) -> str:
        try:
            positions = positions_of(parse_json(source.offset or "null"))
        except ValueError:
            positions = None
        if positions is None:
            return "topics of which nothing was read"
        count = sum(map(len, positions.values()))
        what = "1 partition" if count == 1 else f"{count} partitions"
        return f"{', '.join(sorted(positions))} from the offsets of {what} on"

    def continues(self, before: str, after: str) -> bool:
        if before == after:
            return True
        old, new = _topics(before), _topics(after)
        return old is None or new is None or bool(old & new)

    def carried(self, offset: str, place: str) -> str | None:
        """Spark refuses an offset of a topic that the query does not read, and reads a topic without one from
        its first record on.
        """
        positions = positions_of(parse_json(offset)) or {}
        kept = {topic: each for topic, each in positions.items() if _reads(place, topic)}
        return offset_text(kept) if kept else None

    def partitions(self, offset: Any) -> Mapping[Partition, int]:
        positions = positions_of(offset) or {}
        return {(topic, number): at for topic, each in positions.items() for number, at in each.items()}

    def began(self, log: Place) -> Any:
        if not self.is_own_log(log):
            return None
        return any_json(text_of(log / "0").partition("\n")[2], log / "0")

    def noted_topics(self, checkpoint: Place) -> NotedTopics:
        try:
            notes = read_notes(checkpoint)
        except (OSError, ValueError) as error:
            raise Damaged(notes_place(checkpoint), str(error)) from None
        return NotedTopics(
            topics=tuple(
                NotedTopic(topic=topic.topic, id=topic.id, cluster=topic.cluster) for topic in notes.topics
            )
        )

    def behind(self, end: Any, latest: Any) -> int | None:
        return records_behind(end, latest)

    def carry_notes(self, old: Place, new: Place, write: Write) -> None:
        notes, place = notes_place(old), notes_place(new)
        if notes.exists():
            place.unlink(missing_ok=True)
            write(place, notes.read_text(encoding="utf-8"))

    def begin_at(self, log: Place, offset: str, write: Write) -> None:
        write(log / "0", log_text(offset_text(positions_of(parse_json(offset)) or {})))


def _topics(place: str) -> frozenset[str] | None:
    """The topics of a stream that names them, None for one with a pattern."""
    return None if place.startswith("~") else frozenset(place.split(","))


def _reads(place: str, topic: str) -> bool:
    named = _topics(place)
    if named is not None:
        return topic in named
    # An offset of a topic that is not read is refused by Spark; one that is left out is read twice.
    return name_patterns.matches(place[1:], topic) is not False
