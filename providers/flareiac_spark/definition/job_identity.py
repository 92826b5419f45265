"""The identity of a job: what the state records of it beside its attributes. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.kernel.records import SPARSE, decode, encode
from flareiac.sdk.results import Recorded

_MOMENTARY: Final = frozenset({"observed"})
"""What release 0.1.0 recorded of a single observation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedQuery:
    """The streaming query of one output, as Spark knows it."""

    id: str | None = None
    run_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What a batch run gave; None where that is not known."""

    run_id: str | None = None
    snapshot_id: int | None = None
    rows: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptiedTable:
    """A table that was emptied for a new generation: the snapshot before (None: it was empty), and when (UTC
    seconds).
    """

    table: str
    branch: str | None = None
    snapshot_id: int | None = None
    generation: int | None = None
    generation_before: int | None = None
    at: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class JobIdentity:
    """``digest`` is that of the definition that runs; ``queries`` by output; ``former_queries`` are the ids
    of those of earlier generations; ``rebuilds`` by output. ``unproven``: the definition had not committed
    its first batch when it was recorded.
    """

    digest: str | None = None
    queries: Mapping[str, StartedQuery] = field(default_factory=dict, metadata=SPARSE)
    former_queries: tuple[str, ...] = field(default=(), metadata=SPARSE)
    rebuilds: Mapping[str, EmptiedTable] = field(default_factory=dict, metadata=SPARSE)
    result: RunResult | None = None
    unproven: bool = field(default=False, metadata=SPARSE)

    @classmethod
    def of(cls, data: Attributes) -> "JobIdentity":
        """A job's identity as it was recorded. Raises ``Mismatch``."""
        lasting = {name: value for name, value in data.items() if name not in _MOMENTARY}
        return decode(cls, lasting, "identity")


def recorded_identity(recorded: Recorded | None) -> JobIdentity:
    """The identity of a recorded job; an empty one where none is recorded."""
    return JobIdentity.of(recorded.identity) if recorded is not None else JobIdentity()


def identity_renamed(data: Attributes, old: str, new: str) -> Attributes:
    """A job's identity once a table has another address: see ``ResourceType.renamed``."""
    identity = JobIdentity.of(data)
    if all(item.table != old for item in identity.rebuilds.values()):
        return data
    rebuilds = {
        output: replace(item, table=new) if item.table == old else item
        for output, item in identity.rebuilds.items()
    }
    found: Attributes = encode(replace(identity, rebuilds=rebuilds))
    return found
