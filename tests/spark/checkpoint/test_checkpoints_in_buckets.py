"""Commands about checkpoints in buckets, without Spark: whose they are, what an apply that failed leaves."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

from flareiac_spark_runtime.storage import place_at, replace_whole
from tests.spark.checkpoint_sample import sample
from tests.support.command_line import Ended, flareiac
from tests.support.object_storage import buckets


@pytest.fixture
def bucket() -> Iterator[str]:
    """The name of one that no other test has: servers of one process share their content."""
    name = f"states-{uuid.uuid4().hex}"
    with buckets(name, "spare"):
        yield name


@pytest.fixture
def place(bucket: str) -> str:
    return f"s3://{bucket}/app/orders"


class Team:
    """A project that can reach the buckets."""

    def __init__(self, root: Path, place: str) -> None:
        self.root = root
        root.mkdir()
        self.declare(place)

    def declare(self, place: str, *, more: str = "", on_destroy: str = "retain") -> None:
        block = f'checkpoint "orders" {{\n  location = "{place}"\n  on_destroy = "{on_destroy}"\n}}\n'
        (self.root / "main.flare.hcl").write_text(block + more)

    def run(self, *words: str, **extra: str) -> Ended:
        done = flareiac(self.root, *words, **extra)
        assert "Traceback" not in done.text, done.text
        return done

    def apply(self, **extra: str) -> Ended:
        return self.run("apply", "-auto-approve", **extra)


def ran(place: str, folder: Path) -> None:
    """Has a query that ran there. ``folder`` is for a copy."""
    sample(folder / "all" / "g0001")
    for path in folder.rglob("*"):
        if path.is_file():
            replace_whole(place_at(f"{place}/{path.relative_to(folder).as_posix()}"), path.read_bytes())


def test_another_state_takes_it_over_by_a_word_alone(tmp_path: Path, place: str) -> None:
    prod, dev = Team(tmp_path / "prod", place), Team(tmp_path / "dev", place)
    assert prod.apply().code == 0
    ran(place, tmp_path / "sample")
    blocked = dev.run("plan", "-detailed-exitcode")
    assert blocked.code == 4
    assert "Another state manages the checkpoint" in blocked.text
    dev.declare(place, more=f'import {{\n  to = checkpoint.orders\n  id = "{place}"\n  takeover = true\n}}\n')
    assert dev.apply().code == 0
    assert dev.run("plan", "-detailed-exitcode").code == 0
    assert "Another state manages the checkpoint" in prod.run("plan").text


def test_a_place_that_is_gone_after_an_apply_was_killed_holds_nothing_up(
    tmp_path: Path, place: str, bucket: str
) -> None:
    team = Team(tmp_path / "team", place)
    assert team.apply(FLAREIAC_KILL_AT="apply.before-result").killed
    client = boto3.client("s3")
    for item in client.list_objects_v2(Bucket=bucket)["Contents"]:
        client.delete_object(Bucket=bucket, Key=item["Key"])
    client.delete_bucket(Bucket=bucket)
    refused = team.apply()
    assert refused.code != 0
    assert "the bucket does not exist" in " ".join(refused.text.replace("│", " ").split())
    team.declare("s3://spare/orders")
    assert team.apply().code == 0
    assert team.run("plan", "-detailed-exitcode").code == 0


def test_unused_generations_go_from_a_bucket(tmp_path: Path, place: str) -> None:
    team = Team(tmp_path / "team", place)
    assert team.apply().code == 0
    sample(tmp_path / "sample" / "all" / "g0002")
    ran(place, tmp_path / "sample")
    team.declare(place + '"\n  generation = 5\n  keep_generations = "1')
    assert team.apply().code == 0
    said = team.run("checkpoint", "gc", "checkpoint.orders")
    assert said.code == 0, said.text
    assert not (place_at(place) / "all" / "g0001").exists()
    assert (place_at(place) / "managed-by.json").is_file()


def test_it_is_deleted_with_its_block_if_the_block_said_so(tmp_path: Path, place: str) -> None:
    team = Team(tmp_path / "team", place)
    team.declare(place, on_destroy="delete")
    assert team.apply().code == 0
    ran(place, tmp_path / "sample")
    (team.root / "main.flare.hcl").write_text("")
    assert team.apply().code == 0
    assert not place_at(place).exists()
