"""A broker without a network: its trays of letters stand in a JSON file, as ``{"id", "trays": {name: {"id",
"keep_ms", "slots": [{"first", "letters": [[written_ms, text], ...]}]}}}``.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.sdk.brokers import BrokerRecord, BrokerView, PartitionOffsets, TopicOffsets, TopicSelection
from flareiac.sdk.name_patterns import matches
from flareiac_toy.thing import BROOM_BROKEN


class BureauReader:
    """See ``BrokerReader``."""

    def view(self, connection: Attributes, selection: TopicSelection) -> BrokerView:
        ledger = _ledger(connection)
        pattern = selection.pattern
        trays = {
            name: tray
            for name, tray in ledger["trays"].items()
            if name in selection.names or (pattern is not None and matches(pattern, name) is True)
        }
        return BrokerView(
            cluster_id=ledger["id"],
            topics={
                name: TopicOffsets(
                    name=name,
                    id=tray["id"],
                    partitions=dict(enumerate(map(_extent, tray["slots"]))),
                    retention_ms=tray["keep_ms"],
                )
                for name, tray in trays.items()
            },
            missing=tuple(name for name in selection.names if name not in trays),
        )

    def records(
        self, connection: Attributes, positions: Mapping[tuple[str, int], int], *, count: int = 1
    ) -> Sequence[BrokerRecord]:
        letters = list(_letters(connection))
        return [
            letter
            for place, offset in positions.items()
            for letter in [
                each for each in letters if (each.topic, each.partition) == place and each.offset >= offset
            ][:count]
        ]

    def positions_at(
        self, connection: Attributes, partitions: Sequence[tuple[str, int]], time_ms: int
    ) -> Mapping[tuple[str, int], int]:
        after: dict[tuple[str, int], int] = {}
        for letter in _letters(connection):
            if letter.timestamp_ms is not None and letter.timestamp_ms < time_ms:
                after[letter.topic, letter.partition] = letter.offset + 1
        return {place: after.get(place, 0) for place in partitions}


def _ledger(connection: Attributes) -> Any:
    try:
        return json.loads(Path(connection["ledger"]).read_text())
    except OSError as problem:
        raise Failure(error(BROOM_BROKEN, f"The bureau is closed: {problem.strerror}.")) from None


def _extent(slot: Any) -> PartitionOffsets:
    return PartitionOffsets(first=slot["first"], end=slot["first"] + len(slot["letters"]))


def _letters(connection: Attributes) -> Iterator[BrokerRecord]:
    for name, tray in _ledger(connection)["trays"].items():
        for number, slot in enumerate(tray["slots"]):
            for at, (written_ms, text) in enumerate(slot["letters"], slot["first"]):
                yield BrokerRecord(
                    topic=name,
                    partition=number,
                    offset=at,
                    timestamp_ms=written_ms,
                    key=None,
                    value=text.encode(),
                )


READER = BureauReader()
