"""The service level that a reader outside of the project needs of a table or a topic. A record."""

from dataclasses import field

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import SPARSE


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceLevel:
    """The declared bounds. ``max_lag``: records that the reader's group may be behind; ``max_age_ms``: the
    longest time since the newest data. None: no bound.
    """

    max_lag: int | None = field(default=None, metadata=SPARSE)
    max_age_ms: int | None = field(default=None, metadata=SPARSE)
