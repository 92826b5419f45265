"""Dropped objects stay in the state, through journal and snapshot, and not without end."""

import json

import pytest

from flareiac.model.journal import Begun, Result, replay
from flareiac.model.snapshot import (
    KEPT_DROPPED,
    ResourceRecord,
    Snapshot,
    decode_snapshot,
    encode_snapshot,
    new_snapshot,
    with_dropped,
)


def record(name: str, **identity: object) -> ResourceRecord:
    return ResourceRecord(
        address=f"table.{name}", type="table", provider="iceberg", attributes={}, identity=identity
    )


def test_a_snapshot_without_anything_dropped_is_as_before() -> None:
    content = encode_snapshot(new_snapshot())
    assert "dropped" not in json.loads(content)
    assert decode_snapshot(content, "here").dropped == ()


def test_what_is_dropped_survives_journal_and_snapshot() -> None:
    before = Snapshot(lineage="l", resources={"table.t": record("t"), "table.u": record("u")})
    gone = record("t", metadata_location="file:///m")
    after = replay(
        before,
        [
            Begun(apply="a", plan="p", time=0.0, lineage="l"),
            Result(apply="a", id="1", address="table.t", record=gone, forgotten=True),
            Result(apply="a", id="2", address="table.u", forgotten=True),
        ],
    ).snapshot
    assert (dict(after.resources), after.dropped) == ({}, (gone,))
    assert decode_snapshot(encode_snapshot(after), "here") == after


def test_the_oldest_go_first() -> None:
    kept: tuple[ResourceRecord, ...] = ()
    for number in range(KEPT_DROPPED + 2):
        kept = with_dropped(kept, record(str(number)))
    kept = with_dropped(kept, record("2", again=True))
    assert kept[0].address == "table.3"
    assert kept[-1] == record("2", again=True)
    assert len(kept) == KEPT_DROPPED


def test_one_address_may_have_been_several_things() -> None:
    first, second = record("t", uuid="1"), record("t", uuid="2")
    state = Snapshot(lineage="l", dropped=with_dropped(with_dropped((), first), second))
    assert state.dropped == (first, second)
    assert decode_snapshot(encode_snapshot(state), "here") == state


def after(before: Snapshot, result: Result) -> Snapshot:
    return replay(before, [Begun(apply="a", plan="p", time=0.0, lineage="l"), result]).snapshot


def test_what_is_recorded_again_is_not_dropped_any_more() -> None:
    dropped = Snapshot(lineage="l", dropped=(record("t", uuid="1"), record("t", uuid="2")))
    back = record("elsewhere", uuid="2", snapshot_id=7)
    state = after(dropped, Result(apply="a", id="1", address=back.address, record=back))
    assert (dict(state.resources), state.dropped) == ({back.address: back}, (record("t", uuid="1"),))


@pytest.mark.parametrize("error", [None, "its branches could not be made"])
def test_what_another_thing_takes_the_place_of_is_kept(error: str | None) -> None:
    old, new = record("t", uuid="1"), record("t", uuid="2")
    state = after(
        Snapshot(lineage="l", resources={"table.t": old}),
        Result(apply="a", id="1", address="table.t", record=new, error=error),
    )
    assert (state.resources["table.t"], state.dropped) == (new, (old,))
    changed = record("t", uuid="2", snapshot_id=7)
    assert after(state, Result(apply="a", id="2", address="table.t", record=changed)).dropped == (old,)
