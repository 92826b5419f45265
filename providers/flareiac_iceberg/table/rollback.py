"""Finds the earlier state of a table that is meant, and the one commit that restores it. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.lakehouse import EarlierState
from flareiac_iceberg import codes
from flareiac_iceberg.format.snapshots import MAIN, Commit, by_id, commits, described, heads
from flareiac_iceberg.maintenance.humanize import count
from flareiac_iceberg_runtime.civil_time import time_text

HELD_MS: Final = 7 * 24 * 60 * 60 * 1000
"""The time for which a tag keeps the snapshots that were left behind from being expired."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackPreview:
    """``texts`` say what happens; ``payload`` is what ``restore`` needs to do exactly that. ``there``: it
    stands there already.
    """

    texts: tuple[str, ...]
    payload: Data
    there: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Return:
    """``branch`` goes from ``head`` (None: it is empty) to ``target``."""

    branch: str
    head: int | None
    target: Commit

    @property
    def tag(self) -> str:
        """The name under which the head that is left stays reachable."""
        return f"flareiac-before-rollback-{self.head}"


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRow:
    """One snapshot as ``table snapshots`` shows it: ``at`` in ms since 1970, ``writer`` in words, counts of
    rows (None where not known), ``names`` of tags and branches.
    """

    id: int
    at: int
    operation: str
    writer: str
    added: int | None
    deleted: int | None
    total: int | None
    current: bool
    names: tuple[str, ...]


def rows(metadata: Attributes) -> list[HistoryRow]:
    """The states of main and of what has a name, newest first."""
    names: dict[int, list[str]] = {}
    for name, snapshot in sorted(heads(metadata).items()):
        names.setdefault(snapshot, []).append(name)
    states = {commit.id: commit for commit in commits(metadata)}
    for snapshot in names:
        held = by_id(metadata, snapshot)
        if held is not None:
            states.setdefault(snapshot, held)
    head = heads(metadata).get(MAIN)
    return [
        HistoryRow(
            id=commit.id,
            at=commit.at,
            operation=commit.operation,
            writer=described(commit),
            added=commit.added,
            deleted=commit.deleted,
            total=commit.rows,
            current=commit.id == head,
            names=tuple(names.get(commit.id, ())),
        )
        for commit in sorted(states.values(), key=lambda state: state.at, reverse=True)
    ]


def way_back(metadata: Attributes, table: str, to: int | None, known: Sequence[EarlierState]) -> Return:
    """The named state, or the newest of those that were recorded. Raises ``Failure`` with the reason why
    there is none.
    """
    if to is not None:
        target = by_id(metadata, to)
        if target is None:
            raise Failure(_gone(table, [to]))
        return _return(metadata, MAIN, target)
    if not known:
        raise Failure(_nothing_recorded(table))
    there = [
        (snapshot, state)
        for state in known
        if state.snapshot_id is not None and (snapshot := by_id(metadata, state.snapshot_id))
    ]
    if not there:
        lost = [state.snapshot_id for state in known if state.snapshot_id is not None]
        raise Failure(_gone(table, lost) if lost else _was_empty(table, known))
    target, chosen = max(there, key=lambda pair: pair[0].at)
    return _return(metadata, chosen.branch or MAIN, target)


def _return(metadata: Attributes, branch: str, target: Commit) -> Return:
    return Return(branch=branch, head=heads(metadata).get(branch), target=target)


def updates(metadata: Attributes, way: Return, *, now: float) -> list[Attributes]:
    """The changes of one commit: the branch points to the target, and what it pointed to keeps a name for
    seven days. ``now`` in s.
    """
    before = (metadata.get("refs") or {}).get(way.branch) or {}
    kept = {name: value for name, value in before.items() if name not in ("snapshot-id", "type")}
    move = {
        "action": "set-snapshot-ref",
        "ref-name": way.branch,
        "type": "branch",
        "snapshot-id": way.target.id,
        **kept,
    }
    if way.head is None:
        return [move]
    held = by_id(metadata, way.head)
    # Iceberg counts a tag's age from the time of its snapshot
    age = max(0, int(now * 1000) - held.at) if held is not None else 0
    tag = {
        "action": "set-snapshot-ref",
        "ref-name": way.tag,
        "type": "tag",
        "snapshot-id": way.head,
        "max-ref-age-ms": age + HELD_MS,
    }
    return [tag, move]


def requirements(metadata: Attributes, way: Return) -> list[Attributes]:
    """It is this table, and there was no commit since it was looked at."""
    return [
        {"type": "assert-table-uuid", "uuid": metadata["table-uuid"]},
        {"type": "assert-ref-snapshot-id", "ref": way.branch, "snapshot-id": way.head},
    ]


def encode_way(way: Return) -> Data:
    """The way as plain data."""
    return {"branch": way.branch, "head": way.head, "to": way.target.id}


def decode_way(metadata: Attributes, table: str, data: Data) -> Return:
    """The inverse of ``encode_way``. Raises ``Failure`` when the snapshot is gone."""
    target = by_id(metadata, data["to"])
    if target is None:
        raise Failure(_gone(table, [data["to"]]))
    return Return(branch=data["branch"], head=data["head"], target=target)


def stands(metadata: Attributes, way: Return) -> bool:
    """Returns True if the branch is at the target."""
    return is_back(metadata, encode_way(way))


def is_back(metadata: Attributes, data: Data) -> bool:
    """The same of an encoded way."""
    return bool(heads(metadata).get(data["branch"]) == data["to"])


def preview(address: str, metadata: Attributes, way: Return) -> Iterator[str]:
    """The description of a rollback before it is done."""
    of = "" if way.branch == MAIN else f" (branch {way.branch})"
    yield (
        f"{address}{of} goes back to snapshot {way.target.id} of {moment(way.target.at)}, made by "
        f"{described(way.target)}{_rows(way.target)}"
    )
    if way.head is None:
        return
    count, now = len(_undone(metadata, way)), by_id(metadata, way.head)
    what = (
        f"the {count} snapshots after it are"
        if count > 1
        else "the snapshot after it is"
        if count
        else "what is there now is"
    )
    yield (
        f"{what} no longer part of the table{_rows(now) if now else ''}; {way.head} is kept for 7 days "
        f"as tag {way.tag}"
    )


def _undone(metadata: Attributes, way: Return) -> list[int]:
    """The snapshots from the head down to the target, if the target is an ancestor."""
    parents = {
        snapshot["snapshot-id"]: snapshot.get("parent-snapshot-id")
        for snapshot in metadata.get("snapshots") or ()
    }
    snapshot_ids: list[int] = []
    at = way.head
    while at is not None and at in parents and at != way.target.id:
        snapshot_ids.append(at)
        at = parents[at]
    return snapshot_ids if at == way.target.id else []


def _rows(commit: Commit) -> str:
    return "" if commit.rows is None else f", with {count(commit.rows, 'row')}"


def messages(address: str, way: Return) -> Iterator[str]:
    """The description of a rollback that was done, and of the way to undo it."""
    of = "" if way.branch == MAIN else f" (branch {way.branch})"
    yield (
        f"{address}{of} stands at snapshot {way.target.id} of {moment(way.target.at)} "
        f"again{_rows(way.target)}"
    )
    if way.head is not None:
        yield f"what it had until now is snapshot {way.head}, kept for 7 days as tag {way.tag}"
        if way.branch == MAIN:
            yield f"to undo this: flareiac table rollback {address} -to={way.head}"


def moment(at: int) -> str:
    """Milliseconds since 1970, with the time zone."""
    return f"{clock(at)} UTC"


def clock(at: int) -> str:
    """Milliseconds since 1970 as date and time in UTC."""
    return time_text(at)


def _nothing_recorded(table: str) -> Diagnostic:
    return error(
        codes.NO_STATE_RECORDED,
        'FlareIaC records one before it empties a table (rebuild = "truncate"), and has not done so with '
        f"{table}. flareiac table snapshots ADDRESS lists the snapshots that exist; name one with -to=ID.",
    )


def _gone(table: str, lost: Sequence[int]) -> Diagnostic:
    return error(
        codes.NO_SUCH_SNAPSHOT,
        f"{table} no longer has snapshot {' or '.join(map(str, lost))}: it was expired, or it belonged to "
        "another table of this name. Nothing was changed. flareiac table snapshots ADDRESS lists those "
        "that exist.",
    )


def _was_empty(table: str, known: Sequence[EarlierState]) -> Diagnostic:
    return error(
        codes.WAS_EMPTY,
        f"{table} had no rows before it was emptied ({', '.join(state.noted_by for state in known)}). "
        "Nothing was changed.",
    )
