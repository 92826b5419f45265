"""The effect of a topic's change on the queries that use it, as they run. Pure."""

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
"""The impacts on users of a topic that is replaced, or created again."""
NO_TOPIC: Final = tuple(
    Impact(relation=impact.relation, reaction=Reaction.STOPS_FIRST, reason="the topic is deleted")
    for impact in ANOTHER_TOPIC
)
"""The impacts on users of a topic that is deleted."""
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
"""The impacts on users of a topic that gets more partitions."""
