"""The answers of the reader of a real cluster, and its end where it gets no answer."""

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from flareiac.kernel.codes import Code
from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.records import encode
from flareiac.sdk.brokers import BrokerReader, PartitionOffsets, TopicSelection, reader_of
from flareiac_kafka import codes
from flareiac_kafka.broker.reader import KafkaReader
from flareiac_kafka.connection.spec import ConnectionDefinition
from tests.support.kafka_broker import Broker, Login
from tests.support.kafka_topics import Record

pytestmark = pytest.mark.jvm
READER: Final[BrokerReader] = KafkaReader()
LOGIN: Final = Login(user="loader", password="correct horse")


def connection(
    servers: str, *, timeout_ms: int = 10_000, settings: dict[str, str] | None = None
) -> Attributes:
    definition = ConnectionDefinition(
        bootstrap_servers=servers,
        client={"bootstrap.servers": servers, "security.protocol": "PLAINTEXT", **(settings or {})},
        timeout_ms=timeout_ms,
    )
    attributes: Attributes = encode(definition)
    return attributes


def error(attributes: Attributes, selection: TopicSelection | None = None) -> tuple[str, str]:
    """The code and the text of the failure to view a cluster."""
    with pytest.raises(Failure) as caught:
        READER.view(attributes, selection or TopicSelection(names=("any",)))
    (found,) = caught.value.diagnostics
    return found.code, found.detail


def test_offsets_ids_and_settings_of_topics(broker: Broker) -> None:
    name = broker.topics.create(partitions=2, retention_ms="60000", max_message_bytes="2000")
    compacted = broker.topics.create(cleanup_policy="compact")
    broker.topics.produce(name, [Record(value=str(at), partition=0) for at in range(3)])
    broker.topics.trim(name, {0: 1})
    view = READER.view(connection(broker.bootstrap), TopicSelection(names=(name, compacted, "absent")))
    assert view.missing == ("absent",)
    assert view.cluster_id
    topic = view.topics[name]
    assert topic.partitions == {0: PartitionOffsets(first=1, end=3), 1: PartitionOffsets(first=0, end=0)}
    assert topic.retention_ms == 60_000
    assert topic.largest_batch == 2000
    assert not topic.is_compacted
    assert view.topics[compacted].is_compacted
    assert view.topics[compacted].retention_ms == -1


def test_a_topic_that_is_created_again_has_another_id(broker: Broker) -> None:
    name = broker.topics.create()
    ask = connection(broker.bootstrap)
    first = READER.view(ask, TopicSelection(names=(name,))).topics[name].id
    broker.topics.delete(name)
    broker.topics.create(name)
    again = READER.view(ask, TopicSelection(names=(name,))).topics[name].id
    assert first is not None
    assert again is not None
    assert first != again
    assert not {*first, *again} & {"+", "/", "="}, "Java writes ids for URLs"


def test_a_pattern_matches_whole_names(broker: Broker) -> None:
    first = broker.topics.create()
    second = broker.topics.create(f"{first}-more")
    view = READER.view(connection(broker.bootstrap), TopicSelection(pattern=f"{first}.*"))
    assert sorted(view.topics) == [first, second]
    assert list(READER.view(connection(broker.bootstrap), TopicSelection(pattern=first)).topics) == [first]
    assert error(connection(broker.bootstrap), TopicSelection(pattern="("))[0] == (
        codes.INVALID_TOPIC_PATTERN.id
    )


def test_records_from_a_position_on(broker: Broker) -> None:
    name = broker.topics.create(partitions=2)
    broker.topics.produce(
        name, [Record(value=f"v{at}", key="k", partition=0, timestamp=1000 + at) for at in range(3)]
    )
    ask = connection(broker.bootstrap)
    found = READER.records(ask, {(name, 0): 1, (name, 1): 0}, count=5)
    assert [(item.offset, item.key, item.value, item.timestamp_ms) for item in found] == [
        (1, b"k", b"v1", 1001),
        (2, b"k", b"v2", 1002),
    ]
    assert [item.offset for item in READER.records(ask, {(name, 0): 0})] == [0]
    assert READER.records(ask, {(name, 0): 3}) == []
    at = READER.positions_at(ask, [(name, 0), (name, 1)], 1001)
    assert at == {(name, 0): 1, (name, 1): 0}
    assert READER.positions_at(ask, [(name, 0)], 5000) == {(name, 0): 3}


def test_one_dead_broker_among_several_does_not_matter(broker: Broker) -> None:
    name = broker.topics.create()
    view = READER.view(connection(f"127.0.0.1:1,{broker.bootstrap}"), TopicSelection(names=(name,)))
    assert list(view.topics) == [name]


def test_a_cluster_that_cannot_be_reached() -> None:
    code, detail = error(connection("127.0.0.1:1"))
    assert code == codes.CLUSTER_UNREACHABLE.id
    assert "Connection refused" in detail
    assert "127.0.0.1:1" in detail


def test_a_server_that_never_answers(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        code, _detail = error(connection(f"127.0.0.1:{silent.getsockname()[1]}", timeout_ms=1500))
    assert code == codes.CLUSTER_UNREACHABLE.id


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory, java_home: Path) -> Iterator[Broker]:
    with Broker(tmp_path_factory.mktemp("guarded"), java_home, login=LOGIN) as started:
        yield started


def login(broker: Broker, password: str, mechanism: str = "PLAIN") -> Attributes:
    servers = broker.login_bootstrap
    assert servers is not None
    settings = {**LOGIN.settings, "sasl.mechanism": mechanism, "sasl.password": password}
    return connection(servers, settings=settings)


def test_a_login_with_a_secret_from_the_environment(guarded: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    name = guarded.topics.create()
    monkeypatch.setenv("KAFKA_PASSWORD", LOGIN.password)
    view = READER.view(login(guarded, "flareiac-secret:env:KAFKA_PASSWORD"), TopicSelection(names=(name,)))
    assert list(view.topics) == [name]


def test_a_login_that_java_settings_hold(guarded: Broker) -> None:
    servers = guarded.login_bootstrap
    assert servers is not None
    settings = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}
    ask = connection(servers, settings=settings | {"sasl.jaas.config": LOGIN.jaas})
    assert READER.view(ask, TopicSelection()).topics == {}


def test_a_wrong_password_is_refused_at_once_and_not_shown(
    guarded: Broker, capfd: pytest.CaptureFixture[str]
) -> None:
    code, detail = error(login(guarded, "hunter2"))
    assert code == codes.AUTHENTICATION_FAILED.id
    assert "Invalid username or password" in detail
    assert "hunter2" not in detail
    assert capfd.readouterr() == ("", "")


def test_a_mechanism_that_the_broker_lacks(guarded: Broker) -> None:
    code, detail = error(login(guarded, "x", mechanism="SCRAM-SHA-256"))
    assert code == codes.AUTHENTICATION_FAILED.id
    assert "PLAIN" in detail


def test_tls_against_a_listener_without_it(broker: Broker) -> None:
    code, detail = error(connection(broker.bootstrap, settings={"security.protocol": "SSL"}))
    assert code == codes.TLS_FAILED.id
    assert "that the listener of these brokers uses TLS" in detail


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        (
            {"ssl.truststore.location": "/stores/trust.jks", "security.protocol": "SSL"},
            codes.SETTING_FOR_JAVA_ONLY,
        ),
        (
            {
                "ssl.truststore.location": "/no/ca.pem",
                "ssl.truststore.type": "PEM",
                "security.protocol": "SSL",
            },
            codes.CLIENT_NOT_OPENED,
        ),
        (
            {"sasl.jaas.config": "com.example.Login required;", "sasl.mechanism": "PLAIN"},
            codes.SETTING_FOR_JAVA_ONLY,
        ),
        ({"sasl.mechanism": "GSSAPI", "security.protocol": "SASL_PLAINTEXT"}, codes.CLIENT_NOT_OPENED),
    ],
)
def test_settings_that_only_java_can_use(settings: dict[str, str], code: Code) -> None:
    found, detail = error(connection("127.0.0.1:1", settings=settings))
    assert found == code.id
    assert "Streams" in detail


def test_the_reader_is_found_by_the_type_of_the_connection() -> None:
    assert isinstance(reader_of("kafka"), KafkaReader)
