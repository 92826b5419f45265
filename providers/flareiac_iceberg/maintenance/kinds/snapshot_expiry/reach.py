"""Decides how far an expiry may go, and names the readers that hold it back. Pure.

No snapshot that someone needs is ever removed: the cutoff goes down to the least time on the way to it, and
whatever cutoff that gives is tried against Iceberg's own rules before it is used.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from flareiac.kernel.diagnostics import Diagnostic, warning
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.maintenance import Hold
from flareiac_iceberg import codes
from flareiac_iceberg.maintenance.humanize import count, duration, moment
from flareiac_iceberg.maintenance.kinds.snapshot_expiry.expiry_rules import (
    MAIN,
    Expiry,
    History,
    expiry,
    floors,
)
from flareiac_iceberg.maintenance.kinds.snapshot_expiry.settings import SnapshotExpiry


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """The snapshots that one holder keeps: the latest cutoff (ms since 1970) that leaves it all it needs, and
    the snapshots it needs.

    Those are not only the ones that it names: no one gets from the head of a branch back to a snapshot if one
    in between is gone.
    """

    hold: Hold
    cutoff: int
    needed: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The reach of an expiry. ``wanted`` is the cutoff of the settings alone; ``blocked`` gives the reason
    that nothing can go at all.

    ``needed``: the snapshots that must exist still when it is done, of all that holders name or that another
    day would let go.
    """

    wanted: int
    cutoff: int
    expiry: Expiry
    held: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    blocked: str = ""
    needed: tuple[int, ...] = ()


def floor_of(hold: Hold, history: History, safe: dict[int, int]) -> Floor | None:
    """The floor that a hold sets with the snapshots that still exist; None where it keeps none. ``safe``: see
    ``floors``.
    """
    branches = [ref for ref in history.refs if ref.is_branch]
    main = [ref for ref in branches if ref.name == MAIN]  # what streams read
    needed = {snapshot for snapshot in hold.snapshots if snapshot in history.times}
    cutoffs = [safe[snapshot_id] for snapshot_id in needed]
    needed |= {
        step
        for snapshot_id in needed
        for step in history.above({snapshot_id}, main) or history.above({snapshot_id}, branches)
    }
    if hold.since_ms is not None:
        later = {time for time, at in history.times.items() if at >= hold.since_ms}
        needed |= later | history.above(later, branches)
        cutoffs += [hold.since_ms, *(safe[snapshot_id] for snapshot_id in later)]
    return Floor(hold=hold, cutoff=min(cutoffs), needed=frozenset(needed)) if cutoffs else None


def reach(history: History, settings: SnapshotExpiry, holds: Sequence[Hold], now: int) -> Reach:
    """The furthest that an expiry may go now."""
    safe = floors(history)
    floors_of_holds = (floor_of(hold, history, safe) for hold in holds if not hold.unknown)
    known = [floor for floor in floors_of_holds if floor is not None]
    wanted = now - settings.older_than
    cutoff = min([wanted, *(floor.cutoff for floor in known)])
    alone = expiry(history, cutoff=wanted, retain_last=settings.retain_last, now=now)
    allowed = expiry(history, cutoff=cutoff, retain_last=settings.retain_last, now=now)
    braking = [floor for floor in known if floor.cutoff < wanted and floor.needed & alone.snapshots]
    texts = (*_lost(holds, history), *_overdue(braking, alone, settings, now))
    held = tuple(_held(floor, now) for floor in braking)
    unknown = [hold for hold in holds if hold.unknown]
    if unknown:
        why = f"it is not known which snapshots {unknown[0].holder} needs: {unknown[0].reason}"
        return Reach(
            wanted=wanted,
            cutoff=cutoff,
            expiry=_NOTHING,
            held=(*held, *map(_unknown, unknown)),
            diagnostics=texts,
            blocked=why,
        )
    broken = [floor for floor in known if floor.needed & allowed.snapshots]
    if broken:
        texts = (*texts, *(_branch_rules(floor) for floor in broken))
        why = f"{broken[0].hold.holder} needs one that the own retention of its branch gives up"
        return Reach(wanted=wanted, cutoff=cutoff, expiry=_NOTHING, held=held, diagnostics=texts, blocked=why)
    soon = expiry(history, cutoff=cutoff, retain_last=settings.retain_last, now=now + _DAY_MS)
    needed = {
        snapshot_id
        for floor in known
        for snapshot_id in floor.needed & (soon.snapshots | frozenset(floor.hold.snapshots))
    }
    return Reach(
        wanted=wanted,
        cutoff=cutoff,
        expiry=allowed,
        held=held,
        diagnostics=texts,
        needed=tuple(sorted(needed)),
    )


_DAY_MS: Final = 86_400_000
_NOTHING = Expiry(snapshots=frozenset(), refs=())


def _held(floor: Floor, now: int) -> str:
    hold = floor.hold
    rest = "" if hold.moved_ms is None else f"; it last moved {duration(now - hold.moved_ms)} ago"
    return f"{hold.holder}: {hold.reason}, so what was committed since {moment(floor.cutoff)} stays{rest}"


def _unknown(hold: Hold) -> str:
    return f"{hold.holder}: {hold.reason}, so everything stays"


def _overdue(
    braking: Iterable[Floor], alone: Expiry, settings: SnapshotExpiry, now: int
) -> Iterable[Diagnostic]:
    for floor in braking:
        if floor.hold.fixed:
            continue  # an age that was declared moves on by itself
        since = floor.hold.moved_ms if floor.hold.moved_ms is not None else floor.cutoff
        if now - since <= settings.hold_readers_for:
            continue
        yield warning(
            codes.READER_STANDS_STILL,
            f"{floor.hold.holder} has not moved for {duration(now - since)}. "
            f"{floor.hold.reason[:1].upper()}{floor.hold.reason[1:]}: "
            f"{count(len(alone.snapshots), 'snapshot')} would be old enough to go, but those committed "
            f"since {moment(floor.cutoff)} stay, and their files with them.{_release(floor.hold)} If it is "
            "to wait longer, raise snapshot_expiry.hold_readers_for.",
        )


def _release(hold: Hold) -> str:
    """The holder's own instructions for a release, as a sentence."""
    return f" {hold.release[:1].upper()}{hold.release[1:]}." if hold.release else ""


def _lost(holds: Iterable[Hold], history: History) -> Iterable[Diagnostic]:
    for hold in holds:
        gone = [snapshot for snapshot in hold.snapshots if snapshot not in history.times]
        if gone:
            yield warning(
                codes.NEEDED_SNAPSHOT_GONE,
                f"{hold.holder}: {hold.reason}, and the table no longer has snapshot {gone[0]}, so it "
                f"cannot be kept. {hold.holder} needs a new generation of its checkpoint to go on.",
            )


def _branch_rules(floor: Floor) -> Diagnostic:
    return warning(
        codes.BRANCH_OVERRIDES_HOLD,
        "A branch of the table has an age of its own for its snapshots (max-snapshot-age-ms), which counts "
        f"for it instead of a cutoff: snapshots that {floor.hold.holder} needs ({floor.hold.reason}) would "
        f"go, so nothing is expired. Raise the retention of the branch, or let {floor.hold.holder} catch up.",
    )
