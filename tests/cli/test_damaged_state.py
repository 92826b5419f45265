"""A state with a part of a wrong shape: it is said which, also where a digest vouches for it."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flareiac.kernel.data import digest
from flareiac_state.journal_frames import Frame, FrameKind, decode_frames, encode_frame
from tests.state.remote_places import BUCKET, s3_block, s3_server
from tests.support.command_line import flareiac
from tests.support.moto_server import s3_client

LAKE = """
catalog "x" {
  uri       = "sqlite:///lake.db"
  warehouse = "warehouse"
}
namespace "n" { catalog = catalog.x }
table "t" {
  catalog   = catalog.x
  namespace = "n"
  column "id" { type = "long" }
}
"""
STATE = Path(".flareiac/state/default/snapshot.json")
_Record = dict[str, Any]


def _applied(root: Path, more: str = "") -> None:
    (root / "main.flare.hcl").write_text(LAKE + more, encoding="utf-8")
    done = flareiac(root, "apply", "-auto-approve")
    assert done.code == 0, done.text


def _damage(root: Path, change: Callable[[_Record], None], *, sealed: bool, address: str = "table.t") -> None:
    document = json.loads((root / STATE).read_bytes())
    del document["digest"]
    change(next(item for item in document["resources"] if item["address"] == address))
    if sealed:
        document["digest"] = digest(document)
    (root / STATE).write_text(json.dumps(document), encoding="utf-8")


def _said(root: Path) -> str:
    done = flareiac(root, "plan")
    assert done.code == 1
    assert "[FIS001]" in done.text, done.text
    return " ".join(done.text.replace("│", " ").split())


@pytest.mark.parametrize("sealed", [True, False])
@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda item: item["identity"].update(field_ids=[]), "identity.field_ids is [], expected an object"),
        (lambda item: item["identity"].update(uuid=7), "identity.uuid is 7, expected a value of type str"),
        (lambda item: item["identity"].update(colour=7), "identity.colour is not known"),
        (lambda item: item["attributes"].update(columns=7), "wrong shape"),
        (lambda item: item["attributes"].update(properties=[7]), "wrong shape"),
    ],
)
def test_a_part_of_a_resource(
    change: Callable[[_Record], None], place: str, sealed: bool, tmp_path: Path
) -> None:
    _applied(tmp_path)
    _damage(tmp_path, change, sealed=sealed)
    said = _said(tmp_path)
    assert "holds of table.t has the wrong shape" in said
    assert place in said


def test_a_key_that_is_not_known_is_named(tmp_path: Path) -> None:
    _applied(tmp_path)
    _damage(tmp_path, lambda item: item.update(colour="red"), sealed=False)
    assert "it is not a FlareIaC state: resources[table.t].colour is not known" in _said(tmp_path)


CHECKPOINT = """
checkpoint "c" {}
"""


@pytest.mark.parametrize("sealed", [True, False])
def test_a_part_of_a_definition(sealed: bool, tmp_path: Path) -> None:
    _applied(tmp_path, CHECKPOINT)
    _damage(
        tmp_path,
        lambda item: item["attributes"].update(location=7),
        sealed=sealed,
        address="checkpoint.c",
    )
    said = _said(tmp_path)
    assert "holds of checkpoint.c has the wrong shape" in said
    assert "attributes.location is 7, expected a value of type str" in said


ONE = 'thing "a" { value = "1" }\n'
TWO = 'thing "a" { value = "2" }\n'


def _write(root: Path, text: str) -> None:
    (root / "main.flare.hcl").write_text(text, encoding="utf-8")


def _run(root: Path, words: str, code: int = 0, **variables: str) -> str:
    done = flareiac(root, *words.split(), **variables)
    assert done.code == code, f"{words}: {done.text}"
    return " ".join(done.text.replace("│", " ").split())


def _two_serials(root: Path, block: str = "") -> str:
    """A state with the serials 1 and 2; the text of the second."""
    for text in (ONE, TWO):
        _write(root, block + text)
        _run(root, "apply -auto-approve")
    return flareiac(root, "state", "pull").out


def _is_healed(root: Path, serial: int) -> None:
    listed = json.loads(flareiac(root, "state", "history", "-json").out)
    assert (listed["serial"], listed["damage"]) == (serial, None)
    _run(root, "apply -auto-approve")


def test_an_earlier_state_takes_the_place_of_one_that_cannot_be_read(tmp_path: Path) -> None:
    _two_serials(tmp_path)
    content = (tmp_path / STATE).read_bytes()
    (tmp_path / STATE).write_bytes(content[:200])
    assert "flareiac state rollback" in _run(tmp_path, "plan", 1)
    listed = json.loads(flareiac(tmp_path, "state", "history", "-json").out)
    assert [item["serial"] for item in listed["history"]] == [1]
    assert (listed["serial"], listed["lineage"]) == (None, None)
    assert "stops being JSON" in listed["damage"]
    assert "The state cannot be read" in _run(tmp_path, "state rollback 1", 8)
    assert (tmp_path / STATE).read_bytes() == content[:200]
    _run(tmp_path, "state rollback -auto-approve 1")
    _is_healed(tmp_path, 3)


def test_a_pulled_state_takes_the_place_of_one_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "pulled.json").write_text(_two_serials(tmp_path), encoding="utf-8")
    (tmp_path / STATE).write_bytes(b"")
    assert "-force" in _run(tmp_path, "state push pulled.json", 1)
    _run(tmp_path, "state push -force pulled.json")
    _is_healed(tmp_path, 3)


def test_a_state_without_its_damaged_journal(tmp_path: Path) -> None:
    _two_serials(tmp_path)
    journal = (tmp_path / STATE).with_name("journal.jsonl")
    frames = [Frame(kind=FrameKind.BASE, payload=b"another snapshot", epoch=9)] * 2
    journal.write_bytes(b"".join(map(encode_frame, frames)))
    assert "state rollback" in _run(tmp_path, "plan", 1)
    listed = json.loads(flareiac(tmp_path, "state", "history", "-json").out)
    assert [(item["name"], item["serial"]) for item in listed["history"][:1]] == [("snapshot", 2)]
    _run(tmp_path, "state rollback -auto-approve snapshot", -9, FLAREIAC_KILL_AT="state.replaced-damaged")
    _run(tmp_path, "plan", 1)  # the new snapshot is there, and the journal still is
    _run(tmp_path, "state rollback -auto-approve snapshot")
    assert journal.with_name("journal.damaged").exists()
    _is_healed(tmp_path, 6)


def test_a_state_of_a_later_release_is_not_replaced(tmp_path: Path) -> None:
    _two_serials(tmp_path)
    document = {**json.loads((tmp_path / STATE).read_bytes()), "format_version": 2}
    (tmp_path / STATE).write_text(json.dumps(document), encoding="utf-8")
    (tmp_path / "pulled.json").write_bytes(next((tmp_path / STATE).parent.glob("history/*")).read_bytes())
    for words in ("state rollback -auto-approve 1", "state push -force pulled.json"):
        assert "A newer FlareIaC wrote it" in _run(tmp_path, words, 1)
    assert json.loads((tmp_path / STATE).read_bytes()) == document


@pytest.mark.parametrize("workspace", ["default", "dev"])
def test_objects_that_were_cut_off_or_deleted(tmp_path: Path, workspace: str) -> None:
    with s3_server() as endpoint:
        block = f"flareiac {{\n  {s3_block(endpoint, f'damaged-{workspace}')}\n}}\n"
        if workspace != "default":
            _write(tmp_path, block)
            _run(tmp_path, f"workspace new {workspace}")
        _two_serials(tmp_path, block)
        bucket = s3_client(endpoint)
        folder = f"damaged-{workspace}/{workspace}/log/"
        listed = bucket.list_objects_v2(Bucket=BUCKET, Prefix=folder)["Contents"]
        snapshot = max(listed[:4], key=lambda item: item["Size"])["Key"]  # the newest come first
        whole = bucket.get_object(Bucket=BUCKET, Key=snapshot)["Body"].read()
        bucket.put_object(Bucket=BUCKET, Key=snapshot, Body=whole[:300])
        assert "was cut off or edited" in _run(tmp_path, "plan", 1)
        assert "The state cannot be read" in _run(tmp_path, "state history")
        _run(tmp_path, "state rollback -auto-approve 1")
        _is_healed(tmp_path, 3)
        newest = bucket.list_objects_v2(Bucket=BUCKET, Prefix=folder)["Contents"][0]["Key"]
        bucket.put_object(Bucket=BUCKET, Key=newest, Body=b"")
        for words in ("plan", "apply -auto-approve"):
            assert f"delete the object {newest} and nothing else" in _run(tmp_path, words, 1)
        bucket.delete_object(Bucket=BUCKET, Key=newest)
        _run(tmp_path, "plan")


def test_a_snapshot_that_is_gone_beside_earlier_ones_is_no_empty_state(tmp_path: Path) -> None:
    (tmp_path / "pulled.json").write_text(_two_serials(tmp_path), encoding="utf-8")
    for words in ("state rollback -auto-approve 1", "state push -force pulled.json"):
        (tmp_path / STATE).unlink()
        for refused in ("plan", "apply -auto-approve", "state push pulled.json", "state list"):
            assert "snapshot.json: it is gone" in _run(tmp_path, refused, 1)
        assert _run(tmp_path, "workspace list") == "* default"
        assert not (tmp_path / STATE).exists()
        assert "The state cannot be read" in _run(tmp_path, "state history")
        _run(tmp_path, words)
        _run(tmp_path, "apply -auto-approve")
        assert _run(tmp_path, "state list") == "thing.a"


def test_a_snapshot_that_is_gone_beside_its_journal_is_no_empty_state(tmp_path: Path) -> None:
    _write(tmp_path, ONE)
    _run(tmp_path, "apply -auto-approve")
    (tmp_path / "pulled.json").write_text(flareiac(tmp_path, "state", "pull").out, encoding="utf-8")
    _write(tmp_path, TWO)
    _run(tmp_path, "apply -auto-approve", -9, FLAREIAC_KILL_AT="apply.result:1")
    (tmp_path / STATE).unlink()
    for words in ("plan", "apply -auto-approve"):
        said = _run(tmp_path, words, 1)
        assert "FIS001" in said
        assert "snapshot.json: it is gone, and the journal" in said
    _run(tmp_path, "state push -force pulled.json")
    _run(tmp_path, "apply -auto-approve")


def _open_intent(root: Path, change: Callable[[_Record], None]) -> None:
    """Edits the only open intent of a journal, whose frames are whole again."""
    journal = (root / STATE).with_name("journal.jsonl")
    frames = list(decode_frames(journal.read_bytes(), "").items)
    entries = [json.loads(item.payload) if item.kind is FrameKind.RECORD else None for item in frames]
    [intent] = [item for item in entries if item and item["kind"] == "intent"]
    change(intent["operation"])
    made = [
        replace(frame, payload=json.dumps(entry).encode()) if entry else frame
        for frame, entry in zip(frames, entries, strict=True)
    ]
    journal.write_bytes(b"".join(map(encode_frame, made)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda item: item["planned"]["columns"]["id"].update(tags=7), "columns.id.tags is 7"),
        (lambda item: item["planned"].update(columns={"id": 7}), "columns.id is 7, expected an object"),
        (lambda item: item["planned"].update(branch="x"), "'str' object has no attribute 'items'"),
        (lambda item: item["references"]["catalog.x"].update(type="house"), "is 'house', expected that of"),
    ],
)
def test_what_an_interrupted_apply_began_with(
    change: Callable[[_Record], None], said: str, tmp_path: Path
) -> None:
    """No apply can find out what came of it; the state without the journal is the way out that is named."""
    _applied(tmp_path)
    more = LAKE.replace('type = "long" }', 'type = "long" }\n  column "more" { type = "int" }')
    _write(tmp_path, more)
    _run(tmp_path, "apply -auto-approve", -9, FLAREIAC_KILL_AT="apply.intent:1")
    _open_intent(tmp_path, change)
    for words in ("plan", "drift", "apply -auto-approve", "destroy -auto-approve"):
        told = _run(tmp_path, words, 1)
        assert "[FIS001]" in told
        assert said in told
        assert "flareiac state rollback" in told
    assert "The state cannot be read" in _run(tmp_path, "state history")
    _run(tmp_path, "state rollback -auto-approve snapshot")
    _run(tmp_path, "apply -auto-approve")


def test_a_payload_that_no_driver_wrote(tmp_path: Path) -> None:
    _applied(tmp_path)
    _write(tmp_path, LAKE.replace('type = "long" }', 'type = "long" }\n  column "more" { type = "int" }'))
    _run(tmp_path, "apply -auto-approve", -9, FLAREIAC_KILL_AT="apply.intent:1")
    _open_intent(tmp_path, lambda item: item.update(payload={"colour": 7}))
    told = _run(tmp_path, "plan", 1)
    assert "[FIS001]" in told
    assert "what it holds of table.t has the wrong shape (UpdatePayload" in told
