"""The snapshots of a table's main branch, newest first, and what each says of who made it. Pure: takes
metadata as JSON.
"""

from collections.abc import Iterator
from dataclasses import field
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.lakehouse import LiveSnapshot, TableHistory

MAIN: Final = "main"
_QUERY: Final = "spark.sql.streaming.queryId"
_EPOCH: Final = "spark.sql.streaming.epochId"
_CHECKPOINT: Final = "flareiac.checkpoint-id"
_BATCH: Final = "flareiac.batch-id"
_OUTPUT: Final = "flareiac.output"
_RUN: Final = "flareiac.run-id"
STARTS: Final = "flareiac.starts"
"""Marks a snapshot without rows at which a branch starts."""
_OWN: Final = "flareiac."
_STAGED: Final = "wap.id"
"""Marks a snapshot that was written to be looked at before it is published."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One snapshot. ``at`` in ms since 1970. ``query`` is the id of the streaming query (ours or Spark's) and
    ``batch`` its number; ``run`` the id of a batch run; ``marks`` are all keys of FlareIaC's own. Counts are
    rows, None where the writer did not say. ``total`` is all of the data files, ``rows`` those that readers
    see: None also where rows are deleted by equality.
    """

    id: int
    parent: int | None
    at: int
    operation: str
    query: str | None = None
    batch: int | None = None
    output: str | None = None
    run: str | None = None
    engine: str = ""
    app: str = ""
    marks: Attributes = field(default_factory=dict)
    added: int | None = None
    deleted: int | None = None
    total: int | None = None
    rows: int | None = None

    @property
    def is_foreign(self) -> bool:
        """True if nothing shows which query or which part of FlareIaC made it."""
        return self.query is None and self.run is None and not self.marks


def current(metadata: Attributes) -> int | None:
    """The snapshot that the main branch stands on, None for a table without rows."""
    snapshot_id: int | None = metadata.get("current-snapshot-id")
    return None if snapshot_id in (None, -1) else snapshot_id


def written(metadata: Attributes) -> bool:
    """Returns True if any snapshot, of any branch, may hold rows."""
    return any(STARTS not in (snapshot.get("summary") or {}) for snapshot in metadata.get("snapshots") or ())


def commits(metadata: Attributes, limit: int | None = None) -> Iterator[Commit]:
    """The newest snapshot of main and its ancestors, as far as they are still there, at most ``limit``."""
    there = {entry["snapshot-id"]: entry for entry in metadata.get("snapshots") or ()}
    at, number = current(metadata), 0
    while at in there and (limit is None or number < limit):
        snapshot = there[at]
        yield _commit(snapshot)
        at, number = snapshot.get("parent-snapshot-id"), number + 1


def abandoned(metadata: Attributes) -> Iterator[Commit]:
    """The snapshots that no branch or tag descends from, staged ones excepted: what was committed there was
    set back.
    """
    there = {snapshot["snapshot-id"]: snapshot for snapshot in metadata.get("snapshots") or ()}
    kept: set[int] = set()
    for head in heads(metadata).values():
        at: int | None = head
        while at is not None and at in there and at not in kept:
            kept.add(at)
            at = there[at].get("parent-snapshot-id")
    for snapshot_id, snapshot in there.items():
        if snapshot_id not in kept and _STAGED not in (snapshot.get("summary") or {}):
            yield _commit(snapshot)


def live(metadata: Attributes) -> TableHistory:
    """The main branch as a stream can read it. A loop of parents, which only damage makes, ends the line."""
    commits_by_id: dict[int, Commit] = {}
    for commit in commits(metadata):
        if commit.id in commits_by_id:
            break
        commits_by_id[commit.id] = commit
    line = tuple(commits_by_id.values())
    snapshots = tuple(
        LiveSnapshot(id=each.id, at_ms=each.at, operation=each.operation, added=each.added, total=each.total)
        for each in line
    )
    cut = bool(line) and line[-1].parent is not None
    return TableHistory(snapshots=snapshots, is_cut=cut or (not line and current(metadata) is not None))


def by_id(metadata: Attributes, snapshot_id: int) -> Commit | None:
    """A snapshot of any branch, None when it is not (or no longer) there."""
    return next(
        (
            _commit(snapshot)
            for snapshot in metadata.get("snapshots") or ()
            if snapshot["snapshot-id"] == snapshot_id
        ),
        None,
    )


def heads(metadata: Attributes) -> dict[str, int]:
    """The snapshot of each branch and tag, by name; main is left out while the table has never been
    written.
    """
    snapshot_ids: dict[str, int] = {
        name: ref["snapshot-id"] for name, ref in (metadata.get("refs") or {}).items()
    }
    head = current(metadata)
    return snapshot_ids if head is None else {MAIN: head, **snapshot_ids}


def described(commit: Commit) -> str:
    """The maker of a snapshot, in words."""
    if commit.query is not None:
        output = f", output {commit.output}" if commit.output else ""
        return f"query {commit.query}, batch {commit.batch}{output}"
    if commit.run is not None:
        return f"run {commit.run}"
    if commit.marks:
        return ", ".join(f"{name} {value}" for name, value in sorted(commit.marks.items()))
    return f"{commit.engine} {commit.app}".strip() or "not known"


def _commit(snapshot: Attributes) -> Commit:
    summary = snapshot.get("summary") or {}
    batch = summary.get(_BATCH, summary.get(_EPOCH))
    return Commit(
        id=snapshot["snapshot-id"],
        parent=snapshot.get("parent-snapshot-id"),
        at=snapshot.get("timestamp-ms") or 0,
        operation=summary.get("operation") or "",
        query=summary.get(_CHECKPOINT) or summary.get(_QUERY),
        batch=_number(batch),
        output=summary.get(_OUTPUT),
        run=summary.get(_RUN),
        engine=summary.get("engine-name") or "",
        app=summary.get("spark.app.id") or summary.get("app-id") or "",
        marks={name: value for name, value in summary.items() if name.startswith(_OWN)},
        added=_number(summary.get("added-records")),
        deleted=_number(summary.get("deleted-records")),
        total=(total := _number(summary.get("total-records"))),
        rows=_live(summary, total),
    )


def _live(summary: Attributes, total: int | None) -> int | None:
    """The rows of data files without those that are deleted by position; what is deleted by equality no
    summary tells.
    """
    positions, equalities = (summary.get(f"total-{kind}-deletes", "0") for kind in ("position", "equality"))
    gone = _number(positions)
    return None if total is None or gone is None or _number(equalities) != 0 else max(total - gone, 0)


def _number(text: object) -> int | None:
    try:
        return int(str(text))
    except ValueError:
        return None
