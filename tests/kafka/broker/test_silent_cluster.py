"""A cluster that lets no one in is waited for once in a plan, whatever asks it."""

from collections.abc import Callable

import pytest

from flareiac.kernel.codes import Code
from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.kernel.records import encode
from flareiac.sdk.brokers import TopicSelection
from flareiac_kafka import codes
from flareiac_kafka.broker import reader
from flareiac_kafka.broker.reader import KafkaReader
from flareiac_kafka.connection.spec import ConnectionDefinition


def connection(servers: str, timeout_ms: int) -> Attributes:
    definition = ConnectionDefinition(
        bootstrap_servers=servers, client={"bootstrap.servers": servers}, timeout_ms=timeout_ms
    )
    attributes: Attributes = encode(definition)
    return attributes


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Callable[[Attributes], str]:
    """Asks a cluster that answers with one failure after the other: by turns it names its code."""
    asked: list[str] = []

    def opened(found: Attributes) -> None:
        asked.append(str(found["bootstrap_servers"]))
        kind: Code = codes.NOT_AUTHORIZED if "denied" in asked[-1] else codes.CLUSTER_UNREACHABLE
        raise Failure(error(kind, f"asked {len(asked)} times"))

    monkeypatch.setattr(reader, "opened", opened)
    monkeypatch.setattr(reader, "_SILENT", {})

    def answer(attributes: Attributes) -> str:
        with pytest.raises(Failure) as caught:
            KafkaReader().view(attributes, TopicSelection(names=("orders",)))
        return caught.value.diagnostics[0].detail

    return answer


def test_it_is_not_asked_again_at_once(ask: Callable[[Attributes], str]) -> None:
    silent = connection("silent:9092", 60_000)
    assert [ask(silent), ask(silent)] == ["asked 1 times"] * 2


def test_another_one_is(ask: Callable[[Attributes], str]) -> None:
    assert ask(connection("silent:9092", 60_000)) == "asked 1 times"
    assert ask(connection("other:9092", 60_000)) == "asked 2 times"


def test_it_is_asked_again_when_its_time_is_over(ask: Callable[[Attributes], str]) -> None:
    short = connection("silent:9092", 0)
    assert [ask(short), ask(short)] == ["asked 1 times", "asked 2 times"]


def test_what_is_wrong_with_one_topic_is_asked_each_time(ask: Callable[[Attributes], str]) -> None:
    denied = connection("denied:9092", 60_000)
    assert [ask(denied), ask(denied)] == ["asked 1 times", "asked 2 times"]
