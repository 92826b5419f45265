"""Marks of commits: each commit of a micro-batch names its query and batch in the snapshot's summary.

Iceberg's own sink knows the query and the epoch, but only for appends to the main branch; a merge, another
branch, or several outputs of one batch have no such check. Our mark is searched for among the ancestors of
the branch before a batch is written.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import Foreign, decode, named

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CHECKPOINT_ID: Final = "flareiac.checkpoint-id"
OUTPUT: Final = "flareiac.output"
BATCH_ID: Final = "flareiac.batch-id"
EPOCHS: Final = ("spark.sql.streaming.queryId", "spark.sql.streaming.epochId")
"""The marks of Iceberg's own sink: query and batch."""
_CONF: Final = "spark.sql.iceberg.snapshot-property."
"""A session's conf, because MERGE takes no options of a write."""

_ONE_BY_ONE: Final = 100


@contextmanager
def carried(session: "SparkSession", marks: Mapping[str, str]) -> Iterator[None]:
    """Adds the marks to the summaries of the snapshots that this session commits meanwhile."""
    for key, value in marks.items():
        session.conf.set(_CONF + key, value)
    try:
        yield
    finally:
        for key in marks:
            session.conf.unset(_CONF + key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit(Foreign):
    """A snapshot. ``parent`` is known of one that is read from the table's metadata."""

    id: int = field(metadata=named("snapshot-id"))
    parent: int | None = field(default=None, metadata=named("parent-snapshot-id"))
    summary: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Metadata(Foreign):
    snapshots: tuple[Commit, ...] = ()


def ancestors(table: Any, branch: str | None) -> Iterator[Any]:
    """Iceberg's snapshots of a branch, newest first, as far as they live; each is asked of the JVM when it is
    wanted.
    """
    snapshot = table.snapshot(branch or "main")
    while snapshot is not None:
        yield snapshot
        parent = snapshot.parentId()
        snapshot = None if parent is None else table.snapshot(parent)


def commits(table: Any, branch: str | None) -> Iterator[Commit]:
    """As ``ancestors``, and quick where there are thousands."""
    for number, snapshot in enumerate(ancestors(table, branch)):
        if number == _ONE_BY_ONE:
            yield from _at_once(table, snapshot.snapshotId())
            return
        yield Commit(id=snapshot.snapshotId(), summary=snapshot.summary())


def _at_once(table: Any, snapshot_id: int) -> Iterator[Commit]:
    """A snapshot and its ancestors from the table's metadata as a whole: asking the JVM for thousands one by
    one takes seconds.
    """
    from pyspark import SparkContext

    jvm: Any = SparkContext._jvm
    text = jvm.org.apache.iceberg.TableMetadataParser.toJson(table.operations().current())
    known = {commit.id: commit for commit in decode(_Metadata, json.loads(text)).snapshots}
    commit = known.get(snapshot_id)
    while commit is not None:
        yield commit
        commit = known.get(commit.parent) if commit.parent is not None else None


class BatchSearch:
    """The newest batch of one query's output on a branch; each snapshot is looked at once."""

    def __init__(self, checkpoint_id: str, output: str, branch: str | None) -> None:
        self._checkpoint_id, self._output, self._branch = checkpoint_id, output, branch
        self._looked_at: int | None = None
        self._newest: int | None = None

    def newest(self, table: Any) -> int | None:
        """None if no living ancestor carries a mark of this output. ``table`` as it is now."""
        batch, head = None, None
        for snapshot in commits(table, self._branch):
            head = snapshot.id if head is None else head
            if snapshot.id == self._looked_at:
                batch = self._newest
                break
            if (batch := self._batch(snapshot.summary)) is not None:
                break
        self._looked_at, self._newest = head, batch
        return batch

    def _batch(self, summary: Mapping[str, str]) -> int | None:
        if summary.get(CHECKPOINT_ID) != self._checkpoint_id or summary.get(OUTPUT) != self._output:
            return None
        number = summary.get(BATCH_ID)
        return int(number) if number is not None and number.isdigit() else None
