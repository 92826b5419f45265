"""Which topics the queries of a checkpoint have read, by the ids that their cluster gave them: noted beside
the checkpoint before a query starts. Travels with the driver.

Neither Spark nor a checkpoint tells a topic from another one that was created later under its name, or one
cluster from another.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from flareiac.kernel.durable_files import replace_file
from flareiac.kernel.records import decode, encode


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
        """What is noted of a name."""
        return tuple(item for item in self.topics if item.topic == topic)

    def joined(self, found: Iterable[NotedTopic]) -> "TopicNotes":
        """With further topics."""
        every = {*self.topics, *found}
        return TopicNotes(
            topics=tuple(sorted(every, key=lambda item: (item.topic, item.cluster or "", item.id or "")))
        )


def notes_place(checkpoint: Path) -> Path:
    """The file beside the folder of a generation."""
    return checkpoint.with_name(f".{checkpoint.name}.topics.json")


def read_notes(checkpoint: Path) -> TopicNotes:
    """Nothing where no query with a stream of Kafka was started there by FlareIaC. Raises ``OSError``, and
    ``ValueError`` for what cannot be understood.
    """
    try:
        text = notes_place(checkpoint).read_text(encoding="utf-8")
    except FileNotFoundError:
        return TopicNotes()
    return decode(TopicNotes, json.loads(text), "notes")


def write_notes(checkpoint: Path, notes: TopicNotes) -> None:
    """Replaces them. Raises ``OSError``."""
    text = json.dumps(encode(notes), separators=(",", ":"), ensure_ascii=False)
    notes_place(checkpoint).parent.mkdir(parents=True, exist_ok=True)
    replace_file(notes_place(checkpoint), text.encode(), mode=0o644)
