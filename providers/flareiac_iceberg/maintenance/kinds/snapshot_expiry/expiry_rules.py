"""Iceberg's own rules for which snapshots and references an expiry removes and keeps. Pure.

A branch keeps its newest snapshots while they are young enough, counted from its head back to the first that
is not; a tag keeps its one snapshot; a snapshot that no branch or tag reaches is kept while it is young.
Times need not grow along a branch, so a snapshot is safe only below the least time on the way to it.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import field
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import Mismatch

MAIN: Final = "main"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ref:
    """A branch or tag; ages in ms, None where the settings of the expiry count."""

    name: str
    head: int
    is_branch: bool = True
    min_snapshots: int | None = None
    max_snapshot_age: int | None = None
    max_ref_age: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The snapshots of a table by id: time (ms since 1970), parent, and how many data and delete files each
    took away.
    """

    times: Mapping[int, int]
    parents: Mapping[int, int | None]
    refs: tuple[Ref, ...] = ()
    removed: Mapping[int, tuple[int, int]] = field(default_factory=dict)

    def line(self, head: int) -> Iterable[int]:
        """A snapshot and its ancestors, as far as they are still there, newest first."""
        seen: set[int] = set()
        at: int | None = head
        while at is not None and at in self.times and at not in seen:
            seen.add(at)
            yield at
            at = self.parents.get(at)

    def above(self, items: Collection[int], branches: Iterable[Ref]) -> frozenset[int]:
        """All from the head of each of these branches down to the last of the items on its line, with it."""
        snapshot_ids: set[int] = set()
        for ref in branches:
            line = list(self.line(ref.head))
            last = max(
                (number for number, snapshot_id in enumerate(line) if snapshot_id in items), default=-1
            )
            snapshot_ids.update(line[: last + 1])
        return frozenset(snapshot_ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expiry:
    """The parts of a table that would go: snapshots, and names of branches and tags whose own time has
    passed.
    """

    snapshots: frozenset[int]
    refs: tuple[str, ...]


def history_data(history: History) -> Attributes:
    """Plain data; ``history_of`` reads it back."""
    ids = list(history.times)
    return {
        "ids": ids,
        "times": [history.times[snapshot_id] for snapshot_id in ids],
        "parents": [history.parents.get(snapshot_id) for snapshot_id in ids],
        "removed": [[snapshot_id, *counts] for snapshot_id, counts in history.removed.items()],
        "refs": [
            [
                ref.name,
                ref.head,
                ref.is_branch,
                ref.min_snapshots,
                ref.max_snapshot_age,
                ref.max_ref_age,
            ]
            for ref in history.refs
        ],
    }


def history_of(data: Attributes) -> History:
    """The inverse of ``history_data``."""
    keys = ("name", "head", "is_branch", "min_snapshots", "max_snapshot_age", "max_ref_age")
    try:
        return History(
            times=dict(zip(data["ids"], data["times"], strict=True)),
            parents=dict(zip(data["ids"], data["parents"], strict=True)),
            refs=tuple(Ref(**dict(zip(keys, ref_values, strict=True))) for ref_values in data["refs"]),
            removed={
                snapshot_id: (data_files, delete_files)
                for snapshot_id, data_files, delete_files in data["removed"]
            },
        )
    except (KeyError, TypeError, ValueError):
        raise Mismatch("", "is no history of snapshots") from None


def expiry(history: History, *, cutoff: int, retain_last: int, now: int) -> Expiry:
    """The snapshots and names that Iceberg removes when asked to expire those committed before ``cutoff`` but
    for the last few of each branch.
    """
    kept_refs = [ref for ref in history.refs if not _outlived(ref, history, now)]
    kept = {ref.head for ref in kept_refs}
    reached: set[int] = set()
    for ref in kept_refs:
        if not ref.is_branch:
            reached.add(ref.head)
            continue
        least = retain_last if ref.min_snapshots is None else ref.min_snapshots
        before = cutoff if ref.max_snapshot_age is None else now - ref.max_snapshot_age
        keeping = True
        for number, snapshot_id in enumerate(history.line(ref.head)):
            reached.add(snapshot_id)
            keeping = keeping and (number < least or history.times[snapshot_id] >= before)
            if keeping:
                kept.add(snapshot_id)
    kept.update(time for time, at in history.times.items() if time not in reached and at >= cutoff)
    names = tuple(ref.name for ref in history.refs if ref not in kept_refs)
    return Expiry(snapshots=frozenset(history.times) - kept, refs=names)


def _outlived(ref: Ref, history: History, now: int) -> bool:
    if ref.name == MAIN or ref.max_ref_age is None:
        return False
    at = history.times.get(ref.head)
    return at is None or now - at > ref.max_ref_age


def floors(history: History) -> dict[int, int]:
    """The latest cutoff that keeps a snapshot, for each: the least time on every way to it from the head of a
    branch.
    """
    cutoffs = dict(history.times)
    for ref in history.refs:
        if not ref.is_branch:
            continue
        least: int | None = None
        for snapshot_id in history.line(ref.head):
            least = history.times[snapshot_id] if least is None else min(least, history.times[snapshot_id])
            cutoffs[snapshot_id] = min(cutoffs[snapshot_id], least)
    return cutoffs


def freed(history: History, gone: frozenset[int]) -> tuple[int, int] | None:
    """Data and delete files that nothing needs any more once these are gone; None where the summaries cannot
    tell.

    They can where all snapshots are one line: a file that a snapshot took away was last needed by that
    snapshot's parent.
    """
    heads = {ref.head for ref in history.refs}
    if len(heads) != 1:
        return None
    line = list(history.line(next(iter(heads))))
    if len(line) != len(history.times):
        return None
    takers = [snapshot_id for snapshot_id in line if history.parents.get(snapshot_id) in gone]
    if any(taker not in history.removed for taker in takers):
        return None
    counts = [history.removed[taker] for taker in takers]
    return sum(count[0] for count in counts), sum(count[1] for count in counts)
