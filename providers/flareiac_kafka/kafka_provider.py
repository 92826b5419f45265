"""The provider: its block types, and the session that opens drivers."""

from collections.abc import Mapping, Sequence

from flareiac.kernel.codes import CodeTable, code_table
from flareiac.sdk.capabilities import Check
from flareiac.sdk.driver import Driver
from flareiac.sdk.importing import Importable, ImportRequest, LeftOut
from flareiac.sdk.project import Project
from flareiac.sdk.provider import Function, Offered, Session
from flareiac.sdk.references import References
from flareiac.sdk.resource_type import ResourceType
from flareiac_kafka import codes


def _kafka() -> ResourceType:
    from flareiac_kafka.connection.resource_type import KAFKA

    return KAFKA


def _topic() -> ResourceType:
    from flareiac_kafka.topic.resource_type import TOPIC

    return TOPIC


class KafkaSession:
    """Opens a client for each series of questions; nothing is held between them."""

    def __init__(self, project: Project) -> None:
        from flareiac_kafka.topic.driver import TopicDriver

        self._lineage = project.lineage
        self._driver = TopicDriver(project.lineage)

    def driver(self, _type_name: str) -> Driver:
        """The driver of topics."""
        return self._driver

    def checks(self, references: References) -> Sequence[Check]:
        """The checks that each declared cluster and its registry answer."""
        from flareiac_kafka.broker.doctor import check_connection

        connections = [reference for reference in references.values() if reference.type == "kafka"]
        return [check for connection in connections for check in check_connection(connection)]

    def names(self, pattern: str) -> bool:
        """``KAFKA/TOPIC``."""
        return "/" in pattern

    def importable(self, request: ImportRequest) -> Sequence[Importable | LeftOut]:
        """The topics that a pattern names. Raises ``Failure``."""
        from flareiac_kafka.discovery.find import importable_topics

        return importable_topics(request, self._lineage)

    def close(self) -> None:
        """Nothing is open."""


class KafkaProvider:
    """The provider that the entry point returns."""

    name = "kafka"

    def resource_types(self) -> Mapping[str, Offered]:
        """kafka, topic."""
        return {"kafka": Offered(load=_kafka), "topic": Offered(load=_topic)}

    def functions(self) -> Sequence[Function]:
        """None."""
        return ()

    def codes(self) -> CodeTable:
        """The codes of its diagnostics."""
        return code_table(codes)

    def open(self, project: Project) -> Session:
        """A session; opens nothing until a cluster is asked."""
        return KafkaSession(project)
