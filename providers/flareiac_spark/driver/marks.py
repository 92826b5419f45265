"""How does a table know which batch of which query it has? Each commit of a micro-batch says so in its snapshot's summary.

Iceberg's own sink knows the query and the epoch, but only for appends to the main branch; a merge, another branch, or several outputs of
one batch have no such check. Our mark is searched for among the ancestors of the branch before a batch is written.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

CHECKPOINT_ID: Final = "flareiac.checkpoint-id"
OUTPUT: Final = "flareiac.output"
BATCH_ID: Final = "flareiac.batch-id"
_CONF: Final = "spark.sql.iceberg.snapshot-property."
"""A session's conf, because MERGE takes no options of a write."""


@contextmanager
def carried(session: Any, marks: Mapping[str, str]) -> Iterator[None]:
    """What this session commits meanwhile carries these in its snapshot's summary."""
    for key, value in marks.items():
        session.conf.set(_CONF + key, value)
    try:
        yield
    finally:
        for key in marks:
            session.conf.unset(_CONF + key)


def ancestors(table: Any, branch: str | None) -> Iterator[Any]:
    """Iceberg's snapshots of a branch, newest first, as far as they live."""
    snapshot = table.snapshot(branch or "main")
    while snapshot is not None:
        yield snapshot
        parent = snapshot.parentId()
        snapshot = None if parent is None else table.snapshot(parent)


class BatchSearch:
    """The newest batch of one query's output on a branch; each snapshot is looked at once."""

    def __init__(self, checkpoint_id: str, output: str, branch: str | None) -> None:
        self._checkpoint_id, self._output, self._branch = checkpoint_id, output, branch
        self._looked_at: int | None = None
        self._newest: int | None = None

    def newest(self, table: Any) -> int | None:
        """None if no living ancestor carries a mark of this output. ``table`` as it is now."""
        found, head = None, None
        for snapshot in ancestors(table, self._branch):
            here = snapshot.snapshotId()
            head = here if head is None else head
            if here == self._looked_at:
                found = self._newest
                break
            if (found := self._batch(snapshot.summary())) is not None:
                break
        self._looked_at, self._newest = head, found
        return found

    def _batch(self, summary: Any) -> int | None:
        if summary.get(CHECKPOINT_ID) != self._checkpoint_id or summary.get(OUTPUT) != self._output:
            return None
        number = summary.get(BATCH_ID)
        return int(number) if number is not None and number.isdigit() else None
