"""Topics of a real broker, managed from the command line: what is there afterwards, and what a plan says."""

import re
import uuid
from pathlib import Path

import pytest

from flareiac_kafka import codes
from tests.support.command_line import Ended, flareiac
from tests.support.kafka_broker import Broker
from tests.support.kafka_topics import Record

pytestmark = pytest.mark.jvm


class Project:
    """One project with one topic of a name of its own."""

    def __init__(self, root: Path, broker: Broker) -> None:
        self.root, self.broker, self.name = root, broker, f"t-{uuid.uuid4().hex[:12]}"

    def declare(self, body: str, more: str = "", servers: str | None = None) -> None:
        """Writes the configuration: the topic with this body, and more blocks."""
        connection = f'kafka "main" {{\n  bootstrap_servers = "{servers or self.broker.bootstrap}"\n}}\n'
        topic = f'topic "t" {{\n  name = "{self.name}"\n{body}\n}}\n'
        (self.root / "main.flare.hcl").write_text(connection + topic + more)

    def forget_block(self) -> None:
        """Takes the topic out of the configuration."""
        text = (self.root / "main.flare.hcl").read_text()
        (self.root / "main.flare.hcl").write_text(text.partition("topic ")[0])

    def plan(self) -> str:
        """The output of a plan, also of a blocked one."""
        done = flareiac(self.root, "plan")
        assert done.code in (0, 4), done.text
        return re.sub(r"\s+", " ", done.text)

    def apply(self, **environment: str) -> Ended:
        return flareiac(self.root, "apply", "-auto-approve", **environment)

    def applied(self) -> None:
        done = self.apply()
        assert done.code == 0, done.text

    def is_settled(self) -> bool:
        """Returns True if there is nothing left to do."""
        return "No changes" in self.plan()


@pytest.fixture
def project(tmp_path: Path, broker: Broker) -> Project:
    return Project(tmp_path, broker)


def test_a_topic_is_created_changed_and_deleted(project: Project) -> None:
    topics = project.broker.topics
    project.declare('partitions = 2\nconfig = { "retention.ms" = 3600000, "segment.ms" = 600000 }')
    project.applied()
    assert sorted(topics.starts(project.name)) == [0, 1]
    assert project.is_settled()
    project.declare('partitions = 3\nconfig = { "retention.ms" = 7200000 }\non_destroy = "delete"')
    project.applied()
    assert sorted(topics.starts(project.name)) == [0, 1, 2]
    assert project.is_settled()
    project.forget_block()
    assert "with all its records" in project.plan()
    project.applied()
    assert project.name not in topics.names()


def test_a_topic_whose_block_is_removed_stays_with_its_records(project: Project) -> None:
    project.declare("partitions = 1")
    project.applied()
    project.broker.topics.produce(project.name, [Record(value="kept")])
    project.forget_block()
    project.applied()
    assert project.broker.topics.ends(project.name) == {0: 1}


def test_a_topic_that_is_deleted_names_the_groups_that_read_it(project: Project) -> None:
    """Only those with a member at work: one that has ended is hit by nothing."""
    project.declare('partitions = 2\non_destroy = "delete"')
    project.applied()
    group = f"billing-{project.name}"
    with project.broker.topics.subscribed(project.name, group):
        project.forget_block()
        assert f'Read by consumer group "{group}".' in project.plan()
    assert "Read by" not in project.plan()


def test_changed_settings_are_drift_and_are_put_back(project: Project) -> None:
    project.declare('config = { "retention.ms" = 3600000 }')
    project.applied()
    project.broker.topics.configure(project.name, retention_ms="1000", segment_ms="60000")
    drift = flareiac(project.root, "drift")
    assert 'setting retention.ms was changed from "3600000" to "1000"' in re.sub(r"\s+", " ", drift.text)
    assert "setting segment.ms" in drift.text, "it is there and not managed"
    project.applied()
    assert project.is_settled()


def test_a_topic_that_others_made_is_adopted_on_request_only(project: Project) -> None:
    project.broker.topics.create(project.name, partitions=2)
    project.declare("partitions = 2")
    assert codes.NOT_ADOPTED.id in project.plan()
    assert project.apply().code != 0
    project.declare("partitions = 2", f'import {{\n  to = topic.t\n  id = "main/{project.name}"\n}}\n')
    project.applied()
    assert project.is_settled()


def test_a_topic_that_was_created_again_is_never_adopted_unasked(project: Project) -> None:
    topics = project.broker.topics
    project.declare('partitions = 1\non_destroy = "delete"')
    project.applied()
    topics.delete(project.name)
    topics.create(project.name)
    topics.produce(project.name, [Record(value="of others")])
    shown = project.plan()
    assert codes.RECREATED_ELSEWHERE.id in shown
    assert project.apply().code != 0
    project.forget_block()
    assert project.apply().code != 0, "nor is it deleted in place of the old one"
    assert topics.ends(project.name) == {0: 1}
    named = re.search(rf'id = "(main/{project.name}@[\w-]+)"', shown)
    assert named is not None
    project.declare("partitions = 1", f'import {{\n  to = topic.t\n  id = "{named.group(1)}"\n}}\n')
    project.applied()
    assert project.is_settled()
    assert topics.ends(project.name) == {0: 1}


def test_a_topic_that_is_gone_is_created_again(project: Project) -> None:
    project.declare("partitions = 2")
    project.applied()
    project.broker.topics.delete(project.name)
    assert "the topic was deleted outside of FlareIaC" in project.plan()
    project.applied()
    assert project.broker.topics.ends(project.name) == {0: 0, 1: 0}


def test_brokers_that_do_not_answer_make_a_topic_unknown(project: Project) -> None:
    project.declare("partitions = 1")
    project.applied()
    project.declare("partitions = 1", servers="127.0.0.1:1")
    done = flareiac(project.root, "plan")
    assert done.code == 1
    assert codes.CLUSTER_UNREACHABLE.id in done.text
    assert "will be created" not in done.text
    doctor = flareiac(project.root, "doctor")
    assert re.search(r"fail\s+kafka.main", doctor.text)


def test_what_the_cluster_refuses_is_found_before_anything_is_changed(project: Project) -> None:
    other = f"{project.name}-other"
    project.declare('config = { "no.such.setting" = 1 }', f'topic "o" {{\n  name = "{other}"\n}}\n')
    done = project.apply()
    assert done.code == 1
    assert codes.CHANGE_REFUSED.id in done.text
    assert "no.such.setting" in done.text
    assert not {project.name, other} & set(project.broker.topics.names())


POINTS = ["apply.intent", "apply.before-result", "apply.result"]


@pytest.mark.parametrize("point", POINTS)
def test_a_create_that_was_killed_is_found_again(project: Project, point: str) -> None:
    project.declare('partitions = 2\nconfig = { "retention.ms" = 3600000 }')
    assert project.apply(FLAREIAC_KILL_AT=point).killed
    project.applied()
    assert project.is_settled()
    assert sorted(project.broker.topics.starts(project.name)) == [0, 1]


@pytest.mark.parametrize("point", POINTS)
def test_a_change_and_a_deletion_that_were_killed_are_finished(project: Project, point: str) -> None:
    project.declare('partitions = 1\nconfig = { "retention.ms" = 3600000 }\non_destroy = "delete"')
    project.applied()
    project.declare('partitions = 3\nconfig = { "retention.ms" = 7200000 }\non_destroy = "delete"')
    assert project.apply(FLAREIAC_KILL_AT=point).killed
    project.applied()
    assert project.is_settled()
    assert sorted(project.broker.topics.starts(project.name)) == [0, 1, 2]
    project.forget_block()
    assert project.apply(FLAREIAC_KILL_AT=point).killed
    project.applied()
    assert project.is_settled()
    assert project.name not in project.broker.topics.names()


def test_what_exists_is_written_down_as_blocks(project: Project) -> None:
    project.broker.topics.create(project.name, partitions=3, retention_ms="3600000")
    project.declare("partitions = 1")
    (project.root / "main.flare.hcl").write_text(
        f'kafka "main" {{\n  bootstrap_servers = "{project.broker.bootstrap}"\n}}\n'
    )
    done = flareiac(project.root, "import", "topic.found", f"main/{project.name}")
    assert done.code == 0, done.text
    with (project.root / "main.flare.hcl").open("a") as file:
        file.write(done.out)
    plan = flareiac(project.root, "plan")
    assert "1 to import, 0 to add, 0 to change, 0 to destroy" in plan.text
    assert "partitions         = 3" in done.out
    assert '"retention.ms" = "3600000"' in done.out
