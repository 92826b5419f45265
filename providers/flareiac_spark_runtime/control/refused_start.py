"""The record that a driver leaves if it could not start. Pure."""

from datetime import UTC, datetime

from flareiac.kernel.data import Seconds
from flareiac.kernel.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedStart:
    """The last start that failed before there was an application that could tell. ``at``: seconds since 1970
    (UTC) by the clock of that host.
    """

    host: str
    at: Seconds
    reason: str

    @property
    def line(self) -> str:
        """The host, the time and the reason, as part of a sentence."""
        when = datetime.fromtimestamp(self.at, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
        return f"on {self.host} at {when}: {self.reason}"
