"""Notes of the topics that the queries of a checkpoint have read, by the ids that their cluster gave them:
written beside the checkpoint before a query starts.

Neither Spark nor a checkpoint tells a topic from another one that was created later under its name, or one
cluster from another.
"""

import json
from collections.abc import Iterable

from flareiac.kernel.data import parse_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import decode, encode
from flareiac_spark_runtime.storage import Place, replace_whole


@dataclass(frozen=True, slots=True, kw_only=True)
class NotedTopic:
    """``id`` and ``cluster`` are the cluster's own; None where it has none."""

    topic: str
    id: str | None
    cluster: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicNotes:
    """Topics, sorted by name. Two clusters may have a topic of one name."""

    topics: tuple[NotedTopic, ...] = ()

    def of(self, topic: str) -> tuple[NotedTopic, ...]:
        """The notes about a name."""
        return tuple(noted for noted in self.topics if noted.topic == topic)

    def joined(self, further: Iterable[NotedTopic]) -> "TopicNotes":
        """With further topics."""
        every = {*self.topics, *further}
        return TopicNotes(
            topics=tuple(sorted(every, key=lambda noted: (noted.topic, noted.cluster or "", noted.id or "")))
        )


def notes_place(checkpoint: Place) -> Place:
    """The file beside the folder of a generation."""
    return checkpoint.with_name(f".{checkpoint.name}.topics.json")


def read_notes(checkpoint: Place) -> TopicNotes:
    """Nothing where no query with a stream of Kafka was started there by FlareIaC. Raises ``OSError``, and
    ``ValueError`` for what cannot be understood.
    """
    try:
        text = notes_place(checkpoint).read_text(encoding="utf-8")
    except FileNotFoundError:
        return TopicNotes()
    return decode(TopicNotes, parse_json(text), "notes")


def write_notes(checkpoint: Place, notes: TopicNotes) -> None:
    """Replaces them. Raises ``OSError``."""
    text = json.dumps(encode(notes), separators=(",", ":"), ensure_ascii=False)
    replace_whole(notes_place(checkpoint), text.encode(), mode=0o644)
