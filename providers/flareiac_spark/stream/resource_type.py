"""The type ``stream``."""

from flareiac.sdk.resource_type import Kind, ResourceType
from flareiac.sdk.type_roles import Locating
from flareiac_spark.stream.canonical import canonical, sources
from flareiac_spark.stream.schema import schema


def stream() -> ResourceType:
    """With the kinds of sources that there are."""
    return ResourceType(
        name="stream",
        kind=Kind.DECLARATION,
        schema=schema(),
        description="A source of unbounded data for the inputs of streaming jobs.",
        canonical=canonical,
        locating=Locating(read=sources),
    )
