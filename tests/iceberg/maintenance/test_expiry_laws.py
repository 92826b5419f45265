"""Laws of expiry: whatever the history, the settings and the holders, nothing goes that somebody needs."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from flareiac.sdk.maintenance import Hold
from flareiac_iceberg.maintenance.kinds.snapshot_expiry.expiry_rules import (
    History,
    Ref,
    expiry,
    floors,
    history_data,
    history_of,
)
from flareiac_iceberg.maintenance.kinds.snapshot_expiry.reach import reach
from flareiac_iceberg.maintenance.kinds.snapshot_expiry.settings import SnapshotExpiry

HOUR = 3_600_000
NOW = 2_000 * HOUR


@st.composite
def histories(draw: st.DrawFn) -> History:
    """A main branch whose times mostly grow, forks off it, tags, and snapshots that nothing reaches."""
    times: dict[int, int] = {}
    parents: dict[int, int | None] = {}
    at = draw(st.integers(0, 100)) * HOUR
    for number in range(1, draw(st.integers(1, 14)) + 1):
        at = max(0, at + draw(st.integers(-2, 200)) * HOUR)
        times[number] = min(at, NOW)
        parents[number] = number - 1 if number > 1 else draw(st.sampled_from([None, 999]))
    head = len(times)
    refs = [
        Ref(
            name="main",
            head=head,
            min_snapshots=draw(st.none() | st.integers(1, 4)),
            max_snapshot_age=draw(ages()),
        )
    ]
    for name in ("b1", "b2"):
        if draw(st.booleans()):
            start, length = draw(st.integers(1, head)), draw(st.integers(0, 3))
            last = start
            for _ in range(length):
                new = len(times) + 1
                times[new] = min(times[last] + draw(st.integers(0, 50)) * HOUR, NOW)
                parents[new], last = last, new
            refs.append(Ref(name=name, head=last, max_snapshot_age=draw(ages()), max_ref_age=draw(ages())))
    if draw(st.booleans()):
        refs.append(
            Ref(
                name="t", head=draw(st.sampled_from(sorted(times))), is_branch=False, max_ref_age=draw(ages())
            )
        )
    for _ in range(draw(st.integers(0, 2))):
        new = len(times) + 1
        times[new], parents[new] = (
            draw(st.integers(0, 2000)) * HOUR,
            draw(st.none() | st.sampled_from(sorted(times))),
        )
    return History(times=times, parents=parents, refs=tuple(refs))


def ages() -> st.SearchStrategy[int | None]:
    return st.none() | st.integers(0, 2000).map(lambda hours: hours * HOUR)


@st.composite
def cases(draw: st.DrawFn) -> tuple[History, SnapshotExpiry, tuple[Hold, ...]]:
    history = draw(histories())
    wanted = SnapshotExpiry(older_than=draw(st.integers(0, 2000)) * HOUR, retain_last=draw(st.integers(1, 5)))
    holds = draw(
        st.lists(
            st.builds(
                Hold,
                subject=st.just("table.t"),
                holder=st.sampled_from(["job.a", "job.b"]),
                reason=st.just("it reads on from there"),
                snapshots=st.lists(st.sampled_from([*history.times, 12345]), max_size=2).map(tuple),
                since_ms=st.none() | st.integers(0, 2000).map(lambda hours: hours * HOUR),
                moved_ms=st.none() | st.integers(0, 2000).map(lambda hours: hours * HOUR),
                unknown=st.sampled_from([False] * 5 + [True]),
            ),
            max_size=3,
        )
    )
    return history, wanted, tuple(holds)


@settings(max_examples=150, deadline=None)
@given(cases())
def test_nothing_goes_that_is_needed(case: tuple[History, SnapshotExpiry, tuple[Hold, ...]]) -> None:
    history, wanted, holds = case
    found = reach(history, wanted, holds, NOW)
    gone = found.expiry.snapshots
    assert gone <= set(history.times)
    for hold in holds:
        assert not gone & set(hold.snapshots)
        assert not gone & {step for item in hold.snapshots for step in way(history, item)}
        if hold.since_ms is not None:
            assert not {item for item in gone if history.times[item] >= hold.since_ms}
        assert found.blocked or set(hold.snapshots) & set(history.times) <= set(found.needed)
        if hold.unknown:
            assert not gone
            assert not found.expiry.refs
    kept = [ref for ref in history.refs if ref.name not in found.expiry.refs]
    assert not gone & {ref.head for ref in kept}
    assert "main" not in found.expiry.refs
    for ref in kept:
        line = list(history.line(ref.head)) if ref.is_branch else []
        stays = [item not in gone for item in line]
        assert all(earlier or not later for earlier, later in pairwise(stays)) or _on_other(history, ref.name)
        least = wanted.retain_last if ref.min_snapshots is None else ref.min_snapshots
        assert all(stays[:least])


def _on_other(history: History, name: str) -> bool:
    """Another branch or tag may keep a snapshot in the middle of a line."""
    return any(ref.name != name for ref in history.refs)


def way(history: History, item: int) -> list[int]:
    """The snapshots that a stream passes from the head of main back to a snapshot."""
    line = list(history.line(history.refs[0].head))
    return line[: line.index(item)] if item in line else []


@settings(max_examples=150, deadline=None)
@given(cases())
def test_holders_only_ever_keep_more(case: tuple[History, SnapshotExpiry, tuple[Hold, ...]]) -> None:
    history, wanted, holds = case
    alone, held = reach(history, wanted, (), NOW), reach(history, wanted, holds, NOW)
    assert held.expiry.snapshots <= alone.expiry.snapshots
    assert held.cutoff <= alone.cutoff == NOW - wanted.older_than


@settings(max_examples=150, deadline=None)
@given(histories())
def test_a_history_survives_its_data(history: History) -> None:
    assert history_of(history_data(history)) == history


@settings(max_examples=100, deadline=None)
@given(histories(), st.data())
def test_a_snapshot_stays_below_its_floor(history: History, data: st.DataObject) -> None:
    plain = History(
        times=history.times,
        parents=history.parents,
        refs=tuple(Ref(name=r.name, head=r.head) for r in history.refs),
    )
    item = data.draw(st.sampled_from(sorted(plain.times)))
    assert item not in expiry(plain, cutoff=floors(plain)[item], retain_last=1, now=NOW).snapshots


def chain(*hours: int, **more: Any) -> History:
    """Snapshots 1, 2, ... of main, so many hours before now."""
    times = {number: NOW - hour * HOUR for number, hour in enumerate(hours, 1)}
    parents = {number: number - 1 if number > 1 else None for number in times}
    return History(times=times, parents=parents, refs=(Ref(name="main", head=len(times), **more),))


WANTED = SnapshotExpiry(older_than=24 * HOUR, hold_readers_for=48 * HOUR)


def test_a_reader_keeps_its_snapshot_and_all_after_it() -> None:
    history = chain(100, 90, 80, 70, 1)
    hold = Hold(
        subject="table.t",
        holder="job.r",
        reason="it reads on from snapshot 3",
        snapshots=(3,),
        moved_ms=NOW - 30 * HOUR,
    )
    found = reach(history, WANTED, (hold,), NOW)
    assert found.expiry.snapshots == {1, 2}
    assert found.needed == (3,)
    assert found.cutoff == history.times[3]
    assert found.held == (
        (
            f"job.r: it reads on from snapshot 3, so what was committed since {_at(history.times[3])} stays; "
            "it last moved 30h ago"
        ),
    )
    assert not found.diagnostics


def test_a_reader_that_stands_still_for_too_long_is_warned_about_and_keeps_all_the_same() -> None:
    hold = Hold(
        subject="table.t",
        holder="job.r",
        reason="it reads on from snapshot 1",
        snapshots=(1,),
        moved_ms=NOW - 100 * HOUR,
    )
    found = reach(chain(100, 90, 1), WANTED, (hold,), NOW)
    assert not found.expiry.snapshots
    assert [item.code for item in found.diagnostics] == ["FII151"]
    assert "job.r has not moved for 4d" in found.diagnostics[0].detail


def test_a_holder_that_asks_for_less_than_the_settings_keep_is_not_named() -> None:
    hold = Hold(
        subject="table.t", holder="job.r", reason="it reads on", snapshots=(3,), moved_ms=NOW - 100 * HOUR
    )
    found = reach(chain(100, 90, 1), WANTED, (hold,), NOW)
    assert found.expiry.snapshots == {1, 2}
    assert not found.held
    assert not found.diagnostics


def test_a_batch_at_work_keeps_the_way_back_to_its_beginning_also_where_clocks_went_backwards() -> None:
    history = chain(100, 60, 70, 50, 1)
    hold = Hold(
        subject="table.t", holder="job.w", reason="batch 7 is not committed", since_ms=NOW - 65 * HOUR
    )
    found = reach(history, WANTED, (hold,), NOW)
    assert found.expiry.snapshots == {1}


def test_a_snapshot_that_is_gone_can_not_be_kept_and_is_told() -> None:
    hold = Hold(subject="table.t", holder="job.r", reason="it reads on", snapshots=(77,))
    found = reach(chain(100, 1), WANTED, (hold,), NOW)
    assert found.expiry.snapshots == {1}
    assert [item.code for item in found.diagnostics] == ["FII152"]


def test_a_branch_with_an_age_of_its_own_never_takes_what_is_needed() -> None:
    hold = Hold(subject="table.t", holder="job.r", reason="it reads on", snapshots=(2,), moved_ms=NOW)
    found = reach(chain(100, 90, 1, max_snapshot_age=10 * HOUR), WANTED, (hold,), NOW)
    assert not found.expiry.snapshots
    assert found.blocked
    assert [item.code for item in found.diagnostics] == ["FII153"]


def test_a_tag_that_keeps_a_readers_snapshot_does_not_keep_the_way_to_it() -> None:
    hold = Hold(subject="table.t", holder="job.r", reason="it reads on", snapshots=(2,), moved_ms=NOW)
    aged = chain(100, 90, 80, 70, 1, max_snapshot_age=48 * HOUR)
    tagged = replace(aged, refs=(*aged.refs, Ref(name="t", head=2, is_branch=False)))
    found = reach(tagged, WANTED, (hold,), NOW)
    assert not found.expiry.snapshots
    assert [item.code for item in found.diagnostics] == ["FII153"]


def test_what_another_day_would_take_of_the_way_is_named_for_a_second_look() -> None:
    hold = Hold(subject="table.t", holder="job.r", reason="it reads on", snapshots=(2,), moved_ms=NOW)
    found = reach(chain(100, 47, 40, 1, max_snapshot_age=48 * HOUR), WANTED, (hold,), NOW)
    assert found.expiry.snapshots == {1}
    assert found.needed == (2, 3)


def _at(ms: int) -> str:
    from flareiac_iceberg.maintenance.humanize import moment

    return moment(ms)
