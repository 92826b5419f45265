"""Where a job runs. Pure."""

from flareiac.kernel.data import Attributes


def engine_of(attributes: Attributes) -> Attributes:
    """The settings of the application that runs a job."""
    found: Attributes = attributes["application"]
    return found
