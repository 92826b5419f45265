"""The one module that knows confluent-kafka: a cluster, asked and changed within a time limit.

Touches the world. A request without an answer is ``Failure``; one that the cluster refuses is ``Refused``.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Final, TypeVar

from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
)

from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.sdk.brokers import BrokerRecord
from flareiac.sdk.secrets import resolve_all
from flareiac_kafka import codes
from flareiac_kafka.broker.cluster import (
    EARLIEST,
    LATEST,
    Brokers,
    ConfigChange,
    ConfigValue,
    TopicDescription,
)
from flareiac_kafka.broker.failures import (
    ALL_DOWN,
    AUTHENTICATION,
    TLS,
    UNDECIDED,
    Reason,
    Refused,
    not_allowed,
    unexpected,
    without_answer,
)
from flareiac_kafka.broker.settings import librdkafka_settings
from flareiac_kafka.connection.spec import ConnectionDefinition

_T = TypeVar("_T")
_STEP_S: Final = 0.05
_PATIENCE_S: Final = 3.0
"""The time for which brokers of which none can be reached are tried, as one that starts again may be back."""
_NO_ID: Final = "AAAAAAAAAAAAAAAAAAAAAA"
_JAVA: Final = str.maketrans("+/", "-_")
_GROUP: Final = "flareiac"
_ABSENT: Final = frozenset(
    {"UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_TOPIC", "_UNKNOWN_PARTITION", "TOPIC_EXCEPTION"}
)
_FORBIDDEN: Final = "AUTHORIZATION_FAILED"

_QUIET: Final = logging.Logger("flareiac_kafka.librdkafka", logging.CRITICAL + 1)
"""The logger of librdkafka, silent: its lines say nothing that the reasons of a failure do not say."""


class Cluster:
    """One cluster, for one series of questions that together take no longer than the connection's timeout.

    ``address`` says in messages which one it is. Raises ``Failure`` for settings that cannot be used.
    Each of its methods raises ``Failure``: unreachable, login refused, not allowed.
    """

    def __init__(
        self, definition: ConnectionDefinition, address: str, cancel: threading.Event | None = None
    ) -> None:
        self._address, self._servers = address, definition.bootstrap_servers
        self._seconds = definition.timeout_ms / 1000
        self._deadline = time.monotonic() + self._seconds
        self._started = time.monotonic()
        self._cancel = cancel or threading.Event()
        self._seen: dict[str, Reason] = {}
        self._settings: dict[str, Any] = {
            **librdkafka_settings(resolve_all(definition.client), address),
            "log_level": 0,
            "error_cb": self._note,
            "socket.connection.setup.timeout.ms": max(1000, min(10_000, definition.timeout_ms)),
            "reconnect.backoff.max.ms": 500,
        }
        self._admin = self._opened(lambda: AdminClient(self._settings, logger=_QUIET))

    def topics(self, names: Sequence[str]) -> tuple[str | None, Mapping[str, TopicDescription]]:
        """The cluster's id, and those of these topics that exist."""
        cluster = self._admin.describe_cluster(request_timeout=self._left)
        asked = (
            self._admin.describe_topics(TopicCollection(list(names)), request_timeout=self._left)
            if names
            else {}
        )
        cluster_id = self._answer(cluster, "its id")
        descriptions = {}
        for name, future in asked.items():
            topic = self._present(future, f"topic {name}")
            if topic is not None:
                descriptions[name] = TopicDescription(
                    name=name,
                    id=_id(topic.topic_id),
                    replicas={partition.id: len(partition.replicas) for partition in topic.partitions},
                )
        return cluster_id.cluster_id, descriptions

    def brokers(self) -> Brokers:
        """The brokers that are there."""
        cluster = self._answer(self._admin.describe_cluster(request_timeout=self._left), "its brokers")
        return Brokers(cluster_id=cluster.cluster_id, count=len(cluster.nodes))

    def names(self) -> tuple[str, ...]:
        """The names of all topics, sorted."""
        listed = self._blocking(lambda seconds: self._admin.list_topics(timeout=seconds))
        return tuple(sorted(listed.topics))

    def groups(self, topic: str) -> tuple[str, ...]:
        """The consumer groups with members that read a topic now, sorted. The cluster leaves out those that
        the user of the connection may not describe.
        """
        listed = self._answer(self._admin.list_consumer_groups(request_timeout=self._left), "its groups")
        for failure in listed.errors:  # of single brokers: the list has gaps
            raise Failure(self._refusal(Refused(_reason(failure)), "its groups"))
        names = [group.group_id for group in listed.valid]
        asked = self._admin.describe_consumer_groups(names, request_timeout=self._left) if names else {}
        groups = {name: self._answer(future, f"group {name}") for name, future in asked.items()}
        return tuple(sorted(name for name, group in groups.items() if _reads(group, topic)))

    def offsets(self, wanted: Mapping[tuple[str, int], int]) -> Mapping[tuple[str, int], int]:
        """By topic and partition the offset of ``EARLIEST``, of ``LATEST``, or of the first record that is
        not earlier than a time (ms since 1970, UTC); -1 where there is none.
        """
        if not wanted:
            return {}
        asked = self._admin.list_offsets(
            {TopicPartition(*place): _spec(what) for place, what in wanted.items()},
            isolation_level=IsolationLevel.READ_UNCOMMITTED,
            request_timeout=self._left,
        )
        return {
            (place.topic, place.partition): int(
                self._answer(future, f"offsets of {place.topic}, partition {place.partition}").offset
            )
            for place, future in asked.items()
        }

    def newest(self, places: Iterable[tuple[str, int]]) -> Mapping[tuple[str, int], int | None]:
        """By topic and partition the greatest timestamp of its records (ms since 1970, UTC), None where it
        holds none. Brokers before Kafka 3.0 refuse.
        """
        asked = self._admin.list_offsets(
            {TopicPartition(*place): OffsetSpec.max_timestamp() for place in places},
            isolation_level=IsolationLevel.READ_UNCOMMITTED,
            request_timeout=self._left,
        )
        newest: dict[tuple[str, int], int | None] = {}
        for place, future in asked.items():
            at = self._answer(future, f"newest record of {place.topic}, partition {place.partition}")
            newest[place.topic, place.partition] = None if at.offset < 0 else int(at.timestamp)
        return newest

    def committed(
        self, group: str, places: Iterable[tuple[str, int]]
    ) -> Mapping[tuple[str, int], int | None]:
        """By topic and partition the offset that a group has committed, None where it has committed none."""
        wanted = [TopicPartition(*place) for place in places]
        asked = self._admin.list_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group, wanted)], request_timeout=self._left
        )
        answer = self._answer(asked[group], f"offsets of group {group}")
        offsets: dict[tuple[str, int], int | None] = {}
        for place in answer.topic_partitions:
            if place.error is not None:
                reason = Reason(name=place.error.name(), text=place.error.str())
                raise Failure(self._refusal(Refused(reason), f"offsets of group {group}"))
            offsets[place.topic, place.partition] = None if place.offset < 0 else int(place.offset)
        return offsets

    def configs(self, names: Sequence[str]) -> Mapping[str, Mapping[str, ConfigValue]]:
        """The settings of topics, by topic and name; those of a topic that is not allowed to be asked about
        are left out.
        """
        resources = [ConfigResource(ConfigResource.Type.TOPIC, name) for name in names]
        asked = self._admin.describe_configs(resources, request_timeout=self._left) if resources else {}
        settings: dict[str, Mapping[str, ConfigValue]] = {}
        for resource, future in asked.items():
            try:
                entries = self._result(future)
            except Refused as refused:
                if _FORBIDDEN in refused.reason.name:
                    continue
                raise Failure(self._refusal(refused, f"settings of topic {resource.name}")) from None
            settings[resource.name] = {name: _config(entry) for name, entry in entries.items()}
        return settings

    def records(self, positions: Mapping[tuple[str, int], int], count: int) -> Sequence[BrokerRecord]:
        """Up to ``count`` records of each partition from a position on; none where it holds no more."""
        ends = self.offsets(dict.fromkeys(positions, LATEST))
        firsts = self.offsets(dict.fromkeys(positions, EARLIEST))
        starts = {place: max(at, firsts[place]) for place, at in positions.items()}
        waiting = {place for place, at in starts.items() if at < ends[place]}
        if not waiting:
            return []
        settings = {
            **self._settings,
            "group.id": _GROUP,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_uncommitted",
        }
        consumer = self._opened(lambda: Consumer(settings, logger=_QUIET))
        try:
            consumer.assign([TopicPartition(*place, starts[place]) for place in sorted(waiting)])
            return self._consumed(consumer, waiting, count)
        finally:
            consumer.close()

    def create(
        self, name: str, shape: tuple[int, int | None], config: Mapping[str, str], *, only_check: bool
    ) -> None:
        """Makes a topic, or only has the cluster check whether it could. ``shape``: its partitions (-1: the
        default of the cluster), and the copies of each. Raises ``Refused``.
        """
        partitions, copies = shape
        topic = NewTopic(name, partitions, -1 if copies is None else copies, config=dict(config))
        asked = self._admin.create_topics(
            [topic], validate_only=only_check, request_timeout=self._left, operation_timeout=self._left
        )
        self._done(asked.values())

    def add_partitions(self, name: str, total: int) -> None:
        """Gives a topic more partitions. Raises ``Refused``."""
        asked = self._admin.create_partitions(
            [NewPartitions(name, total)], request_timeout=self._left, operation_timeout=self._left
        )
        self._done(asked.values())

    def configure(self, name: str, change: ConfigChange, *, only_check: bool = False) -> None:
        """Changes settings of a topic, and no other. Raises ``Refused``."""
        entries = [
            *(
                ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET)
                for key, value in change.set.items()
            ),
            *(ConfigEntry(key, None, incremental_operation=AlterConfigOpType.DELETE) for key in change.reset),
        ]
        resource = ConfigResource(ConfigResource.Type.TOPIC, name, incremental_configs=entries)
        asked = self._admin.incremental_alter_configs(
            [resource], validate_only=only_check, request_timeout=self._left
        )
        self._done(asked.values())

    def delete(self, name: str) -> None:
        """Deletes a topic with all its records; fine where it is gone. Raises ``Refused``."""
        asked = self._admin.delete_topics([name], request_timeout=self._left, operation_timeout=self._left)
        try:
            self._done(asked.values())
        except Refused as refused:
            if refused.reason.name not in _ABSENT:
                raise

    def pause(self, seconds: float) -> bool:
        """Waits a little; False where no time is left."""
        return not self._cancel.wait(min(seconds, self._left)) and time.monotonic() < self._deadline

    def _opened(self, make: Callable[[], _T]) -> _T:
        try:
            return make()
        except KafkaException as failure:
            reason = _reason(failure)
            text = reason.line.rpartition("client: ")[2]
            why = f"{self._address}: {text}. Streams use Java's client, which may take it."
            raise Failure(error(codes.CLIENT_NOT_OPENED, why)) from None

    def _note(self, failure: KafkaError) -> None:
        self._seen[failure.name()] = Reason(name=failure.name(), text=failure.str())

    @property
    def _left(self) -> float:
        return max(_STEP_S, self._deadline - time.monotonic())

    def _gives_up(self) -> bool:
        """Returns True if waiting longer is of no use: time is up, or no broker can be reached and gives the
        reason.
        """
        now = time.monotonic()
        if now >= self._deadline or self._cancel.is_set():
            return True
        if ALL_DOWN not in self._seen:
            return False
        return AUTHENTICATION in self._seen or TLS in self._seen or now - self._started >= _PATIENCE_S

    def _result(self, future: "Future[Any]") -> Any:
        """The result of a request. Raises ``Refused``; ``Failure`` where no broker answered."""
        while not future.done():
            if self._gives_up():
                raise Failure(self._unanswered())
            self._admin.poll(_STEP_S)
        try:
            return future.result()
        except KafkaException as failure:
            reason = _reason(failure)
            if reason.name in UNDECIDED:
                raise Failure(self._unanswered()) from None
            raise Refused(reason) from None

    def _answer(self, future: "Future[Any]", what: str) -> Any:
        try:
            return self._result(future)
        except Refused as refused:
            raise Failure(self._refusal(refused, what)) from None

    def _present(self, future: "Future[Any]", what: str) -> Any:
        """None of what does not exist."""
        try:
            return self._result(future)
        except Refused as refused:
            if refused.reason.name in _ABSENT:
                return None
            raise Failure(self._refusal(refused, what)) from None

    def _done(self, futures: "Iterable[Future[Any]]") -> None:
        for future in futures:
            self._result(future)

    def _refusal(self, refused: Refused, what: str) -> Diagnostic:
        diagnose = not_allowed if _FORBIDDEN in refused.reason.name else unexpected
        return diagnose(self._address, what, refused.reason)

    def _unanswered(self) -> Diagnostic:
        return without_answer(self._address, self._servers, self._seen, self._seconds)

    def _blocking(self, ask: Callable[[float], _T]) -> _T:
        """A question that librdkafka waits for by itself, asked in parts so that its reasons are seen."""
        while True:
            try:
                return ask(min(1.0, self._left))
            except KafkaException:
                self._admin.poll(_STEP_S)
                if self._gives_up():
                    raise Failure(self._unanswered()) from None

    def _consumed(
        self, consumer: Consumer, waiting: set[tuple[str, int]], count: int
    ) -> Sequence[BrokerRecord]:
        records_by_place: dict[tuple[str, int], list[BrokerRecord]] = {place: [] for place in sorted(waiting)}
        while waiting:
            message = consumer.poll(_STEP_S)
            if message is None:
                if self._gives_up():
                    raise Failure(self._unanswered())
                continue
            place, failure = (message.topic() or "", message.partition() or 0), message.error()
            if failure is not None:
                if failure.name() != "_PARTITION_EOF":
                    reason = Reason(name=failure.name(), text=failure.str())
                    raise Failure(self._refusal(Refused(reason), f"records of {place[0]}"))
                waiting.discard(place)
                continue
            if place in waiting:
                records_by_place[place].append(_record(message, place))
                if len(records_by_place[place]) >= count:
                    waiting.discard(place)
        return [record for records in records_by_place.values() for record in records]


def _spec(what: int) -> OffsetSpec:
    specs = {EARLIEST: OffsetSpec.earliest(), LATEST: OffsetSpec.latest()}
    spec: OffsetSpec = specs[what] if what in specs else OffsetSpec.for_timestamp(what)
    return spec


def _config(entry: Any) -> ConfigValue:
    return ConfigValue(value=entry.value, is_own=entry.source == ConfigSource.DYNAMIC_TOPIC_CONFIG.value)


def _record(message: Any, place: tuple[str, int]) -> BrokerRecord:
    kind, at = message.timestamp()
    return BrokerRecord(
        topic=place[0],
        partition=place[1],
        offset=message.offset(),
        timestamp_ms=at if kind else None,
        key=message.key(),
        value=message.value(),
    )


def _id(topic_id: object) -> str | None:
    """A topic's id as Java writes it, which Spark's driver and the tools of Kafka show."""
    text = str(topic_id).translate(_JAVA).rstrip("=")
    return None if topic_id is None or text == _NO_ID else text


def _reads(group: Any, topic: str) -> bool:
    """Returns True if a member of a described group reads a topic."""
    return any(
        place.topic == topic
        for member in group.members
        if member.assignment is not None
        for place in member.assignment.topic_partitions
    )


def _reason(failure: KafkaException) -> Reason:
    known = failure.args[0]
    return (
        Reason(name=known.name(), text=known.str())
        if isinstance(known, KafkaError)
        else Reason(name="", text=str(known))
    )
