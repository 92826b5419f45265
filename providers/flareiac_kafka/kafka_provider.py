"""The provider: its block types, and the session that opens drivers."""

from collections.abc import Sequence
from typing import Final

from flareiac.kernel.codes import CodeTable, code_table
from flareiac.kernel.types import STRING
from flareiac.sdk.capabilities import Check
from flareiac.sdk.driver import Driver
from flareiac.sdk.importing import Importable, ImportRequest, LeftOut
from flareiac.sdk.project import Project
from flareiac.sdk.provider import Function, Session
from flareiac.sdk.references import References
from flareiac.sdk.resource_type import Kind, ResourceType
from flareiac_kafka import codes
from flareiac_kafka.connection import canonical as connection_canonical
from flareiac_kafka.connection import schema as connection_schema
from flareiac_kafka.topic import canonical as topic_canonical
from flareiac_kafka.topic import schema as topic_schema
from flareiac_kafka.topic.driver import TopicDriver
from flareiac_kafka.topic.plan import TopicPlanner
from flareiac_kafka.topic.spec import examine

_TYPES: Final = (
    ResourceType(
        name="kafka",
        kind=Kind.CONNECTION,
        schema=connection_schema.SCHEMA,
        description="A Kafka cluster: its brokers, how clients open it, and its schema registry.",
        canonical=connection_canonical.canonical,
        is_implied=True,
    ),
    ResourceType(
        name="topic",
        kind=Kind.MANAGED,
        schema=topic_schema.SCHEMA,
        description="A topic of a Kafka cluster: partitions, copies and settings.",
        canonical=topic_canonical.canonical,
        planner=TopicPlanner(),
        usages=topic_canonical.usages,
        examine=examine,
        computed={"id": STRING, "cluster_id": STRING},
    ),
)


class KafkaSession:
    """Opens a client for each series of questions; nothing is held between them."""

    def __init__(self) -> None:
        self._driver = TopicDriver()

    def driver(self, _type_name: str) -> Driver:
        """The driver of topics."""
        return self._driver

    def checks(self, references: References) -> Sequence[Check]:
        """Whether each declared cluster answers, and its registry."""
        from flareiac_kafka.broker.doctor import check_connection

        connections = [item for item in references.values() if item.type == "kafka"]
        return [check for item in connections for check in check_connection(item)]

    def names(self, pattern: str) -> bool:
        """``KAFKA/TOPIC``."""
        return "/" in pattern

    def importable(self, request: ImportRequest) -> Sequence[Importable | LeftOut]:
        """The topics that a pattern names. Raises ``Failure``."""
        from flareiac_kafka.discovery.find import importable_topics

        return importable_topics(request)

    def close(self) -> None:
        """Nothing is open."""


class KafkaProvider:
    """What the entry point hands out."""

    name = "kafka"

    def resource_types(self) -> Sequence[ResourceType]:
        """kafka, topic."""
        return _TYPES

    def functions(self) -> Sequence[Function]:
        """None."""
        return ()

    def codes(self) -> CodeTable:
        """The codes of its diagnostics."""
        return code_table(codes)

    def open(self, _project: Project) -> Session:
        """A session; opens nothing until a cluster is asked."""
        return KafkaSession()
