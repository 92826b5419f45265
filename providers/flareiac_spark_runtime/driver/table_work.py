"""A table in maintenance, and what an operation did to it, read from the summaries of the snapshots that
carry its key. Touches the catalog.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.table_tasks import OPERATION, Step
from flareiac_spark_runtime.driver import tables
from flareiac_spark_runtime.driver.commit_marks import carried, commits

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_DELETES: Final = ("total-position-deletes", "total-equality-deletes")


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintainedTable:
    """A table and who works on it; ``key`` is the operation's."""

    session: "SparkSession"
    identifier: tuple[str, ...]
    table: Any
    key: str

    @property
    def name(self) -> str:
        """The table as Spark reads it."""
        return tables.quoted_name(self.identifier)

    def marked(self) -> AbstractContextManager[None]:
        """Adds the operation's key to the commits of the session meanwhile."""
        return carried(self.session, {OPERATION: self.key})

    def steps(self) -> tuple[Step, ...]:
        """The commits of this operation among the ancestors of the main branch, oldest first."""
        self.table.refresh()
        own_commits = [
            commit for commit in commits(self.table, None) if commit.summary.get(OPERATION) == self.key
        ]
        return tuple(
            Step(
                id=commit.id,
                parent=_parent(self.table, commit.id),
                summary={str(key): str(value) for key, value in commit.summary.items()},
            )
            for commit in reversed(own_commits)
        )

    def outcome(self, done: Sequence[Step]) -> dict[str, int | None]:
        """Snapshots and rows before and after. What others committed in between does not count: each commit
        is held against its own parent.
        """
        snapshot = self.table.currentSnapshot()
        current = None if snapshot is None else int(snapshot.snapshotId())
        first, last = (done[0].parent, done[-1].id) if done else (current, current)
        before = self._live_rows(first)
        after = before
        for step in done:
            gained = self._gained(step)
            after = None if after is None or gained is None else after + gained
        return {"snapshot_before": first, "snapshot_after": last, "rows_before": before, "rows_after": after}

    def _gained(self, step: Step) -> int | None:
        before, after = self._live_rows(step.parent), self._live_rows(step.id)
        return None if before is None or after is None else after - before

    def _live_rows(self, snapshot_id: int | None) -> int | None:
        """Rows that a reader finds at a snapshot: by its summary, or counted where files of deletes stand
        between the two.
        """
        if snapshot_id is None:
            return 0
        snapshot = self.table.snapshot(snapshot_id)
        if snapshot is None:
            return None
        summary = snapshot.summary()
        rows = summary.get("total-records")
        if rows is not None and all(summary.get(name) in (None, "0") for name in _DELETES):
            return int(rows)
        sql = f"SELECT count(*) FROM {self.name} VERSION AS OF {snapshot_id}"  # noqa: S608 - the name is quoted
        return int(self.session.sql(sql).collect()[0][0])


def _parent(table: Any, snapshot_id: int) -> int | None:
    parent = table.snapshot(snapshot_id).parentId()
    return None if parent is None else int(parent)
