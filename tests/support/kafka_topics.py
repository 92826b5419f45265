"""Topics of a broker as a test uses them: made, filled, read, trimmed and deleted."""

import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, Final

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka import TopicCollection as Names
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    PartitionMetadata,
    ResourceType,
)
from confluent_kafka.admin import ConfigResource as Resource

SECONDS: Final = 60.0
"""The seconds that anything may take before a test calls it hung."""

Settings = dict[str, str | int | float | bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A record; texts are UTF-8. ``timestamp`` is in milliseconds, 0 for the time of sending. ``partition``
    and ``offset`` are -1 where the client and the broker choose.
    """

    value: str | bytes | None
    key: str | bytes | None = None
    partition: int = -1
    offset: int = -1
    timestamp: int = 0
    headers: tuple[tuple[str, bytes | None], ...] = ()


class Topics:
    """The topics of the brokers at ``bootstrap``; ``settings`` are those of the client, such as a login.
    ``copies``: of each partition of a new topic, on as many nodes.
    """

    def __init__(self, bootstrap: str, settings: Mapping[str, str] | None = None, *, copies: int = 1) -> None:
        self._copies: Final = copies
        # A broker of a test goes away and comes back; what the client says about it on stderr is noise
        self._settings: Settings = {
            "bootstrap.servers": bootstrap,
            "log_level": 0,
            "reconnect.backoff.max.ms": 500,
            **(settings or {}),
        }
        self._admin: Final = AdminClient(dict(self._settings))

    def create(self, name: str | None = None, *, partitions: int = 1, **config: str) -> str:
        """A new topic, of a name that no other test has where none is given; returns the name. Settings are
        given with ``_`` for ``.``, such as ``retention_ms="1000"``.
        """
        name = name or f"t-{uuid.uuid4().hex[:12]}"
        dotted = {key.replace("_", "."): value for key, value in config.items()}
        made = self._admin.create_topics([NewTopic(name, partitions, self._copies, config=dotted)])
        _done(made)
        self._wait(lambda: self._leaders(name) == partitions, f"{name} has no leader")
        return name

    def delete(self, name: str) -> None:
        """Returns when the broker no longer knows it."""
        _done(self._admin.delete_topics([name]))
        self._wait(lambda: name not in self.names(), f"{name} is still there")

    def add_partitions(self, name: str, total: int) -> None:
        """From now on the topic has ``total`` partitions."""
        _done(self._admin.create_partitions([NewPartitions(name, total)]))
        self._wait(lambda: self._leaders(name) == total, f"{name} has no leader")

    def configure(self, name: str, **config: str) -> None:
        """Changes settings of a topic, written as for ``create``."""
        entries = [
            ConfigEntry(key.replace("_", "."), value, incremental_operation=AlterConfigOpType.SET)
            for key, value in config.items()
        ]
        resource = Resource(ResourceType.TOPIC, name, incremental_configs=entries)
        _done(self._admin.incremental_alter_configs([resource]))

    def leader(self, name: str, partition: int = 0) -> int:
        """The id of the node that leads a partition, -1 for none."""
        return int(self._described(name)[partition].leader)

    def await_copies(self, name: str, copies: int) -> None:
        """Returns when each partition has so many copies that hold all of its records."""
        self._wait(
            lambda: all(len(item.isrs) == copies for item in self._described(name).values()),
            f"{name} has not {copies} copies in sync",
        )

    def trim(self, name: str, before: Mapping[int, int]) -> None:
        """Deletes the records of partitions before an offset, as retention does."""
        _done(self._admin.delete_records([TopicPartition(name, *item) for item in before.items()]))

    def names(self) -> list[str]:
        """Every topic, sorted."""
        return sorted(self._admin.list_topics(timeout=SECONDS).topics)

    def identity(self, name: str) -> str:
        """The id of a topic: another one when it is deleted and created again."""
        (found,) = self._admin.describe_topics(Names([name])).values()
        return str(found.result(SECONDS).topic_id)

    def starts(self, name: str) -> dict[int, int]:
        """The first offset of each partition."""
        return self._offsets(name, OffsetSpec.earliest())

    def ends(self, name: str) -> dict[int, int]:
        """The offset after the last record of each partition."""
        return self._offsets(name, OffsetSpec.latest())

    def produce(self, name: str, records: Iterable[Record | str | bytes | None]) -> None:
        """Returns when the broker has them all; raises ``KafkaException`` when it does not take one.
        Anything but a ``Record`` is a value; without keys all go to the first partition.
        """
        producer = Producer({**self._settings, "acks": "all", "linger.ms": 5})
        self._send(producer, name, records)

    def produce_in_transaction(
        self, name: str, records: Iterable[Record | str | bytes | None], *, commit: bool = True
    ) -> None:
        """As ``produce``, in one transaction that is committed or aborted."""
        producer = Producer({**self._settings, "transactional.id": uuid.uuid4().hex})
        producer.init_transactions(SECONDS)
        producer.begin_transaction()
        self._send(producer, name, records)
        if commit:
            producer.commit_transaction(SECONDS)
        else:
            producer.abort_transaction(SECONDS)

    @contextmanager
    def open_transaction(self, name: str, records: Iterable[Record | str | bytes | None]) -> Iterator[None]:
        """The records stand in a transaction that is open inside, and committed at the end."""
        patience = {"transaction.timeout.ms": int(10 * SECONDS * 1000)}
        producer = Producer({**self._settings, **patience, "transactional.id": uuid.uuid4().hex})
        producer.init_transactions(SECONDS)
        producer.begin_transaction()
        self._send(producer, name, records)
        yield
        producer.commit_transaction(SECONDS)

    @contextmanager
    def subscribed(self, name: str, group: str) -> Iterator[None]:
        """A member of a consumer group reads a topic, and leaves the group at the end."""
        consumer = Consumer({**self._settings, "group.id": group, "auto.offset.reset": "earliest"})
        with closing(consumer):
            consumer.subscribe([name])
            deadline = time.monotonic() + 60
            while not consumer.assignment():
                assert time.monotonic() < deadline, f"{group} was given no partition of {name}"
                consumer.poll(0.2)
            yield

    def commit(self, name: str, group: str, offsets: Mapping[int, int]) -> None:
        """A consumer group without members has read partitions up to these offsets."""
        places = [TopicPartition(name, *place) for place in offsets.items()]
        _done(self._admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, places)]))

    def groups(self) -> list[str]:
        """The consumer groups that the broker knows, sorted."""
        found = self._admin.list_consumer_groups().result(SECONDS)
        return sorted(group.group_id for group in found.valid)

    def consume(self, name: str) -> list[Record]:
        """Every committed record that is there now, ordered by partition and offset."""
        settings: Settings = {
            **self._settings,
            "group.id": "tests",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 10,
        }
        found: list[Record] = []
        reading = set(self.ends(name))
        deadline = time.monotonic() + SECONDS
        with closing(Consumer(settings)) as consumer:
            consumer.assign([TopicPartition(name, number, OFFSET_BEGINNING) for number in reading])
            while reading:
                assert time.monotonic() < deadline, f"{name} was not read to its end"
                message = consumer.poll(0.1)
                if message is None:
                    continue
                failure = message.error()
                if failure is None:
                    found.append(_record(message))
                elif failure.code() == KafkaError._PARTITION_EOF:
                    reading.discard(message.partition() or 0)
                elif not failure.retriable():
                    raise KafkaException(failure)
        return sorted(found, key=lambda record: (record.partition, record.offset))

    def _send(self, producer: Producer, name: str, records: Iterable[Record | str | bytes | None]) -> None:
        failures: list[KafkaError] = []

        def delivered(failure: KafkaError | None, _message: object) -> None:
            if failure is not None:
                failures.append(failure)

        for item in records:
            record = item if isinstance(item, Record) else Record(value=item, partition=0)
            producer.produce(
                name,
                value=record.value,
                key=record.key,
                partition=record.partition,
                timestamp=record.timestamp,
                headers=list(record.headers),
                on_delivery=delivered,
            )
            producer.poll(0)
        assert producer.flush(SECONDS) == 0, f"the broker did not take every record of {name}"
        if failures:
            raise KafkaException(failures[0])

    def _leaders(self, name: str) -> int:
        """The number of partitions that have a leader; 0 while the topic is not known everywhere."""
        found = self._admin.list_topics(timeout=SECONDS).topics.get(name)
        if found is None or found.error is not None:
            return 0
        return sum(partition.leader >= 0 for partition in found.partitions.values())

    def _described(self, name: str) -> Mapping[int, PartitionMetadata]:
        """The metadata of each partition as the nodes know it."""
        return self._admin.list_topics(name, timeout=SECONDS).topics[name].partitions

    def _offsets(self, name: str, which: OffsetSpec) -> dict[int, int]:
        asked = {TopicPartition(name, number): which for number in self._described(name)}
        answers = self._admin.list_offsets(asked)
        return {item.partition: answer.result(SECONDS).offset for item, answer in answers.items()}

    def wait_for_starts(self, name: str, wanted: Mapping[int, int]) -> None:
        """Returns when the first offset of each partition is this, as retention moves it."""
        self._wait(lambda: self.starts(name) == wanted, f"{name} does not begin at {wanted}")

    def _wait(self, condition: Callable[[], bool], otherwise: str) -> None:
        deadline = time.monotonic() + SECONDS
        while not condition():
            assert time.monotonic() < deadline, otherwise
            time.sleep(0.02)


def _done(answers: Mapping[Any, Any]) -> None:
    for answer in answers.values():
        answer.result(SECONDS)


def _record(message: Any) -> Record:
    return Record(
        value=message.value(),
        key=message.key(),
        partition=message.partition(),
        offset=message.offset(),
        timestamp=message.timestamp()[1],
        headers=tuple(message.headers() or ()),
    )
