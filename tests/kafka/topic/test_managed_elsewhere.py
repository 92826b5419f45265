"""Two projects and one topic of a real broker: which state manages it, and what the other one may do."""

import json
import uuid
from pathlib import Path

import pytest

from flareiac_kafka import codes
from tests.support.command_line import Ended, flareiac
from tests.support.kafka_broker import Broker
from tests.support.kafka_topics import Record

pytestmark = pytest.mark.jvm


class Project:
    """A project that declares one topic, which others may declare too."""

    def __init__(self, root: Path, broker: Broker, name: str) -> None:
        self.root, self.broker, self.name = root, broker, name
        root.mkdir()

    def declare(self, body: str = "", *, importing: str | None = None) -> None:
        """Writes the topic with this body, and an import block with these lines."""
        text = f'kafka "main" {{\n  bootstrap_servers = "{self.broker.bootstrap}"\n}}\n'
        text += f'topic "t" {{\n  name = "{self.name}"\n{body}\n}}\n'
        if importing is not None:
            text += f'import {{\n  to = topic.t\n  id = "main/{self.name}"\n{importing}\n}}\n'
        (self.root / "main.flare.hcl").write_text(text)

    def forget_block(self) -> None:
        path = self.root / "main.flare.hcl"
        path.write_text(path.read_text().partition("topic ")[0])

    def run(self, *arguments: str) -> Ended:
        return flareiac(self.root, *arguments)

    def apply(self) -> Ended:
        return self.run("apply", "-auto-approve")

    def applied(self) -> str:
        done = self.apply()
        assert done.code == 0, done.text
        return done.text

    @property
    def lineage(self) -> str:
        state: dict[str, str] = json.loads(self.run("state", "pull").out)
        return state["lineage"]

    def is_settled(self) -> bool:
        return "No changes" in self.run("plan").text

    def blocked(self) -> bool:
        """Returns True if the plan and the apply both stop at the other state."""
        plan, applied = self.run("plan"), self.apply()
        found = codes.TOPIC_MANAGED_ELSEWHERE.id
        assert applied.code != 0
        return plan.code == 4 and found in plan.text and found in applied.text


@pytest.fixture
def prod(tmp_path: Path, broker: Broker) -> Project:
    return Project(tmp_path / "prod", broker, f"t-{uuid.uuid4().hex[:12]}")


@pytest.fixture
def dev(tmp_path: Path, broker: Broker, prod: Project) -> Project:
    return Project(tmp_path / "dev", broker, prod.name)


def test_dev_never_owns_a_topic_of_prod_by_a_pasted_block(prod: Project, dev: Project) -> None:
    prod.declare('config = { "retention.ms" = 3600000 }\non_destroy = "delete"')
    prod.applied()
    prod.broker.topics.produce(prod.name, [Record(value="kept")])
    assert prod.is_settled()
    dev.declare()
    assert dev.blocked()
    dev.declare('config = { "retention.ms" = 1000 }', importing="")
    assert dev.blocked()
    assert prod.is_settled()
    dev.forget_block()
    found = dev.run("import", f"-from-catalog=main/{dev.name[:-1]}*")
    assert prod.lineage[:8] in found.text, "blocks that are written for it say whose it is"

    dev.declare('config = { "retention.ms" = 7200000 }', importing="takeover = true")
    dev.applied()
    assert dev.is_settled()
    assert prod.blocked()
    drift = " ".join(prod.run("drift").text.split())
    assert f"the state whose lineage begins with {dev.lineage[:8]}" in drift
    assert 'setting retention.ms was changed from "3600000" to "7200000"' in drift
    prod.forget_block()
    assert prod.blocked(), "nor is it deleted"
    assert dev.is_settled()
    assert prod.broker.topics.ends(prod.name) == {0: 1}
    assert prod.run("state", "rm", "topic.t").code == 0
    assert prod.is_settled()


def test_a_plan_that_was_saved_before_another_state_took_the_topic_over_changes_nothing(
    prod: Project, dev: Project
) -> None:
    prod.declare('config = { "retention.ms" = 3600000 }')
    prod.applied()
    prod.declare('config = { "retention.ms" = 1000 }')
    assert prod.run("plan", "-out=saved").code in (0, 2)
    dev.declare('config = { "retention.ms" = 3600000 }', importing="takeover = true")
    dev.applied()
    late = prod.run("apply", "saved")
    assert late.code != 0
    assert codes.TOPIC_MANAGED_ELSEWHERE.id in late.text
    assert dev.is_settled()


def test_a_topic_that_is_adopted_is_marked_and_one_whose_setting_is_in_use_is_not(
    prod: Project, dev: Project
) -> None:
    prod.broker.topics.create(prod.name)
    prod.declare(importing="")
    assert "mark the topic as managed by this state" in prod.run("plan").text
    prod.applied()
    assert prod.is_settled()
    dev.declare(importing="")
    assert dev.blocked()

    prod.broker.topics.configure(prod.name, flush_messages="10000")
    assert "carries no mark" in " ".join(dev.run("plan").text.split())
    prod.declare('config = { "segment.ms" = 600000 }')
    assert "mark the topic" not in prod.run("plan").text, "what an operator has set stays"
    prod.applied()
    assert "setting flush.messages" in prod.run("drift").text


def test_a_takeover_that_was_killed_after_the_mark_is_finished(prod: Project, dev: Project) -> None:
    prod.declare('config = { "retention.ms" = 3600000 }')
    prod.applied()
    dev.declare('config = { "retention.ms" = 7200000 }', importing="takeover = true")
    killed = flareiac(dev.root, "apply", "-auto-approve", FLAREIAC_KILL_AT="topic.taken-over")
    assert killed.killed, killed.text
    assert prod.blocked(), "the mark is there"
    dev.applied()
    assert dev.is_settled()


def test_a_declared_flush_setting_takes_the_place_of_the_mark_and_gives_it_back(prod: Project) -> None:
    prod.declare('config = { "flush.messages" = 10 }')
    prod.applied()
    assert prod.is_settled()
    prod.declare("config = {}")
    prod.applied()
    assert prod.is_settled()
    assert "carries no mark" not in " ".join(prod.run("plan").text.split())
