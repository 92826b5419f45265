"""Moves the states of all workspaces from one place to another: every byte of snapshot and journal, under the
locks of both. Touches both places.

A workspace is copied first and marked as moved in its old place afterwards, so that a command that is killed
in between is finished by running it again. What the old place holds stays readable; its history stays there.
"""

from collections.abc import Callable, Mapping, Sequence

from flareiac.app.state_place.place import StatePlace, moved_to
from flareiac.app.state_place.seen import state_gone
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.kernel.kill_points import reach
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.journal import Moved, encode_entry
from flareiac.model.upgrades import AS_STORED
from flareiac.sdk.state import Lease, LockInfo, Moment, StateStore
from flareiac.state.read import Loaded, understood

_OPERATION = "init -migrate-state"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """The content of a place for one workspace."""

    place: StatePlace
    store: StateStore
    moment: Moment

    @property
    def content(self) -> bytes | None:
        return self.moment.snapshot.content if self.moment.snapshot is not None else None

    @property
    def moved_to(self) -> str | None:
        return moved_to(self.moment.journal)

    @property
    def records(self) -> tuple[bytes, ...]:
        """The journal without the mark of a move."""
        records = self.moment.journal.records
        return records if self.moved_to is None else records[:-1]

    @property
    def is_empty(self) -> bool:
        return self.content is None and not self.moment.journal.records

    def loaded(self) -> Loaded:
        return understood(self.moment, self.store.describe(), str(self.place.root), AS_STORED)

    def begins(self, other: "_Side") -> bool:
        """Returns True if it is an unfinished (or finished) copy of another."""
        return self.content == other.content and self.records == other.records[: len(self.records)]


def migrate(
    source: StatePlace,
    target: StatePlace,
    *,
    seen: Mapping[str, str],
    lock_timeout: float,
    say: Callable[[str], None],
) -> Sequence[str]:
    """Moves every workspace and returns their names; ``seen`` are lineages by workspace that must be among
    them. Raises ``Failure`` where a state would be overwritten
    that is not an older copy of the one that is moved (before anything is written), ``LockHeld``,
    ``Damaged``, ``OSError``.
    """
    names = source.workspaces()
    for name in sorted(seen.keys() - set(names)):
        raise state_gone(source, name, seen[name])
    for name in names:
        _refuse(name, _side(source, source.open(name)), _side(target, target.open(name)))
    for name in names:
        _move(name, source, target, lock_timeout=lock_timeout, say=say)
    return names


def _side(place: StatePlace, store: StateStore) -> _Side:
    return _Side(place=place, store=store, moment=store.read())


def _move(
    name: str, source: StatePlace, target: StatePlace, *, lock_timeout: float, say: Callable[[str], None]
) -> None:
    def waiting(info: LockInfo) -> None:
        say(f"Waiting for the state lock, held by {info.owner} on {info.host} ({info.operation})...")

    old, new = source.open(name), target.open(name)
    leaving = old.lock(_OPERATION, timeout=lock_timeout, on_wait=waiting)
    try:
        entering = new.lock(_OPERATION, timeout=lock_timeout, on_wait=waiting)
        try:
            here, there = _side(source, old), _side(target, new)
            _refuse(name, here, there)
            if here.moved_to is None:
                _copy(here, there, entering)
                reach("migrate.before-mark")
                old.append_journal([encode_entry(Moved(to=str(target)))], leaving)
                reach("migrate.after-mark")
        finally:
            entering.release()
    finally:
        leaving.release()
    say(f"The state of the workspace {name} is in {target}.")


def _copy(here: _Side, there: _Side, lease: Lease) -> None:
    """Makes the new place hold what the old one holds, from wherever a killed copy left off."""
    copied = there.records
    if not there.begins(here) or there.moved_to is not None:
        copied = ()
        if here.content is not None:
            revision = there.moment.snapshot.revision if there.moment.snapshot is not None else None
            there.store.write_snapshot(here.content, expect=revision, lease=lease)
    reach("migrate.after-snapshot")
    there.store.append_journal(here.records[len(copied) :], lease)


def _refuse(name: str, here: _Side, there: _Side) -> None:
    """Refuses a move that would overwrite something else. Raises ``Failure``."""
    if here.moved_to is not None:
        if here.moved_to != str(there.place):
            _fail(
                name,
                f"It was moved from {here.place} to {here.moved_to} before; move it from there: let the "
                "backend block name that place, run flareiac init -reconfigure, then change the block and "
                "run flareiac init -migrate-state.",
            )
        return
    if there.is_empty or (there.begins(here) and (there.content is not None or there.moved_to is None)):
        return
    mine, other = here.loaded().snapshot, there.loaded().snapshot
    where = f"{there.place} holds"
    if mine.lineage != other.lineage:
        _fail(
            name,
            f"{where} another state, {other.lineage}; the one to move is {mine.lineage}. Name a place of its "
            "own (another prefix or schema), or take the other state away first.",
        )
    if other.serial > mine.serial:
        _fail(
            name,
            f"{where} a newer version of it: serial {other.serial}, and the one to move has {mine.serial}. "
            f"Use what is there: {_reconfigure(there.place)}.",
        )
    # The state that a move left behind is an older copy, whatever an interrupted apply has left open in it.
    if there.moved_to is None and (other.serial == mine.serial or there.records):
        _fail(
            name,
            f"{where} a version of serial {other.serial} that was changed there, and the one to move has "
            f"{mine.serial}: one of the two has to go first. Keep the one that is there with "
            f"{_reconfigure(there.place)}, or take it away.",
        )


def _reconfigure(place: StatePlace) -> str:
    return " ".join(filter(None, ("flareiac init", place.given_options(), "-reconfigure")))


def _fail(name: str, why: str) -> None:
    raise Failure(error(codes.MOVE_REFUSED, f"Workspace {name}: {why} Nothing was moved."))
