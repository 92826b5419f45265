"""The type ``kafka``."""

from typing import Final

from flareiac.sdk.resource_type import Kind, ResourceType
from flareiac.sdk.type_roles import Declaring
from flareiac_kafka.connection.canonical import canonical
from flareiac_kafka.connection.schema import SCHEMA

KAFKA: Final = ResourceType(
    name="kafka",
    kind=Kind.CONNECTION,
    schema=SCHEMA,
    description="A Kafka cluster: its brokers, how clients open it, and its schema registry.",
    canonical=canonical,
    declaring=Declaring(is_implied=True),
)
