"""The provider of consumers: blocks that say who reads tables and topics from outside, so that a plan can say
whom a change hits. Nothing is managed, and nothing is held.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flareiac.sdk.provider import Provider


def provider() -> "Provider":
    """The entry point."""
    # Imported here: the command line looks into the package for declarations of commands.
    from flareiac_consumers.consumers_provider import ConsumersProvider

    return ConsumersProvider()
