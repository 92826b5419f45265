"""A Kafka cluster of several nodes on the loopback, each a process of its own that may be killed."""

from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.support.kafka_broker import Broker, Place, fresh_id
from tests.support.kafka_topics import Topics
from tests.support.ports import lasting_port


class KafkaCluster:
    """Nodes that are brokers and controllers; as a context, all of them are started and ended. ``bootstrap``
    names all of them.
    """

    def __init__(self, directory: Path, java_home: Path, *, nodes: int = 3) -> None:
        ports, cluster = tuple((lasting_port(), lasting_port()) for _node in range(nodes)), fresh_id()
        places = [Place(ports=ports, at=at, id=cluster) for at in range(nodes)]
        self.nodes: Final = tuple(
            Broker(directory / f"node-{place.at + 1}", java_home, place=place) for place in places
        )
        self.bootstrap: Final = places[0].servers

    @property
    def topics(self) -> Topics:
        """The topics of the cluster, asked of any node that runs."""
        return self.nodes[0].topics

    def leader(self, topic: str, partition: int = 0) -> Broker:
        """The node that leads a partition."""
        return self.nodes[self.topics.leader(topic, partition) - 1]

    def __enter__(self) -> Self:
        try:
            for node in self.nodes:
                node.launch()
            for node in self.nodes:
                node.wait()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _end(self) -> None:
        for node in self.nodes:
            node.kill()
