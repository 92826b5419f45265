"""Reads when records last came into a topic, and how far its groups are behind."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.freshness import Freshness, GroupLag
from flareiac_kafka.broker.cluster import EARLIEST, LATEST

if TYPE_CHECKING:
    from flareiac_kafka.broker.client import Cluster

_Offsets: TypeAlias = Mapping[tuple[str, int], int]
"""By topic and partition."""


def freshness_of(
    cluster: "Cluster", topic: str, partitions: Iterable[int], groups: Iterable[str]
) -> Freshness:
    """``partitions``: those that the topic has. Raises ``Failure``."""
    places = [(topic, partition) for partition in sorted(partitions)]
    # The groups first: one that reads on meanwhile is then behind by too much, and never by too little
    committed = {group: _committed(cluster, group, places) for group in groups}
    firsts, ends = (cluster.offsets(dict.fromkeys(places, what)) for what in (EARLIEST, LATEST))
    lags = tuple(
        GroupLag(group=group, lag=None, why=answer)
        if isinstance(answer, str)
        else lag_of(group, answer, firsts, ends)
        for group, answer in committed.items()
    )
    if firsts == ends:
        return Freshness(newest_ms=None, is_empty=True, lags=lags)
    try:
        times = [at for at in cluster.newest(places).values() if at is not None]
    except Failure as failure:
        return Freshness(newest_ms=None, why=failure.diagnostics[0].detail, lags=lags)
    if not times:
        return Freshness(newest_ms=None, is_empty=True, lags=lags)
    if max(times) < 0:
        return Freshness(newest_ms=None, why="its records have no timestamps", lags=lags)
    return Freshness(newest_ms=max(times), lags=lags)


def lag_of(
    group: str, committed: Mapping[tuple[str, int], int | None], firsts: _Offsets, ends: _Offsets
) -> GroupLag:
    """Returns the lag over all partitions. One in which the group has committed nothing counts with all of
    its records, as the group has said of none that it is done with it. Pure.
    """
    lag, lost = 0, 0
    for place, end in sorted(ends.items()):
        at = committed.get(place)
        if at is not None and at > end:
            why = (
                f"the group has committed offset {at} of partition {place[1]}, which ends at {end}: the "
                "topic was made again, or records at its end were lost"
            )
            return GroupLag(group=group, lag=None, why=why)
        lag += end - max(firsts[place], firsts[place] if at is None else at)
        lost += 0 if at is None else max(0, firsts[place] - at)
    if all(at is None for at in committed.values()):
        return GroupLag(group=group, lag=lag, why="the group has committed no offset of the topic")
    return GroupLag(group=group, lag=lag, lost=lost)


def _committed(
    cluster: "Cluster", group: str, places: list[tuple[str, int]]
) -> Mapping[tuple[str, int], int | None] | str:
    """A text where the group cannot be asked: that hides no other group."""
    try:
        return cluster.committed(group, places)
    except Failure as failure:
        return failure.diagnostics[0].detail
