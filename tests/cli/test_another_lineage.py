"""A state of another lineage that this checkout itself puts into a shared place is the one that it expects
there from then on.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.state.remote_places import BUCKET, s3_block, s3_server
from tests.support.command_line import flareiac
from tests.support.moto_server import s3_client


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with s3_server() as address:
        yield address


def _run(root: Path, words: str, code: int = 0) -> str:
    done = flareiac(root, *words.split())
    assert done.code == code, f"{words}: {done.text}"
    return " ".join(done.text.replace("│", " ").split())


def _project(root: Path, endpoint: str) -> Path:
    """A project with a state, and a copy of it under another lineage."""
    block = s3_block(endpoint, f"lineages-{root.name}")
    (root / "main.flare.hcl").write_text(
        f'flareiac {{\n  {block}\n}}\nthing "a" {{ value = "1" }}\n', encoding="utf-8"
    )
    _run(root, "apply -auto-approve")
    state = json.loads(flareiac(root, "state", "pull").out)
    del state["digest"]
    for lineage in ("another", "a-third"):
        (root / f"{lineage}.json").write_text(json.dumps({**state, "lineage": lineage}), encoding="utf-8")
    return root


def test_a_forced_push_is_what_this_checkout_expects_from_then_on(tmp_path: Path, endpoint: str) -> None:
    root = _project(tmp_path, endpoint)
    _run(root, "state push -force another.json")
    _run(root, "plan -detailed-exitcode")
    _run(root, "state push -force a-third.json")
    _run(root, "apply -auto-approve")


def test_what_another_checkout_has_replaced_is_replaced_by_force(tmp_path: Path, endpoint: str) -> None:
    root = _project(tmp_path, endpoint)
    other = tmp_path / "other"
    other.mkdir()
    (other / "main.flare.hcl").write_bytes((root / "main.flare.hcl").read_bytes())
    (other / "another.json").write_bytes((root / "another.json").read_bytes())
    _run(other, "state push -force another.json")
    for words in ("plan", "state push a-third.json"):
        assert "FIS068" in _run(root, words, 1)
    _run(root, "state push -force a-third.json")
    _run(root, "plan -detailed-exitcode")


def test_a_push_to_a_place_that_lost_its_state_is_expected_there(tmp_path: Path, endpoint: str) -> None:
    root = _project(tmp_path, endpoint)
    bucket, prefix = s3_client(endpoint), f"lineages-{root.name}/"
    for item in bucket.list_objects_v2(Bucket=BUCKET, Prefix=prefix)["Contents"]:
        bucket.delete_object(Bucket=BUCKET, Key=item["Key"])
    assert "FIS067" in _run(root, "plan", 1)
    _run(root, "state push another.json")
    _run(root, "plan -detailed-exitcode")


def test_a_rollback_from_a_damaged_state_is_expected_there(tmp_path: Path, endpoint: str) -> None:
    root = _project(tmp_path, endpoint)
    _run(root, "state push -force another.json")
    bucket, folder = s3_client(endpoint), f"lineages-{root.name}/default/log/"
    listed = bucket.list_objects_v2(Bucket=BUCKET, Prefix=folder)["Contents"]
    newest = max(listed[:2], key=lambda item: item["Size"])["Key"]
    whole = bucket.get_object(Bucket=BUCKET, Key=newest)["Body"].read()
    bucket.put_object(Bucket=BUCKET, Key=newest, Body=whole[:-50])
    _run(root, "state rollback -auto-approve 1")
    _run(root, "plan -detailed-exitcode")
