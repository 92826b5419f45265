"""A provider for tests of the core: things are JSON files in ``.toy/``, so that a killed process leaves a
world that can be looked at.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flareiac.sdk.provider import Provider


def provider() -> "Provider":
    """The entry point."""
    from flareiac_toy.toy_provider import ToyProvider

    return ToyProvider()
