"""The contract of a driver: it touches one kind of thing in the world, and tells its trouble with
``Failure``.
"""

from typing import Protocol

from flareiac.sdk.actions import Delete
from flareiac.sdk.requests import ApplyRequest, ChangeRequest, ReadRequest
from flareiac.sdk.results import Observation, Outcome


class Driver(Protocol):
    """Touches one kind of thing in the world."""

    def read(self, request: ReadRequest) -> Observation: ...

    def apply(self, request: ChangeRequest) -> Outcome:
        """Create, adopt or update."""
        ...

    def delete(self, request: ApplyRequest[Delete]) -> Outcome:
        """Delete; ``Applied`` when it is gone (or was gone already)."""
        ...
