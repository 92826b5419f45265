"""Whom changes of a table disturb, once each, and what its end asks of those who use it. Pure."""

from collections.abc import Iterable
from typing import Final

from flareiac.sdk.changes import Impact, Reaction, Relation
from flareiac_iceberg.table.verdict import Verdict, stops


def disturbances(verdicts: Iterable[Verdict]) -> tuple[Impact, ...]:
    """The users that must stop, and those that run on, once each; an impact that stops a relation hides those
    with which it would run on.
    """
    impacts = dict.fromkeys(impact for verdict in verdicts for impact in verdict.all())
    stopped = {
        impact.relation
        for impact in impacts
        if impact.reaction is not Reaction.RUNS_ON and not impact.tolerance
    }
    return tuple(
        impact
        for impact in impacts
        if impact.reaction is not Reaction.RUNS_ON or impact.relation not in stopped
    )


_ANOTHER: Final = "the table becomes another one under the same name"
ANOTHER_TABLE: Final = (
    stops(
        Relation.WRITES,
        f"{_ANOTHER}; rows that were written into the old one are written again only in a new generation",
    ),
    Impact(
        relation=Relation.STREAMS_FROM,
        reaction=Reaction.CAN_NOT,
        reason=(
            f"{_ANOTHER}; the offsets in its checkpoint are snapshots of the old one, and Spark cannot "
            "go on from them"
        ),
    ),
    stops(Relation.LOOKS_UP, _ANOTHER),
)
"""The impacts on users of a table that is replaced, or created again."""
NO_TABLE: Final = tuple(stops(impact.relation, "the table is dropped") for impact in ANOTHER_TABLE)
"""The impacts on users of a table that is dropped: they are to use another one by then."""
