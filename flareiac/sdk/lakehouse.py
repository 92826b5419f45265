"""Facts for a provider about a table that another provider manages: who wrote it, how much of what was
appended to it can still be read, and what it held before it was emptied. Pure.

A stream of a table reads what its live snapshots added, one by one. Rows of snapshots that expired, or that a
rewrite moved to other files, are in the table, and no stream begins with them.
"""

from collections.abc import Mapping
from dataclasses import field

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import decode

APPEND = "append"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryCommits:
    """The commits of a streaming query: its newest batch, by output where its snapshots say so, and when the
    newest snapshot was made (ms since 1970, UTC).
    """

    epoch: int | None = None
    at: int = 0
    outputs: Mapping[str, int] = field(default_factory=dict)

    def batch_of(self, output: str) -> int | None:
        """The newest batch of one output."""
        return self.outputs.get(output, self.epoch)


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoneBatches:
    """Batches of a query that a rollback has taken out of the table, and their rows."""

    first: int
    last: int
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignCommits:
    """Commits that carry no mark at all, by engine, application and operation; ``at`` and ``snapshot_id`` are
    the newest one's.
    """

    engine: str = ""
    app: str = ""
    operation: str = ""
    count: int = 1
    at: int = 0
    snapshot_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableWriters:
    """The recent writers of a table. Times are ms since 1970, UTC.

    ``since`` is the time of the newest snapshot when the table was last recorded, ``at`` of the newest one
    now: what is later than ``since`` is news. ``complete``: no older snapshot was left out. ``runs`` are
    batch runs by id. ``undone`` are batches later than those of main whose snapshots no branch or tag
    descends from: the table was rolled back under their query.
    """

    since: int | None = None
    at: int | None = None
    complete: bool = True
    queries: Mapping[str, QueryCommits] = field(default_factory=dict)
    runs: Mapping[str, int] = field(default_factory=dict)
    others: tuple[ForeignCommits, ...] = ()
    undone: Mapping[str, UndoneBatches] = field(default_factory=dict)

    def is_news(self, at: int) -> bool:
        """Returns True if a commit at this time (ms since 1970, UTC) is later than what was recorded."""
        return at > (self.since or 0)


def writers_of(identity: Attributes) -> TableWriters:
    """The writers in a table's identity; none where they are not known."""
    return decode(TableWriters, identity.get("writers") or {})


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSnapshot:
    """One snapshot that is there. ``at_ms`` since 1970, UTC; ``added`` and ``total`` are rows, None where its
    writer did not say.
    """

    id: int
    at_ms: int
    operation: str
    added: int | None = None
    total: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unstreamable:
    """Rows that no live snapshot added. ``rows`` None: some, or some may be; ``of`` is how many the table has
    now, None where unknown.
    """

    rows: int | None
    of: int | None

    @property
    def text(self) -> str:
        """The count in words: ``8 of 15 rows``."""
        if self.rows is None:
            return "rows"
        return (
            f"{self.rows:,} rows"
            if self.of is None or self.of < self.rows
            else f"{self.rows:,} of {self.of:,} rows"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TableHistory:
    """The current snapshot of a table and its ancestors as far as they are there, newest first; none for a
    table without rows.

    ``is_cut``: the oldest of them has a parent, which is gone (or the current one itself is).
    """

    snapshots: tuple[LiveSnapshot, ...] = ()
    is_cut: bool = False

    @property
    def newest(self) -> LiveSnapshot | None:
        """The current snapshot."""
        return self.snapshots[0] if self.snapshots else None

    @property
    def oldest(self) -> LiveSnapshot | None:
        """The snapshot at which a stream from the start begins."""
        return self.snapshots[-1] if self.snapshots else None

    def has(self, snapshot: int) -> bool:
        """Returns True if a stream can continue after this snapshot: it exists, and the current one descends
        from it.
        """
        return any(known.id == snapshot for known in self.snapshots)

    @property
    def unstreamable(self) -> Unstreamable | None:
        """The rows that a stream from the start misses; None where every row of the table is among those that
        live snapshots added.
        """
        oldest, newest = self.oldest, self.newest
        if oldest is None or newest is None:
            return Unstreamable(rows=None, of=None) if self.is_cut else None
        if oldest.total is None:
            return Unstreamable(rows=None, of=newest.total)
        # Iceberg leaves out a count of 0. A missing parent says less than the counts: some writers cut it off
        # when they expire.
        missing = oldest.total - (oldest.added or 0 if oldest.operation == APPEND else 0)
        return Unstreamable(rows=missing, of=newest.total) if missing > 0 else None

    def unstreamable_since(self, at_ms: int) -> Unstreamable | None:
        """Returns the rows that a stream misses which begins with what was committed at this time (ms since
        1970, UTC); None where it misses none.
        """
        oldest = self.oldest
        return self.unstreamable if oldest is None or at_ms < oldest.at_ms else None


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierState:
    """The state of ``subject`` (an address) that a resource noted before it emptied it.

    ``snapshot_id``: None where it was empty already. ``branch``: None for the main one. ``noted_by`` says who
    and for what, in words.
    """

    subject: str
    noted_by: str
    snapshot_id: int | None = None
    branch: str | None = None
