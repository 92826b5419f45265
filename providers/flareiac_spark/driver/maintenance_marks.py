"""What a maintenance operation did to a table, read from the summaries of the snapshots that carry its key.
Touches the catalog.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from flareiac.sdk.table_tasks import OPERATION
from flareiac_spark.driver import tables
from flareiac_spark.driver.commit_marks import commits

_DELETES: Final = ("total-position-deletes", "total-equality-deletes")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableWork:
    """A table and who works on it; ``key`` is the operation's."""

    session: Any
    identifier: tuple[str, ...]
    table: Any
    key: str

    @property
    def name(self) -> str:
        """The table as Spark reads it."""
        return tables.quoted_name(self.identifier)

    @property
    def jvm(self) -> Any:
        return self.session._jvm

    @property
    def actions(self) -> Any:
        """Iceberg's actions on Spark."""
        return self.jvm.org.apache.iceberg.spark.actions.SparkActions.get(self.session._jsparkSession)

    @property
    def current(self) -> int | None:
        """The current snapshot of the main branch."""
        snapshot = self.table.currentSnapshot()
        return None if snapshot is None else int(snapshot.snapshotId())


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One commit of an operation, and the snapshot that it was made upon (None where that is not there)."""

    id: int
    parent: int | None
    summary: Mapping[str, str]


def steps(bench: TableWork) -> tuple[Step, ...]:
    """The commits of this operation among the ancestors of the main branch, oldest first."""
    bench.table.refresh()
    found = [commit for commit in commits(bench.table, None) if commit.summary.get(OPERATION) == bench.key]
    return tuple(
        Step(
            id=commit.id,
            parent=_parent(bench.table, commit.id),
            summary={str(key): str(value) for key, value in commit.summary.items()},
        )
        for commit in reversed(found)
    )


def total(done: Sequence[Step], name: str) -> int:
    """The sum of one figure of these commits' summaries."""
    return sum(int(step.summary.get(name, "0")) for step in done)


def outcome(bench: TableWork, done: Sequence[Step]) -> dict[str, int | None]:
    """Snapshots and rows before and after. What others committed in between does not count: each commit is
    held against its own parent.
    """
    if not done:
        rows = _live_rows(bench, bench.current)
        return {
            "snapshot_before": bench.current,
            "snapshot_after": bench.current,
            "rows_before": rows,
            "rows_after": rows,
        }
    before = _live_rows(bench, done[0].parent)
    after = before
    for step in done:
        gained = _gained(bench, step)
        after = None if after is None or gained is None else after + gained
    return {
        "snapshot_before": done[0].parent,
        "snapshot_after": done[-1].id,
        "rows_before": before,
        "rows_after": after,
    }


def snapshots(table: Any) -> dict[int, int]:
    """When each snapshot was committed (ms since 1970), by id. At once: asking for thousands one by one takes
    seconds.
    """
    from pyspark import SparkContext

    jvm: Any = SparkContext._jvm
    metadata = json.loads(jvm.org.apache.iceberg.TableMetadataParser.toJson(table.operations().current()))
    return {item["snapshot-id"]: item["timestamp-ms"] for item in metadata.get("snapshots", ())}


def _gained(bench: TableWork, step: Step) -> int | None:
    before, after = _live_rows(bench, step.parent), _live_rows(bench, step.id)
    return None if before is None or after is None else after - before


def _live_rows(bench: TableWork, snapshot_id: int | None) -> int | None:
    """Rows that a reader finds at a snapshot: by its summary, or counted where files of deletes stand between
    the two.
    """
    if snapshot_id is None:
        return 0
    snapshot = bench.table.snapshot(snapshot_id)
    if snapshot is None:
        return None
    summary = snapshot.summary()
    rows = summary.get("total-records")
    if rows is not None and all(summary.get(name) in (None, "0") for name in _DELETES):
        return int(rows)
    counted = bench.session.sql(f"SELECT count(*) FROM {bench.name} VERSION AS OF {snapshot_id}").first()  # noqa: S608 - the name is quoted
    return int(counted[0])


def _parent(table: Any, snapshot_id: int) -> int | None:
    parent = table.snapshot(snapshot_id).parentId()
    return None if parent is None else int(parent)
