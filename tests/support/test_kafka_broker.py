"""A broker of a test keeps what it was given, and refuses what a real one refuses."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaException

from tests.support.kafka_broker import Broker, Login
from tests.support.kafka_topics import Record, Topics

pytestmark = pytest.mark.jvm

LOGIN = Login(user="reader", password="a secret")


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, java_home: Path) -> Iterator[Broker]:
    """A broker that tests may kill."""
    settings = {"message.max.bytes": "2000"}
    with Broker(tmp_path_factory.mktemp("kafka"), java_home, login=LOGIN, settings=settings) as broker:
        yield broker


def values(topics: Topics, name: str) -> list[str | bytes | None]:
    return [record.value for record in topics.consume(name)]


def test_records_come_back_as_they_were_sent(own: Broker) -> None:
    name = own.topics.create(partitions=2)
    sent = [
        Record(value=b"one", key=b"k", partition=1, offset=0, timestamp=1000, headers=(("h", b"v"),)),
        Record(value=None, key=b"k", partition=1, offset=1, timestamp=2000),
    ]
    own.topics.produce(name, sent)
    assert own.topics.consume(name) == sent
    assert own.topics.ends(name) == {0: 0, 1: 2}


def test_only_topics_that_ask_for_it_lose_old_records(own: Broker) -> None:
    kept, short = own.topics.create(), own.topics.create(retention_ms="1000")
    for name in (kept, short):
        own.topics.produce(name, [Record(value="of 1970", timestamp=1000)])
    own.topics.wait_for_starts(short, {0: 1})
    assert own.topics.starts(kept) == {0: 0}


def test_a_restart_keeps_records_and_a_kill_does_too(own: Broker) -> None:
    name = own.topics.create()
    own.topics.produce(name, ["a"])
    own.restart()
    own.topics.produce(name, ["b"])
    before = own.topics.identity(name)
    own.kill()
    own.start()
    own.topics.produce(name, ["c"])
    assert values(own.topics, name) == [b"a", b"b", b"c"]
    assert own.topics.identity(name) == before


def test_a_topic_that_is_created_again_is_another_one(own: Broker) -> None:
    name = own.topics.create()
    own.topics.produce(name, ["a"])
    first = own.topics.identity(name)
    own.topics.delete(name)
    own.topics.create(name)
    assert own.topics.identity(name) != first
    assert values(own.topics, name) == []


def test_trimmed_records_are_gone_and_offsets_go_on(own: Broker) -> None:
    name = own.topics.create()
    own.topics.produce(name, ["a", "b", "c"])
    own.topics.trim(name, {0: 2})
    own.topics.add_partitions(name, 2)
    assert own.topics.starts(name) == {0: 2, 1: 0}
    assert own.topics.ends(name) == {0: 3, 1: 0}
    assert values(own.topics, name) == [b"c"]


def test_an_aborted_transaction_is_not_read(own: Broker) -> None:
    name = own.topics.create()
    own.topics.produce_in_transaction(name, ["never"], commit=False)
    own.topics.produce_in_transaction(name, ["a"])
    assert values(own.topics, name) == [b"a"]
    assert own.topics.ends(name) == {0: 4}


def test_a_record_above_the_limit_is_refused(own: Broker) -> None:
    name = own.topics.create()
    with pytest.raises(KafkaException, match="MSG_SIZE_TOO_LARGE"):
        own.topics.produce(name, ["a" * 3000])


def test_a_listener_with_users_takes_the_right_password_only(own: Broker) -> None:
    assert own.login_bootstrap is not None
    name = own.topics.create()
    own.topics.produce(name, ["a"])
    assert values(Topics(own.login_bootstrap, LOGIN.settings), name) == [b"a"]
    wrong = Login(user="reader", password="another").settings
    with pytest.raises(KafkaException):
        Topics(own.login_bootstrap, {**wrong, "socket.timeout.ms": "2000"}).create(name + "-2")
