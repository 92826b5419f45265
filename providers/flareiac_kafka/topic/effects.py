"""What a change of a topic asks of the queries that use it, as they run. Pure."""

from typing import Final

from flareiac.sdk.changes import Impact, Reaction, Relation

_ANOTHER: Final = "the topic becomes another one under the same name"
ANOTHER_TOPIC: Final = (
    Impact(
        relation=Relation.WRITES,
        reaction=Reaction.STOPS_FIRST,
        reason=f"{_ANOTHER}; what was written into the old one is not in it",
    ),
    Impact(
        relation=Relation.STREAMS_FROM,
        reaction=Reaction.CAN_NOT,
        reason=f"{_ANOTHER}; the offsets in its checkpoint are those of the old one",
    ),
)
"""What replacing a topic, or creating it again, asks of those who use it."""
NO_TOPIC: Final = tuple(
    Impact(relation=item.relation, reaction=Reaction.STOPS_FIRST, reason="the topic is deleted")
    for item in ANOTHER_TOPIC
)
"""What deleting a topic asks of those who use it."""
MORE_PARTITIONS: Final = (
    Impact(
        relation=Relation.WRITES,
        reaction=Reaction.RUNS_ON,
        reason="a running writer takes new partitions within minutes",
    ),
    Impact(
        relation=Relation.STREAMS_FROM,
        reaction=Reaction.RUNS_ON,
        reason="a running stream takes new partitions within minutes, and reads them from their first record",
    ),
)
"""What more partitions ask of those who use a topic."""
