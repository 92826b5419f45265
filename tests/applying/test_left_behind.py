"""A resource that left the state and can go on all the same stays known to the one that holds on for it."""

import itertools
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flareiac.app.discovery import installed
from flareiac.applying.state_writer import Recording
from flareiac.kernel.data import Reference
from flareiac.model.snapshot import ResourceRecord, Snapshot, encode_snapshot
from flareiac.state.read import load
from tests.state.memory_store import MemoryStore

TYPES = installed().registry.types
CHECKPOINTS = ("checkpoint.a", "checkpoint.b")


def checkpoint(address: str) -> ResourceRecord:
    return ResourceRecord(
        address=address,
        type="checkpoint",
        provider="spark",
        attributes={"location": address},
        identity={"layout": "x"},
    )


def job(address: str, on: str, **rest: Any) -> ResourceRecord:
    attributes = {"checkpoint": Reference(on), "mode": "stream", **rest}
    return ResourceRecord(
        address=address, type="job", provider="spark", attributes=attributes, dependencies=(on,)
    )


def recording(store: MemoryStore) -> Recording:
    lease = store.lock("test", timeout=1.0, on_wait=lambda _holder: None)
    return Recording(store, lease, load(store, "/project", TYPES), "apply", clock=time.time, types=TYPES)


def started(*records: ResourceRecord) -> tuple[MemoryStore, Recording]:
    store = MemoryStore()
    snapshot = Snapshot(lineage="l", resources={item.address: item for item in records})
    store.place.snapshots.append(encode_snapshot(snapshot))
    found = recording(store)
    found.begin("digest")
    return store, found


def users(snapshot: Snapshot) -> dict[str, str]:
    return {
        address: item.user.address for address, item in snapshot.resources.items() if item.user is not None
    }


def test_a_checkpoint_remembers_the_job_that_was_removed() -> None:
    store, found = started(checkpoint("checkpoint.a"), job("job.r", "checkpoint.a", kept=1))
    found.succeed("1", "job.r", None, forgotten=True)
    assert users(found.snapshot) == {"checkpoint.a": "job.r"}
    kept = found.snapshot.resources["checkpoint.a"]
    assert kept.user is not None
    assert kept.user.attributes["kept"] == 1
    assert users(load(store, "/project", TYPES).snapshot) == {"checkpoint.a": "job.r"}  # the journal alone
    found.finish({})
    assert load(store, "/project", TYPES).snapshot.resources["checkpoint.a"] == kept


def test_a_checkpoint_that_is_recorded_again_still_remembers() -> None:
    _store, found = started(checkpoint("checkpoint.a"), job("job.r", "checkpoint.a"))
    found.succeed("1", "job.r", None, forgotten=True)
    found.succeed("2", "checkpoint.a", checkpoint("checkpoint.a"))
    assert users(found.snapshot) == {"checkpoint.a": "job.r"}


def test_the_next_job_on_it_holds_by_itself() -> None:
    _store, found = started(checkpoint("checkpoint.a"), job("job.r", "checkpoint.a"))
    found.succeed("1", "job.r", None, forgotten=True)
    found.succeed("2", "job.s", job("job.s", "checkpoint.a"))
    assert users(found.snapshot) == {}


def test_a_job_that_could_not_be_started_leaves_it_as_it_was() -> None:
    _store, found = started(checkpoint("checkpoint.a"), job("job.r", "checkpoint.a"))
    found.succeed("1", "job.r", None, forgotten=True)
    found.fail("2", "job.s", "no", job("job.s", "checkpoint.a"))
    assert users(found.snapshot) == {"checkpoint.a": "job.r"}


def test_a_job_that_goes_to_another_checkpoint_leaves_the_old_one_held() -> None:
    _store, found = started(
        checkpoint("checkpoint.a"), checkpoint("checkpoint.b"), job("job.r", "checkpoint.a")
    )
    found.succeed("1", "job.r", job("job.r", "checkpoint.b"))
    assert users(found.snapshot) == {"checkpoint.a": "job.r"}


def test_a_checkpoint_that_left_the_state_holds_nothing() -> None:
    _store, found = started(checkpoint("checkpoint.a"), job("job.r", "checkpoint.a"))
    found.succeed("1", "job.r", None, forgotten=True)
    found.succeed("2", "checkpoint.a", None, forgotten=True)
    assert found.snapshot.resources == {}


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "remove", "fail"]),
        st.sampled_from(["job.r", "job.s"]),
        st.sampled_from(CHECKPOINTS),
    ),
    max_size=8,
)


@given(steps=STEPS, cut=st.integers(0, 30))
def test_a_checkpoint_that_a_job_has_used_is_held_by_a_job_or_by_itself(
    steps: list[tuple[str, str, str]], cut: int
) -> None:
    """Law: whatever jobs come and go, also when the process dies between two records."""
    store, found = started(*map(checkpoint, CHECKPOINTS))
    used: set[str] = set()
    for number, (what, address, on) in zip(itertools.count(), steps, strict=False):
        match what:
            case "put":
                used.add(on)
                found.succeed(str(number), address, job(address, on))
            case "remove":
                found.succeed(str(number), address, None, forgotten=True)
            case _:
                found.fail(str(number), address, "no", None)
        held = {
            str(item.attributes["checkpoint"])
            for item in found.snapshot.resources.values()
            if item.type == "job"
        }
        assert used <= held | set(users(found.snapshot))
    store.place.journal[:] = store.place.journal[: max(1, len(store.place.journal) - cut)]
    snapshot = load(store, "/project", TYPES).snapshot
    held = {str(item.attributes["checkpoint"]) for item in snapshot.resources.values() if item.type == "job"}
    assert all(item in CHECKPOINTS for item in held | set(users(snapshot)))


@pytest.mark.parametrize("mode", ["batch", "stream"])
def test_only_streams_leave_something(mode: str) -> None:
    assert TYPES["job"].recording.kept_by({"checkpoint": Reference("checkpoint.a"), "mode": mode}) == (
        None if mode == "batch" else "checkpoint.a"
    )
