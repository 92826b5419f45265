"""The Kafka provider: connections to clusters, and topics.

Never starts a JVM. Answers what other providers ask of a cluster while they plan: which topics there are, and
which of their records can still be read.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flareiac.sdk.provider import Provider


def provider() -> "Provider":
    """The entry point."""
    # Imported here: the command line looks into the package for declarations of commands.
    from flareiac_kafka.kafka_provider import KafkaProvider

    return KafkaProvider()
