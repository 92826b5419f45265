"""The contract of a driver: it touches one kind of thing in the world, and raises ``Failure`` with
diagnostics where that goes wrong. Any other exception counts as a bug of its provider.
"""

from typing import Protocol

from flareiac.sdk.actions import Delete
from flareiac.sdk.requests import ApplyRequest, ChangeRequest, ReadRequest
from flareiac.sdk.results import Observation, Outcome


class Driver(Protocol):
    """Touches one kind of thing in the world."""

    def read(self, request: ReadRequest) -> Observation:
        """Returns what is there and changes nothing. A ``Failure`` that it raises means ``Unreadable``."""
        ...

    def apply(self, request: ChangeRequest) -> Outcome:
        """Creates, adopts or updates. Asked again with the same key, it finds what the first call did."""
        ...

    def delete(self, request: ApplyRequest[Delete]) -> Outcome:
        """Deletes. ``Applied`` when it is gone, also where it was gone already."""
        ...
