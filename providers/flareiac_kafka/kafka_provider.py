"""The provider: its block types, and the session that opens drivers."""

from collections.abc import Sequence
from typing import Final

from flareiac.kernel.codes import CodeTable, code_table
from flareiac.sdk.driver import Driver
from flareiac.sdk.project import Project
from flareiac.sdk.provider import Function, Session
from flareiac.sdk.resource_type import Kind, ResourceType
from flareiac_kafka import codes
from flareiac_kafka.connection import canonical as connection_canonical
from flareiac_kafka.connection import schema as connection_schema

_TYPES: Final = (
    ResourceType(
        name="kafka",
        kind=Kind.CONNECTION,
        schema=connection_schema.SCHEMA,
        description="A Kafka cluster: its brokers, how clients open it, and its schema registry.",
        canonical=connection_canonical.canonical,
        is_implied=True,
    ),
)


class KafkaSession:
    """Nothing is held."""

    def driver(self, type_name: str) -> Driver:
        raise ValueError(f"{type_name} has no driver")

    def close(self) -> None:
        """Nothing is open."""


class KafkaProvider:
    """What the entry point hands out."""

    name = "kafka"

    def resource_types(self) -> Sequence[ResourceType]:
        """kafka."""
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
