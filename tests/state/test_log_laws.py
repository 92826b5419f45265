"""Laws of the protocol of remote states, on a place in memory: what each operation asks, what lost answers
and damage do, and that no host's clock matters.
"""

import itertools
import threading
import time
from collections.abc import Callable

import pytest

from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.state import Damaged, LockHeld, LockLost, StateStore, StateUnreachable
from flareiac_state.log_record import decode_record
from flareiac_state.log_store import LogStore
from tests.state.conformance import ignore_wait
from tests.state.fake_log import FakeLog, FakePlace, fake_store


def _requests(log: FakeLog, act: Callable[[], object]) -> dict[str, int]:
    log.requests.clear()
    act()
    return dict(log.requests)


def _grown(records: int, snapshots: int) -> FakePlace:
    """A state with some snapshots, and a journal that a killed command left behind."""
    place = FakePlace()
    store = fake_store(FakeLog(place))
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    revision = None
    for number in range(snapshots):
        revision = store.write_snapshot(b"snapshot %d" % number, expect=revision, lease=lease)
    for number in range(records):
        store.append_journal([b"record %d" % number], lease)
    lease.release()
    return place


@pytest.mark.parametrize(("records", "snapshots"), [(0, 1), (300, 1), (0, 60), (300, 60)])
def test_every_operation_asks_the_same_number_of_requests_at_any_length(records: int, snapshots: int) -> None:
    log = FakeLog(_grown(records, snapshots))
    store = fake_store(log)
    known = store.read_snapshot()
    assert known is not None
    held = []
    assert _requests(
        log, lambda: held.append(fake_store(log).lock("apply", timeout=0, on_wait=ignore_wait))
    ) == {
        "newest": 1,
        "read": 1,
        "append": 1,
    }
    (lease,) = held
    assert _requests(log, lease.check) == {}
    assert _requests(log, lambda: store.append_journal([b"one"], lease)) == {"append": 1}
    assert _requests(log, lambda: store.check_writable(lease)) == {"newest": 1}
    assert _requests(log, lambda: fake_store(log).lock_info()) == {"newest": 1, "read": 1}
    assert _requests(log, lambda: fake_store(log).history()) == {"newest": 1, "read": 1}
    assert _requests(log, lambda: store.write_snapshot(b"x", expect=known.revision, lease=lease)) == {
        "append": 1,
        "collect": 1,
    }
    assert _requests(log, lambda: fake_store(log).read()) == {"newest": 1, "read": 1}
    assert _requests(log, lease.release) == {"append": 1}
    assert _requests(log, lambda: fake_store(log).read()) == {"newest": 1, "read": 2}


def test_what_no_one_needs_is_collected_after_a_while_and_the_history_stays() -> None:
    place = _grown(300, 60)
    place.now += 3600.0
    store = fake_store(FakeLog(place))
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    moment = store.read()
    assert moment.snapshot is not None
    assert len(moment.journal.records) == 300
    store.write_snapshot(b"new", expect=moment.snapshot.revision, lease=lease)
    lease.release()
    kept = store.history()
    assert [store.read_history(item.name) for item in kept] == [b"snapshot %d" % n for n in range(59, 39, -1)]
    assert len(place.records) <= 20 + 3


@pytest.mark.parametrize("kind", ["take", "journal", "snapshot", "release"])
def test_a_client_that_meets_its_own_write_goes_on(kind: str) -> None:
    """Its first request was carried out and the answer lost; it repeated the request, and was refused."""
    place = FakePlace()
    log = FakeLog(place)
    order = ["take", "journal", "snapshot", "release"]
    plain = log.append

    def repeated(number: int, content: bytes) -> float | None:
        if number == 1 + order.index(kind):
            plain(number, content)
        return plain(number, content)

    log.append = repeated  # type: ignore[method-assign]
    store = fake_store(log)
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    store.append_journal([b"one"], lease)
    store.write_snapshot(b"1", expect=None, lease=lease)
    lease.release()
    assert sorted(place.records) == [1, 2, 3, 4]
    moment = store.read()
    assert moment.snapshot is not None
    assert (moment.snapshot.content, moment.journal.records) == (b"1", ())
    assert store.lock_info() is None


@pytest.mark.parametrize("is_carried_out", [True, False])
def test_after_an_append_of_unknown_outcome_nothing_acknowledged_is_lost_or_doubled(
    is_carried_out: bool,
) -> None:
    place = FakePlace()
    log = FakeLog(place)

    def fail(request: str, number: int) -> None:
        if number in (3, 5):
            raise StateUnreachable("the connection was lost")

    store = fake_store(log)
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    store.append_journal([b"a"], lease)
    setattr(log, "after" if is_carried_out else "before", fail)
    with pytest.raises(StateUnreachable):
        store.append_journal([b"b", b"c"], lease)
    log.before = log.after = lambda _request, _number: None
    store.append_journal([b"d"], lease)
    assert store.read_journal().records == ((b"a", b"b", b"c", b"d") if is_carried_out else (b"a", b"d"))
    number = max(place.records) + 1

    def fail_again(request: str, asked: int) -> None:
        if asked == number:
            raise StateUnreachable("the connection was lost")

    setattr(log, "after" if is_carried_out else "before", fail_again)
    with pytest.raises(StateUnreachable):
        store.write_snapshot(b"1", expect=None, lease=lease)
    log.before = log.after = lambda _request, _number: None
    lease.verify()
    store.write_snapshot(b"1", expect=None, lease=lease)
    moment = store.read()
    assert moment.snapshot is not None
    assert (moment.snapshot.content, moment.journal.records) == (b"1", ())
    lease.release()


def _locked(place: FakePlace, **clocks: float) -> LogStore:
    return fake_store(FakeLog(place), **clocks)  # type: ignore[arg-type]


@pytest.mark.parametrize("skew", [-3600.0, 0.0, 3600.0, 1e9])
def test_the_clocks_of_hosts_do_not_matter(skew: float) -> None:
    place = FakePlace()
    first, second = _locked(place), _locked(place, wall=place.now + skew)
    lease = first.lock("apply", timeout=0, on_wait=ignore_wait)
    place.now += 59.0
    with pytest.raises(LockHeld):
        second.lock("destroy", timeout=0, on_wait=ignore_wait)
    place.beats[lease.info.epoch] = place.now
    place.now += 59.0
    with pytest.raises(LockHeld) as held:
        second.lock("destroy", timeout=0, on_wait=ignore_wait)
    assert held.value.info.expires == place.now + 1.0
    place.now += 2.0
    assert second.lock_info() is None
    taken = second.lock("destroy", timeout=0, on_wait=ignore_wait)
    assert taken.took_over is not None
    with pytest.raises(LockLost, match="taken over"):
        first.append_journal([b"late"], lease)
    taken.release()


@pytest.mark.parametrize("skew", [-3600.0, 3600.0])
@pytest.mark.parametrize("records", [0, 1])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_lock_has_an_age_by_the_clock_of_the_place(skew: float, records: int, is_first: bool) -> None:
    place = FakePlace()
    first, second = _locked(place, wall=place.now + skew), _locked(place, wall=place.now - skew)
    if not is_first:
        first.lock("apply", timeout=0, on_wait=ignore_wait).release()
    began = place.now
    lease = first.lock("apply", timeout=0, on_wait=ignore_wait)
    place.now += 20.0
    first.append_journal([b"one"] * records, lease)
    place.now += 20.0
    found = second.lock_info()
    assert found is not None
    assert found.age == pytest.approx(40.0, abs=1.0)
    assert found.created == pytest.approx(began, abs=1.0)
    assert found.clock == "the server"
    lease.release()


def test_a_holder_whose_number_was_collected_while_it_was_paused_writes_nothing_that_counts() -> None:
    place = FakePlace()
    paused = _locked(place)
    lease = paused.lock("apply", timeout=0, on_wait=ignore_wait)
    paused.append_journal([b"acknowledged"], lease)
    for _ in range(3):
        place.now += 3600.0
        other = _locked(place)
        taken = other.lock("apply", timeout=0, on_wait=ignore_wait)
        moment = other.read()
        other.write_snapshot(
            b"folded", expect=moment.snapshot.revision if moment.snapshot else None, lease=taken
        )
        taken.release()
    assert 3 not in place.records
    before = _locked(place).read()
    with pytest.raises(LockLost):
        paused.append_journal([b"late"], lease)
    assert _locked(place).read() == before


def test_a_place_that_was_emptied_is_never_a_fresh_state_for_a_holder() -> None:
    place = _grown(2, 1)
    store = _locked(place)
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    place.records.clear()
    with pytest.raises(LockLost, match="deleted"):
        store.check_writable(lease)
    place = _grown(2, 1)
    store = _locked(place)
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    place.records.clear()
    store.append_journal([b"one"], lease)
    with pytest.raises(Damaged, match="is missing"):
        _locked(place).read()


def _one_of_each() -> FakePlace:
    place = _grown(0, 1)
    store = _locked(place)
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    store.append_journal([b"one"], lease)
    store.append_journal([b"two", b"three"], lease)
    return place


def test_a_record_that_is_cut_or_edited_at_any_byte_is_recognised() -> None:
    place = _one_of_each()
    for number, (content, _) in place.records.items():
        decode_record(content, workspace="default", number=number, where="here")
        for at in range(len(content)):
            for wrong in (content[:at], content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]):
                with pytest.raises(Damaged):
                    decode_record(wrong, workspace="default", number=number, where="here")
        for extended in (content + b"\0", content + content):
            with pytest.raises(Damaged):
                decode_record(extended, workspace="default", number=number, where="here")


@pytest.mark.parametrize("replaced", ["cut", "edited", "deleted", "moved"])
@pytest.mark.parametrize("which", ["snapshot", "journal", "newest"])
def test_readers_and_takers_tell_of_damage(which: str, replaced: str) -> None:
    place = _one_of_each()
    number = {"snapshot": 2, "journal": max(place.records) - 1, "newest": max(place.records)}[which]
    content, written = place.records[number]
    match replaced:
        case "cut":
            place.records[number] = content[:-1], written
        case "edited":
            place.records[number] = content[:-1] + b"!", written
        case "deleted":
            del place.records[number]
        case _:
            place.records[number] = place.records[1][0], written
    store = _locked(place)
    if (which, replaced) == ("newest", "deleted"):
        assert store.read_journal().records == (b"one",)
        return
    with pytest.raises(Damaged) as damaged:
        store.read()
    assert damaged.value.way_out
    place.now += 3600.0
    if which == "newest":
        with pytest.raises(Failure, match=r"newest record") as refused:
            store.lock("apply", timeout=0, on_wait=ignore_wait)
        assert f"delete the record {number} and nothing else" in str(refused.value)
        # What it says to do works.
        del place.records[number]
        assert _locked(place).read_journal().records == (b"one",)
        store.lock("apply", timeout=0, on_wait=ignore_wait).release()
        return
    # A new snapshot heals it: rollback needs none of what is damaged.
    lease = store.lock("state rollback", timeout=0, on_wait=ignore_wait)
    store.replace_damaged(b"healed", lease)
    lease.release()
    found: StateStore = _locked(place)
    moment = found.read()
    assert moment.snapshot is not None
    assert (moment.snapshot.content, moment.journal.records) == (b"healed", ())


def test_records_given_together_are_one_record_of_the_log() -> None:
    place = FakePlace()
    log = FakeLog(place)
    store = fake_store(log)
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    records = tuple(b"%d:" % number * number for number in range(20))
    assert _requests(log, lambda: store.append_journal(records, lease)) == {"append": 1}
    assert _requests(log, lambda: store.append_journal((), lease)) == {}
    store.append_journal([b"last"], lease)
    assert store.read_journal().records == (*records, b"last")
    lease.release()


def test_the_heartbeat_gives_signs_of_life_and_notices_a_loss() -> None:
    place, ticks = FakePlace(), itertools.count(0.0, 10.0)
    log, has_beaten = FakeLog(place), threading.Event()

    def note(request: str, _number: int) -> None:
        if request == "beat":
            has_beaten.set()

    log.before = note
    store = fake_store(log, uptime=lambda: next(ticks), heartbeat=0.005)
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    assert has_beaten.wait(60)
    assert _locked(place).release_lock(lease.info.id).id == lease.info.id
    lease._heart.join(60)
    assert not lease._heart.is_alive()
    with pytest.raises(LockLost, match="released by someone else"):
        lease.check()
    lease.release()


def test_a_released_lease_leaves_no_sign_of_life_behind() -> None:
    place, ticks = FakePlace(), itertools.count(0.0, 10.0)
    lease = fake_store(FakeLog(place), uptime=lambda: next(ticks), heartbeat=0.005).lock(
        "apply", timeout=0, on_wait=ignore_wait
    )
    while not place.beats:
        time.sleep(0.001)
    lease.release()
    assert place.beats == {}
