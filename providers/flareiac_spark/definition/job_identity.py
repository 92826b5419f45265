"""The identity of a job: what the state records of it beside its attributes. Pure."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import SPARSE, decode, encode
from flareiac.sdk.results import Recorded
from flareiac_spark_runtime.control import Desired, DesiredJob, StoredProof

_PROOFS: Final = 8
"""Enough for the edits that somebody tries in turn; a proof that is forgotten is asked for again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedQuery:
    """The streaming query of one output, as Spark knows it."""

    id: str | None = None
    run_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """The result of a batch run; None where a part is not known."""

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
    its first batch when it was recorded. ``known_as``: the name under which its application knows it where
    that is not its address (it had another one when it was started). ``proofs``: the last ones that were
    asked for, the newest last.
    """

    digest: str | None = None
    queries: Mapping[str, StartedQuery] = field(default_factory=dict, metadata=SPARSE)
    former_queries: tuple[str, ...] = field(default=(), metadata=SPARSE)
    rebuilds: Mapping[str, EmptiedTable] = field(default_factory=dict, metadata=SPARSE)
    result: RunResult | None = None
    unproven: bool = field(default=False, metadata=SPARSE)
    known_as: str = field(default="", metadata=SPARSE)
    proofs: tuple[StoredProof, ...] = field(default=(), metadata=SPARSE)

    @classmethod
    def of(cls, data: Attributes) -> "JobIdentity":
        """A job's identity as it was recorded. Raises ``Mismatch``."""
        return decode(cls, data, "identity")


def with_proof(identity: JobIdentity, proof: StoredProof) -> JobIdentity:
    """The identity that knows one proof more, in place of an older one of the same two."""
    others = [other for other in identity.proofs if other.pair != proof.pair]
    return replace(identity, proofs=(*others, proof)[-_PROOFS:])


def recorded_identity(recorded: Recorded | None) -> JobIdentity:
    """The identity of a recorded job; an empty one where none is recorded."""
    return JobIdentity.of(recorded.identity) if recorded is not None else JobIdentity()


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownJob:
    """By what a job is found in the control directory of an engine."""

    address: str
    known_as: str = ""
    digest: str | None = None

    @classmethod
    def of(cls, address: str, recorded: Recorded | None) -> "KnownJob":
        """The job of an address, as it is recorded."""
        identity = recorded_identity(recorded)
        return cls(address=address, known_as=identity.known_as, digest=identity.digest)

    def name_in(self, desired: Desired | None) -> str:
        """Its name among what should run there, and in what its application says of it."""
        if desired is None:
            return self.known_as or self.address
        return desired.name_of(self.address, self.known_as, self.digest)

    def entry_in(self, desired: Desired | None) -> DesiredJob | None:
        """The entry of the job in the desired state, None if there is none."""
        return desired.jobs.get(self.name_in(desired)) if desired is not None else None


def identity_renamed(data: Attributes, address: str, moves: Mapping[str, str]) -> Attributes:
    """A job's identity once it or tables have other addresses: see ``Recording.renamed``. Its application
    goes on to know it by the name that it had.
    """
    identity = JobIdentity.of(data)
    now = moves.get(address)
    if now is None and all(rebuild.table not in moves for rebuild in identity.rebuilds.values()):
        return data
    if now is not None:
        name = identity.known_as or address
        identity = replace(identity, known_as="" if name == now else name)
    rebuilds = {
        output: replace(rebuild, table=moves.get(rebuild.table, rebuild.table))
        for output, rebuild in identity.rebuilds.items()
    }
    renamed: Attributes = encode(replace(identity, rebuilds=rebuilds))
    return renamed
