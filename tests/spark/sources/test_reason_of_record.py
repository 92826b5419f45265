"""The reason of a bad record is that of the very record: not of another one at its offset, in a topic that
was created again meanwhile.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from flareiac_spark_runtime.sources.decoding import ERROR, NO_FIT
from flareiac_spark_runtime.sources.kafka import resolved
from flareiac_spark_runtime.sources.kafka.cluster import NotAnswered, TopicIds
from flareiac_spark_runtime.sources.kafka.resolved import ResolvedKafka
from flareiac_spark_runtime.sources.kafka.topic_notes import NotedTopic, TopicNotes, write_notes
from flareiac_spark_runtime.sources.resolved import StartProblem

SAID = f"A record of the input raw cannot be read: {NO_FIT}; in topic orders, partition 0, offset 2"
REASON = "the value is empty"
SILENT = NotAnswered(StartProblem(error_class="BROKER_UNREACHABLE", why="It is away."))


class Brokers:
    """Answers with one id of the topic after the other; None: there is no such topic."""

    def __init__(self, ids: Sequence[str | None]) -> None:
        self.ids_to_come = list(ids)

    def ids(self, _names: Iterable[str], _pattern: str | None) -> TopicIds:
        found = self.ids_to_come.pop(0)
        if found == "silent":
            raise SILENT
        return TopicIds(cluster="c", topics={} if found is None else {"orders": found})

    def close(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True, kw_only=True)
class OneRecord(ResolvedKafka):
    """Kafka with this very record."""

    def _decoded(self, records: Any, opening: Any) -> Any:
        frame = SimpleNamespace(collect=lambda: [{ERROR: REASON}])
        return SimpleNamespace(select=lambda _name: frame)


@pytest.mark.parametrize(
    ("noted", "ids", "is_explained"),
    [
        pytest.param("t-1", ["t-1", "t-1"], True, id="the same"),
        pytest.param("t-1", ["t-2"], False, id="another one"),
        pytest.param("t-1", ["t-1", "t-2"], False, id="another one while it is read"),
        pytest.param("t-1", [None], False, id="gone"),
        pytest.param("t-1", ["t-1", None], False, id="gone while it is read"),
        pytest.param("t-1", ["silent"], False, id="no answer"),
        pytest.param(None, ["t-1"], False, id="nothing is noted"),
    ],
)
def test_the_reason_is_that_of_the_record_that_was_read(
    noted: str | None,
    ids: list[str | None],
    is_explained: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = tmp_path / "orders" / "g0001"
    place.parent.mkdir()
    if noted is not None:
        write_notes(place, TopicNotes(topics=(NotedTopic(topic="orders", id=noted, cluster="c"),)))
    brokers = Brokers(ids)
    monkeypatch.setattr(resolved, "Cluster", lambda _jvm, _settings: brokers)
    reader: Any = SimpleNamespace(load=lambda: None)
    reader.format = reader.options = lambda *_words, **_named: reader
    opening: Any = SimpleNamespace(session=SimpleNamespace(_jvm=None, read=reader), checkpoints=(place,))
    source = OneRecord(client={}, format="json", topics=("orders",))
    assert source.explained(SAID, opening) == (SAID.replace(NO_FIT, REASON) if is_explained else SAID)
    assert brokers.ids_to_come == []
