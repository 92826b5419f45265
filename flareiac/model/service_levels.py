"""The freshness of tables and topics, beside what readers outside of the project need. Records."""

from enum import StrEnum

from flareiac.kernel.lazy_dataclass import dataclass


class Verdict(StrEnum):
    KEPT = "kept"
    BROKEN = "broken"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderStatus:
    """A reader outside of the project and one table or topic that it reads. ``age_ms`` of the newest data,
    ``lag`` in records of its ``group``; each None where it is not known or there is none. ``verdict`` None:
    no service level is declared. ``reasons``: sentences about what is broken or not known.
    """

    reader: str
    subject: str
    group: str
    age_ms: int | None
    max_age_ms: int | None
    lag: int | None
    max_lag: int | None
    verdict: Verdict | None
    reasons: tuple[str, ...] = ()
