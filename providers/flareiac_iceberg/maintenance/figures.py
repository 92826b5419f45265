"""The figures of a table that decide about its maintenance: what measuring says and deciding reads. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.table_tasks import OPERATION


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """From the newest snapshot's summary; None where it does not say."""

    files: int | None = 0
    bytes: int | None = 0
    delete_files: int | None = 0
    rows: int | None = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallFiles:
    """So many data files are small of those that were looked at; None where they were not. ``at_ms``: when,
    None: now.
    """

    small: int | None = None
    files: int | None = None
    at_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderPosition:
    """The position of a reader's checkpoint: ids of snapshots and the time at which it moved (ms since 1970),
    or the reason that it is not known.
    """

    ids: tuple[int, ...] = ()
    moved_ms: int | None = None
    trouble: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """``places``: folders outside of a table's location that it writes to, or has metadata or live files in.
    ``files``: so many live data and delete files are not below the location.
    """

    places: tuple[str, ...]
    files: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """An operation of ours in a table: its id, and the time (ms since 1970) of its commit."""

    id: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The measured figures of a table.

    ``collects``: gc.enabled. ``measured_ms``: the time at which the files were looked at, which may be the
    last time, with these ``settings``. ``ids``: a digest of all snapshots' ids. ``marks``: by maintenance
    task, the newest of our operations among the current snapshot and its ancestors. ``kinds``: the figures of
    each kind that is declared, as the record of its own. ``made_ms``: the time at which the table was made,
    as long as its metadata still has it. ``entries``: other names of this very table in catalogs, looked for
    where files of expired snapshots are to be deleted; ``entries_unknown``: the reason that they are unknown.
    ``outside``: the files that are not below the location, counted where a kind looks nowhere else and
    metadata names such a place.
    """

    uuid: str
    location: str
    metadata_location: str
    snapshot_id: int | None
    format_version: int
    sorted: bool
    collects: bool
    measured_ms: int
    settings: str
    totals: Totals
    ids: str
    spec_ids: tuple[int, ...] = ()
    not_in_spark: tuple[str, ...] = ()
    marks: Mapping[str, Mark] = field(default_factory=dict)
    made_ms: int | None = None
    place: str = ""
    entries: tuple[str, ...] = ()
    entries_unknown: str = ""
    outside: Outside | None = None
    readers: Mapping[str, ReaderPosition] = field(default_factory=dict)
    kinds: Mapping[str, Any] = field(default_factory=dict)


def number(summary: Mapping[str, object], name: str) -> int | None:
    """A count of a snapshot's summary, None where it is missing or no number."""
    try:
        return int(str(summary[name]))
    except (KeyError, ValueError):
        return None


def marks(snapshots: Iterable[Attributes], current: int | None) -> dict[str, Mark]:
    """By maintenance task, the newest operation of ours on the way to the current snapshot."""
    by_task: dict[str, Mark] = {}
    by_id = {snapshot["snapshot-id"]: snapshot for snapshot in snapshots}
    at, left = current, len(by_id)
    while at in by_id and left:
        commit, left = by_id[at], left - 1
        key = (commit.get("summary") or {}).get(OPERATION)
        if isinstance(key, str):
            by_task.setdefault(key.partition("-")[0], Mark(id=key, at=commit.get("timestamp-ms") or 0))
        at = commit.get("parent-snapshot-id")
    return by_task
