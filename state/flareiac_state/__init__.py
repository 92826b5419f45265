"""State stores: where snapshot, journal and lock of a workspace are kept, as bytes.

Never reads meaning into the bytes and never asks what a resource is. Hands a ``StateBackend`` to the caller
that loads the entry point.
"""

from flareiac.sdk.state import StateBackend


def local_backend() -> StateBackend:
    """The backend that keeps the state in files beside the project."""
    from flareiac_state.local import LocalBackend

    return LocalBackend()
