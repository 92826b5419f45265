"""A user who may not see all topics of a cluster: what is forbidden is unknown, never missing."""

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.records import encode
from flareiac.sdk.brokers import TopicSelection
from flareiac_kafka import codes
from flareiac_kafka.broker.reader import KafkaReader
from flareiac_kafka.connection.spec import ConnectionDefinition
from flareiac_kafka.topic.managed_by import mark_of
from tests.support.command_line import flareiac
from tests.support.kafka_broker import Broker, Login

pytestmark = pytest.mark.jvm
LOGIN: Final = Login(user="reader", password="correct horse")
GUARD: Final = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
"""Settings by which a client that does not log in may do everything, the broker itself too; the user may do
what is granted.
"""


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory, java_home: Path) -> Iterator[Broker]:
    with Broker(tmp_path_factory.mktemp("guarded"), java_home, login=LOGIN, settings=GUARD) as started:
        yield started


def grant(broker: Broker, topic: str, *operations: AclOperation) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
    user = f"User:{LOGIN.user}"
    allowed = [
        AclBinding(
            ResourceType.TOPIC,
            topic,
            ResourcePatternType.LITERAL,
            user,
            "*",
            operation,
            AclPermissionType.ALLOW,
        )
        for operation in operations
    ]
    for future in admin.create_acls(allowed).values():
        future.result(60)


def test_topics_that_may_not_be_described(guarded: Broker) -> None:
    seen, hidden = guarded.topics.create(), guarded.topics.create()
    grant(guarded, seen, AclOperation.DESCRIBE)
    servers = str(guarded.login_bootstrap)
    definition = ConnectionDefinition(
        bootstrap_servers=servers, client={"bootstrap.servers": servers, **LOGIN.settings}
    )
    view = KafkaReader().view(encode(definition), TopicSelection(names=(seen,)))
    assert list(view.topics) == [seen]
    assert view.topics[seen].retention_ms is None, "its settings may not be read"
    with pytest.raises(Failure) as caught:
        KafkaReader().view(encode(definition), TopicSelection(names=(seen, hidden)))
    (error,) = caught.value.diagnostics
    assert error.code == codes.NOT_AUTHORIZED.id
    assert hidden in error.detail


def test_one_forbidden_topic_does_not_hide_the_others(guarded: Broker, tmp_path: Path) -> None:
    mine, hidden = guarded.topics.create(), guarded.topics.create()
    rights = (AclOperation.DESCRIBE, AclOperation.DESCRIBE_CONFIGS)
    grant(guarded, mine, *rights)
    (tmp_path / "main.flare.hcl").write_text(
        'secret "kafka" {\n  env = "KAFKA_PASSWORD"\n}\n'
        f'kafka "main" {{\n  bootstrap_servers = "{guarded.login_bootstrap}"\n'
        f'  sasl = {{ mechanism = "PLAIN", username = "{LOGIN.user}", password = secret.kafka }}\n}}\n'
        f'topic "mine" {{\n  name = "{mine}"\n}}\n'
        f'topic "hidden" {{\n  name = "{hidden}"\n}}\n'
        f'import {{\n  to = topic.mine\n  id = "main/{mine}"\n}}\n'
    )
    done = flareiac(tmp_path, "plan", KAFKA_PASSWORD=LOGIN.password)
    assert done.code == 1
    assert codes.NOT_AUTHORIZED.id in done.text
    assert "with topic.hidden" in done.text
    assert "with topic.mine" not in done.text
    assert LOGIN.password not in done.text
    applied = flareiac(
        tmp_path, "apply", "-auto-approve", "-target=topic.mine", KAFKA_PASSWORD=LOGIN.password
    )
    assert applied.code == 0, applied.text
    assert "carries no mark of the state that manages it" in " ".join(applied.text.split())
    text = (
        (tmp_path / "main.flare.hcl")
        .read_text()
        .replace(f'name = "{mine}"', f'name = "{mine}"\n  partitions = 4')
    )
    (tmp_path / "main.flare.hcl").write_text(text)
    refused = flareiac(
        tmp_path, "apply", "-auto-approve", "-target=topic.mine", KAFKA_PASSWORD=LOGIN.password
    )
    assert refused.code != 0
    assert codes.NOT_AUTHORIZED.id in refused.text
    assert list(guarded.topics.starts(mine)) == [0]


def test_a_topic_is_not_taken_over_where_the_other_state_cannot_be_kept_from_it(
    guarded: Broker, tmp_path: Path
) -> None:
    theirs = guarded.topics.create(flush_messages=str(mark_of(str(uuid.uuid4()))))
    grant(guarded, theirs, AclOperation.DESCRIBE, AclOperation.DESCRIBE_CONFIGS)
    (tmp_path / "main.flare.hcl").write_text(
        'secret "kafka" {\n  env = "KAFKA_PASSWORD"\n}\n'
        f'kafka "main" {{\n  bootstrap_servers = "{guarded.login_bootstrap}"\n'
        f'  sasl = {{ mechanism = "PLAIN", username = "{LOGIN.user}", password = secret.kafka }}\n}}\n'
        f'topic "theirs" {{\n  name = "{theirs}"\n}}\n'
        f'import {{\n  to = topic.theirs\n  id = "main/{theirs}"\n  takeover = true\n}}\n'
    )
    refused = flareiac(tmp_path, "apply", "-auto-approve", KAFKA_PASSWORD=LOGIN.password)
    assert refused.code != 0
    assert codes.NOT_AUTHORIZED.id in refused.text
    assert "topic.theirs" not in flareiac(tmp_path, "state", "list").out
