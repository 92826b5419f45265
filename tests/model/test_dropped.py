"""What was dropped stays in the state, through journal and snapshot, and not without end."""

import json

from flareiac.model.journal import Begun, Result, replay
from flareiac.model.snapshot import KEPT_DROPPED, ResourceRecord, Snapshot, decode_snapshot, encode_snapshot, new_snapshot, with_dropped


def record(name: str, **identity: object) -> ResourceRecord:
    return ResourceRecord(address=f"table.{name}", type="table", provider="iceberg", attributes={}, identity=identity)


def test_a_snapshot_without_anything_dropped_is_as_before() -> None:
    content = encode_snapshot(new_snapshot())
    assert "dropped" not in json.loads(content)
    assert decode_snapshot(content, "here").dropped == {}


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
    assert (dict(after.resources), dict(after.dropped)) == ({}, {"table.t": gone})
    assert decode_snapshot(encode_snapshot(after), "here") == after


def test_the_oldest_go_first() -> None:
    kept: dict[str, ResourceRecord] = {}
    for number in range(KEPT_DROPPED + 2):
        kept = with_dropped(kept, record(str(number)))
    kept = with_dropped(kept, record("2", again=True))
    assert next(iter(kept)) == "table.3"
    assert list(kept)[-1] == "table.2"
    assert len(kept) == KEPT_DROPPED
