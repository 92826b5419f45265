"""Asks a cluster through Kafka's own Java client which topics there are and which records can be read.
Every question ends after a while.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from typing import Any, Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.sources.kafka.starting import OF_LATEST
from flareiac_spark_runtime.sources.kafka_client import SERVERS
from flareiac_spark_runtime.sources.resolved import StartProblem, StartRefused

_SECONDS: Final = 20
TIMEOUTS: Final = {"default.api.timeout.ms": str(_SECONDS * 1000), "request.timeout.ms": "10000"}
"""Settings of a client that say how long it waits for an answer."""
_BUNCH: Final = 500
_NO_TRUST: Final = "SslAuthenticationException"
_REFUSED: Final = ("SaslAuthenticationException", "AuthenticationException")
_NOT_ALLOWED: Final = "AuthorizationException"
_NO_TOPIC: Final = "UnknownTopicOrPartitionException"
_SETTINGS: Final = ("ConfigException", "InvalidConfigurationException")
_UNKNOWN_HOST: Final = "No resolvable bootstrap"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterTopic:
    """One topic. ``partitions``: by number, the offset of the first record that is left and the one after
    the last record. ``stable``: where the first open transaction begins, or the end; where it was asked for.
    """

    name: str
    id: str | None
    partitions: Mapping[int, tuple[int, int]]
    stable: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterTopics:
    """The answer of a cluster. A name that was asked for and is no topic is not among ``topics``."""

    cluster: str | None
    topics: Mapping[str, ClusterTopic]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicIds:
    """The ids of topics by name, None where the cluster has none. A name that is no topic is not there."""

    cluster: str | None
    topics: Mapping[str, str | None]


class NotAnswered(StartRefused):
    """The cluster did not answer, or refused to."""


class Cluster:
    """A client that is open until ``close``. ``settings`` are those of a Java client, ready to use. Each
    method raises ``NotAnswered``, and so does opening.
    """

    def __init__(self, jvm: Any, settings: Mapping[str, str]) -> None:
        self._servers, self._jvm = settings.get(SERVERS, ""), jvm
        with self._answering():
            client = jvm.org.apache.kafka.clients.admin.AdminClient.create(_properties(jvm, settings))
        self._client, self._asking = client, _Asking(jvm, client)

    def topics(self, names: Iterable[str], pattern: str | None, *, stable: bool = False) -> ClusterTopics:
        """The topics of these names, or all that match a pattern, with what can be read of them. ``stable``:
        asks how far transactions have ended.
        """
        with self._answering():
            return self._asking.topics(names, pattern, stable)

    def ids(self, names: Iterable[str], pattern: str | None) -> TopicIds:
        """The ids of the topics that have these names, or match a pattern."""
        with self._answering():
            return self._asking.ids(names, pattern)

    def offsets_at(self, topics: ClusterTopics, at: int, isolation: str) -> dict[str, dict[str, int]]:
        """The next offset of each partition, as a reader of this isolation level begins at ``at``: a moment
        (UTC milliseconds), or Kafka's own number for the end. A partition without a record of that time or
        later begins at its end.
        """
        partitions = [(topic.name, number) for topic in topics.topics.values() for number in topic.partitions]
        with self._answering():
            offsets = self._asking.offsets_at(partitions, at, isolation)
        return {
            topic.name: {str(number): offsets[topic.name, number] for number in sorted(topic.partitions)}
            for topic in topics.topics.values()
        }

    def close(self) -> None:
        """Ends its connections."""
        self._client.close(self._jvm.java.time.Duration.ofSeconds(2))

    @contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            yield
        except Exception as failure:  # noqa: BLE001 - py4j's own classes are the driver's
            raise NotAnswered(_problem(failure, self._servers)) from None


class _Asking:
    def __init__(self, jvm: Any, client: Any) -> None:
        self._jvm, self._client = jvm, client
        self._unit = jvm.java.util.concurrent.TimeUnit.SECONDS

    def topics(self, names: Iterable[str], pattern: str | None, stable: bool) -> ClusterTopics:
        cluster, described = self._cluster_and_topics(names, pattern)
        partitions = [(name, number) for name, (_id, numbers) in described.items() for number in numbers]
        offsets, ended = self._offsets(partitions), self._ended(partitions) if stable else {}
        return ClusterTopics(
            cluster=cluster,
            topics={
                name: ClusterTopic(
                    name=name,
                    id=topic_id,
                    partitions={number: offsets[name, number] for number in numbers},
                    stable={number: ended[name, number] for number in numbers if (name, number) in ended},
                )
                for name, (topic_id, numbers) in described.items()
            },
        )

    def ids(self, names: Iterable[str], pattern: str | None) -> TopicIds:
        cluster, described = self._cluster_and_topics(names, pattern)
        return TopicIds(
            cluster=cluster, topics={name: topic_id for name, (topic_id, _numbers) in described.items()}
        )

    def _cluster_and_topics(
        self, names: Iterable[str], pattern: str | None
    ) -> tuple[str | None, dict[str, tuple[str | None, list[int]]]]:
        cluster = self._get(self._client.describeCluster().clusterId())
        wanted = list(names) if pattern is None else list(self._matching(pattern))
        return cluster, dict(self._described(wanted))

    def _get(self, future: Any) -> Any:
        return future.get(_SECONDS + 5, self._unit)

    def _matching(self, pattern: str) -> Iterator[str]:
        compiled = self._jvm.java.util.regex.Pattern.compile(pattern)
        for name in self._get(self._client.listTopics().names()):
            if compiled.matcher(name).matches():
                yield str(name)

    def _described(self, names: list[str]) -> Iterator[tuple[str, tuple[str | None, list[int]]]]:
        wanted = self._jvm.java.util.ArrayList()
        for name in names:
            wanted.add(name)
        answers = self._client.describeTopics(wanted).topicNameValues()
        for name in names:
            try:
                description = self._get(answers.get(name))
            except Exception as failure:
                if any(_NO_TOPIC in link for link, _text in _chain(failure)):
                    continue
                raise
            yield (
                name,
                (
                    _known(description.topicId().toString()),
                    [int(each.partition()) for each in description.partitions()],
                ),
            )

    def _offsets(self, partitions: list[tuple[str, int]]) -> dict[tuple[str, int], tuple[int, int]]:
        kinds, options = self._kinds, self._options("READ_UNCOMMITTED")
        offsets: dict[tuple[str, int], tuple[int, int]] = {}
        for at in range(0, len(partitions), _BUNCH):
            bunch = partitions[at : at + _BUNCH]
            firsts, ends = (self._listed(bunch, kind, options) for kind in (kinds.earliest(), kinds.latest()))
            offsets |= {partition: (firsts[partition], ends[partition]) for partition in bunch}
        return offsets

    def _ended(self, partitions: list[tuple[str, int]]) -> dict[tuple[str, int], int]:
        kind, options = self._kinds.latest(), self._options("READ_COMMITTED")
        offsets: dict[tuple[str, int], int] = {}
        for at in range(0, len(partitions), _BUNCH):
            offsets |= self._listed(partitions[at : at + _BUNCH], kind, options)
        return offsets

    def offsets_at(
        self, partitions: list[tuple[str, int]], at: int, isolation: str
    ) -> dict[tuple[str, int], int]:
        all_offsets: dict[tuple[str, int], int] = {}
        options, end = self._options(isolation.upper()), self._kinds.latest()
        kind = end if at == OF_LATEST else self._kinds.forTimestamp(at)
        for first in range(0, len(partitions), _BUNCH):
            bunch = partitions[first : first + _BUNCH]
            offsets = self._listed(bunch, kind, options)
            late = [partition for partition in bunch if offsets[partition] < 0]
            all_offsets |= offsets | (self._listed(late, end, options) if late else {})
        return all_offsets

    @property
    def _kinds(self) -> Any:
        return self._jvm.org.apache.kafka.clients.admin.OffsetSpec

    def _options(self, level: str) -> Any:
        levels = self._jvm.org.apache.kafka.common.IsolationLevel
        return self._jvm.org.apache.kafka.clients.admin.ListOffsetsOptions(levels.valueOf(level))

    def _listed(
        self, partitions: list[tuple[str, int]], kind: Any, options: Any
    ) -> dict[tuple[str, int], int]:
        asked, places = self._jvm.java.util.HashMap(), {}
        for name, number in partitions:
            places[name, number] = place = self._jvm.org.apache.kafka.common.TopicPartition(name, number)
            asked.put(place, kind)
        answer = self._get(self._client.listOffsets(asked, options).all())
        return {partition: int(answer.get(place).offset()) for partition, place in places.items()}


def _properties(jvm: Any, settings: Mapping[str, str]) -> Any:
    properties = jvm.java.util.Properties()
    for name, text in {**settings, **TIMEOUTS}.items():
        properties.setProperty(name, text)
    return properties


def _known(topic_id: str) -> str | None:
    """A cluster without ids of topics says zero."""
    return None if set(topic_id) == {"A"} else topic_id


def _problem(failure: BaseException, servers: str) -> StartProblem:
    links = list(_chain(failure))
    what = next((text for _name, text in reversed(links) if text), str(failure)).partition("\n")[0]
    what = f"{what.rstrip('. ')}."
    names = [name for name, _text in links]
    if any(name.endswith(_NO_TRUST) for name in names):
        return StartProblem(
            error_class="BROKER_TLS_FAILED",
            why=f"No TLS connection to the Kafka cluster at {servers} can be made: {what} Correct ssl in the "
            "kafka block (ca must have signed the certificates of the brokers, and these name the hosts of "
            "the brokers), or the port of bootstrap_servers, and apply again.",
        )
    if any(name.endswith(_REFUSED) for name in names):
        return StartProblem(
            error_class="BROKER_REFUSES_LOGIN",
            why=f"The Kafka cluster at {servers} refuses the login: {what} Correct the user or the password "
            "in the kafka block or in the secret that it names, and apply again. Where that secret is an "
            "environment variable (env), the driver has those of its start: restart its engine instead, from "
            "a shell with the right value (flareiac restart ENGINE).",
        )
    if any(name.endswith(_NOT_ALLOWED) for name in names):
        return StartProblem(
            error_class="BROKER_DENIES_ACCESS",
            why=f"The Kafka cluster at {servers} denies access: {what} The user of the kafka block needs "
            "the right to describe and read the topics. Grant it, and apply again.",
        )
    if any(name.endswith(_SETTINGS) for name in names) and not any(
        _UNKNOWN_HOST in text for _n, text in links
    ):
        return StartProblem(
            error_class="BROKER_SETTINGS_INVALID",
            why=f"Kafka's client does not accept the settings of the kafka block: {what}",
        )
    if any(name.endswith("PatternSyntaxException") for name in names):
        return StartProblem(
            error_class="TOPIC_PATTERN_INVALID", why=f"Java does not accept the pattern of topics: {what}"
        )
    return StartProblem(
        error_class="BROKER_UNREACHABLE",
        why=f"The Kafka cluster at {servers} does not answer: {what} The start is tried again. "
        "Check that the brokers run, and that the kafka block names the security of their listener.",
        permanent=False,
    )


def _chain(failure: BaseException) -> Iterator[tuple[str, str]]:
    """The Java exceptions behind a failure, outermost first, each with its class and its message."""
    throwable = getattr(failure, "java_exception", None)
    for _ in range(20):
        if throwable is None:
            return
        yield str(throwable.getClass().getName()), str(throwable.getMessage() or "")
        throwable = throwable.getCause()
