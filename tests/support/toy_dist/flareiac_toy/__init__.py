"""A provider for tests of the core: things are JSON files in ``.toy/``, so that a killed process leaves a
world that can be looked at.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flareiac.sdk.provider import Provider
    from flareiac.sdk.state import StateBackend


def provider() -> "Provider":
    """The entry point."""
    from flareiac_toy.toy_provider import ToyProvider

    return ToyProvider()


def shelf() -> "StateBackend":
    """The toy backend."""
    from flareiac_toy.shelf_state import ShelfBackend

    return ShelfBackend()
