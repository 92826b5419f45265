"""How far the group of a consumer is behind, and how old the newest record is, of a real broker."""

import json
import re
import uuid
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flareiac_kafka.topic.freshness import lag_of
from tests.support.command_line import flareiac
from tests.support.kafka_broker import Broker

PARTITIONS = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.none() | st.integers(0, 25)), min_size=1
)


@given(PARTITIONS)
def test_a_lag_counts_what_is_there_and_what_was_deleted_unread(
    partitions: list[tuple[int, int, int | None]],
) -> None:
    firsts = {("t", number): first for number, (first, _count, _at) in enumerate(partitions)}
    ends = {("t", number): first + count for number, (first, count, _at) in enumerate(partitions)}
    committed = {("t", number): at for number, (_first, _count, at) in enumerate(partitions)}
    lag = lag_of("g", committed, firsts, ends)
    if any(at is not None and at > ends[place] for place, at in committed.items()):
        assert lag.lag is None
        assert "was made again" in lag.why
        return
    unread = {place: set(range(at or 0, ends[place])) for place, at in committed.items()}
    there = {place: set(range(firsts[place], ends[place])) for place in ends}
    assert lag.lag == sum(len(unread[place] & there[place]) for place in ends)
    lost = {place: unread[place] - there[place] for place in ends if committed[place] is not None}
    assert lag.lost == sum(map(len, lost.values()))


class Project:
    """A topic with two partitions and its consumer, which may be one record behind."""

    def __init__(self, root: Path, broker: Broker) -> None:
        self.root, self.topics, self.name = root, broker.topics, f"t-{uuid.uuid4().hex[:12]}"
        self.group = f"billing-{self.name}"
        (root / "main.flare.hcl").write_text(f"""
kafka "main" {{
  bootstrap_servers = "{broker.bootstrap}"
}}
topic "t" {{
  name       = "{self.name}"
  partitions = 2
}}
consumer "billing" {{
  reads = [topic.t]
  group = "{self.group}"
  sla   = {{ max_lag = 1, max_age = "10m" }}
}}
""")
        done = flareiac(root, "apply", "-auto-approve")
        assert done.code == 0, done.text

    def status(self) -> dict[str, Any]:
        done = flareiac(self.root, "status", "-json")
        assert done.code == 0, done.text
        (row,) = json.loads(done.out)["readers"]
        return dict(row)

    def drift(self, code: int) -> str:
        done = flareiac(self.root, "drift")
        assert done.code == code, done.text
        return re.sub(r"\s+", " ", done.text)


@pytest.fixture
def project(tmp_path: Path, broker: Broker) -> Project:
    return Project(tmp_path, broker)


@pytest.mark.jvm
def test_a_consumer_that_is_behind_is_drift(project: Project) -> None:
    assert "topic.t: it holds no data, and max_age is 10m" in project.drift(3)
    project.topics.produce(project.name, ["a", "b", "c"])
    row = project.status()
    assert (row["lag"], row["verdict"]) == (3, "broken")
    assert row["age_ms"] < 600_000
    assert "has committed no offset" in row["reasons"][0]
    project.topics.commit(project.name, project.group, {0: 2})
    row = project.status()
    assert (row["lag"], row["verdict"], row["reasons"]) == (1, "kept", [])
    assert "No drift" in project.drift(0)
    project.topics.produce(project.name, ["d"])
    assert f"its group {project.group} is 2 records behind, and max_lag is 1" in project.drift(3)
    text = flareiac(project.root, "status").out
    assert "consumer.billing reads topic.t: sla broken" in text
    project.topics.trim(project.name, {0: 3})
    assert "1 records were deleted before its group" in project.drift(3)


@pytest.mark.jvm
def test_a_topic_that_was_made_again_keeps_no_level(project: Project) -> None:
    project.topics.produce(project.name, ["a", "b", "c"])
    project.topics.commit(project.name, project.group, {0: 3})
    assert project.status()["verdict"] == "kept"
    project.topics.delete(project.name)
    row = project.status()
    assert (row["lag"], row["age_ms"], row["verdict"]) == (None, None, "unknown")
    project.topics.create(project.name, partitions=2)
    row = project.status()
    assert (row["lag"], row["verdict"]) == (None, "unknown")
    assert "was made again since it was recorded" in row["reasons"][0]
