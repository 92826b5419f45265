"""A state or a lock that was edited or damaged is told, whichever byte it is; files from before there were
digests are read.
"""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from flareiac.model.snapshot import ResourceRecord, Snapshot, decode_snapshot, encode_snapshot
from flareiac.sdk.state import Damaged, LockInfo
from flareiac_state.lock_file import LockFile, LockRecord
from tests.support.command_line import flareiac

STATE = Snapshot(
    lineage="l",
    serial=3,
    resources={
        "table.x": ResourceRecord(
            address="table.x", type="table", provider="iceberg", attributes={"name": "é", "n": [1, 2.5, None]}
        )
    },
)
LOCK = LockRecord(
    info=LockInfo(
        id="i",
        owner="me",
        host="here",
        pid=7,
        process_started=1.5,
        job="",
        operation="apply",
        created=1.0,
        expires=2.0,
        epoch=4,
    ),
    held=True,
    boot="b",
    namespace="n",
    expires_uptime=9.5,
)


def flipped(content: bytes, choose: random.Random) -> bytes:
    at = choose.randrange(len(content))
    return content[:at] + bytes([content[at] ^ (1 << choose.randrange(8))]) + content[at + 1 :]


def test_every_flipped_bit_of_a_state_is_told() -> None:
    content, choose = encode_snapshot(STATE), random.Random(7)
    for _ in range(1_000):
        damaged = flipped(content, choose)
        try:
            found = decode_snapshot(damaged, "here")
        except Damaged:
            continue
        # What is left reads as the same state: white space, or a key that no version knows instead of the
        # digest's.
        assert found == STATE, damaged


def test_a_state_that_was_edited_is_told_with_the_way_out() -> None:
    document = json.loads(encode_snapshot(STATE))
    document["serial"] = 4
    with pytest.raises(Damaged) as told:
        decode_snapshot(json.dumps(document).encode(), "here")
    assert "it was edited, or damaged" in told.value.why
    assert "history" in told.value.way_out
    assert 'remove "digest"' in told.value.way_out
    del document["digest"]
    assert decode_snapshot(json.dumps(document).encode(), "here").serial == 4


def test_a_state_from_before_digests_is_read_and_gets_one(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text('namespace "a" {}\n', encoding="utf-8")
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    path = tmp_path / ".flareiac/state/default/snapshot.json"
    document: Any = json.loads(path.read_text(encoding="utf-8"))
    del document["digest"]
    path.write_text(json.dumps(document), encoding="utf-8")
    (tmp_path / "more.flare.hcl").write_text('namespace "b" {}\n', encoding="utf-8")
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    after = json.loads(path.read_text(encoding="utf-8"))
    assert "digest" in after
    assert [item["address"] for item in after["resources"]] == ["namespace.a", "namespace.b"]


def test_every_flipped_bit_of_a_lock_is_told(tmp_path: Path) -> None:
    file, choose = LockFile(tmp_path), random.Random(7)
    file.write(LOCK)
    content = file.path.read_bytes()
    for _ in range(1_000):
        file.path.write_bytes(flipped(content, choose))
        try:
            found = file.read()
        except Damaged:
            continue
        assert found == LOCK


@pytest.mark.parametrize("part", ["epoch", "pid", "owner", "created"])
@pytest.mark.parametrize("junk", [None, "x", 1.5, [], {}, True, 1e999])
def test_a_lock_without_a_digest_has_parts_of_the_right_types(tmp_path: Path, part: str, junk: Any) -> None:
    file = LockFile(tmp_path)
    file.write(LOCK)
    data = json.loads(file.path.read_text(encoding="utf-8"))
    del data["digest"]
    assert file.read() == LOCK
    data["info"][part] = junk
    file.path.write_text(json.dumps(data), encoding="utf-8")
    fine = (part == "owner" and junk == "x") or (part == "created" and junk in (1.5, True))
    if fine:
        assert file.read() is not None
    else:
        with pytest.raises(Damaged):
            file.read()
