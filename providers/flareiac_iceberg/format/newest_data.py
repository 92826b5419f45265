"""Reads when rows last came into the main branch of a table. Pure: takes metadata as JSON."""

from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.sdk.freshness import Freshness
from flareiac_iceberg.format.snapshots import Commit, commits, current

_ADDING: Final = ("append", "overwrite", "")
"""The operations of a snapshot that may add rows, where its writer does not say how many. A snapshot without
a summary is of format version 1.
"""
_REWRITING: Final = "replace"
"""The operation of compaction: the rows are those that were there before."""


def newest_data(metadata: Attributes) -> Freshness:
    """Returns the time of the newest snapshot that added rows. Where all such snapshots have expired, the
    data is older than the oldest one that is still there.
    """
    seen: set[int] = set()
    oldest: Commit | None = None
    for commit in commits(metadata):
        if commit.id in seen:  # only damage makes a loop of parents
            break
        if _adds(commit):
            return Freshness(newest_ms=commit.at)
        seen.add(commit.id)
        oldest = commit
    if oldest is None and current(metadata) is not None:
        return Freshness(
            newest_ms=None, why="its metadata lacks the snapshot that it names as the current one"
        )
    if oldest is None or oldest.parent is None:
        return Freshness(newest_ms=None, is_empty=True)
    return Freshness(newest_ms=oldest.at, is_older=True)


def _adds(commit: Commit) -> bool:
    if commit.operation == _REWRITING:
        return False
    return commit.operation in _ADDING if commit.added is None else commit.added > 0
