"""Operations that the command line sends to an application, and their results. Operations are idempotent by
id.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Literal, TypeAlias

from flareiac.kernel.data import Seconds
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import SPARSE, named
from flareiac.sdk.table_tasks import Performed, StoredWork
from flareiac_spark_runtime.sources.resolved import SpecColumn


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One place that a query writes. ``branch`` None means main.

    ``epochs``: Iceberg's own sink wrote it, whose mark is the epoch; otherwise each commit carries the mark
    of ``output``.
    """

    output: str
    identifier: tuple[str, ...]
    uuid: str | None = None
    branch: str | None = None
    epochs: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """Asks which of these targets carry what one query wrote in one batch. Touches nothing."""

    query_id: str
    batch: int
    targets: tuple[Target, ...]
    kind: Literal["marks"] = "marks"


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncate:
    """Takes all rows out of a table or branch, once for each ``mark``. ``asked``: UTC seconds; what was asked
    long ago is refused.
    """

    target: Target
    mark: str
    asked: Seconds
    kind: Literal["truncate"] = "truncate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """Does the batch in flight of one checkpoint again with the definition that began it, and no other.
    ``spec`` has that query alone.
    """

    spec: Mapping[str, Any]
    checkpoint: str
    batch: int
    kind: Literal["finish"] = "finish"


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintain:
    """Does one piece of work on a table's files or snapshots, once for each ``key``. ``lineage``: that of the
    state that asks; empty where it is not known.
    """

    key: str
    identifier: tuple[str, ...]
    uuid: str
    task: StoredWork
    lineage: str = ""
    kind: Literal["maintain"] = "maintain"


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """Stops all jobs at a commit and ends this application (its id), no other."""

    application: str
    kind: Literal["end"] = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofSource:
    """An input of a definition. ``identity``: a text that two inputs share exactly if they read the same in
    the same way. ``columns``: those that the definition reads.
    """

    identity: str
    columns: tuple[SpecColumn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two definitions of the job at ``address``, as specs in JSON, with their inputs by name."""

    address: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    sources_before: Mapping[str, ProofSource]
    sources_after: Mapping[str, ProofSource]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prove:
    """Are the two definitions of each pair one query? Reads no system."""

    pairs: tuple[Pair, ...]
    kind: Literal["prove"] = "prove"


Question: TypeAlias = Marks | Truncate | Finish
"""An operation that a job's apply asks for."""
Work: TypeAlias = Question | Maintain | End | Prove
MAINTENANCE: Final = "maintain-"
"""Begins the id of every ``Maintain``: it takes long, and nothing waits behind it."""
ENDING: Final = "end-"
"""Begins the id of every ``End``: nothing that is in progress delays it."""
UNANSWERED: Final = "The application ended before it answered; ask it again."
"""The error of what was asked of an application that is no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """``work``; without any: would these jobs (specs as JSON, with planned columns) be understood by Spark?
    That touches no system.
    """

    id: str
    jobs: tuple[Mapping[str, Any], ...] = ()
    work: Work | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """``step`` is the step's name, or ``inputs.NAME`` or ``outputs.NAME``; empty when the whole job is
    meant.
    """

    address: str
    step: str
    message: str
    error_class: str = field(metadata=named("class"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysed:
    """Per output name: the columns that its source view gives, name to type as Spark spells it."""

    output_columns: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncated:
    """``snapshot_id``: the one before it, None if there was none. ``found``: it had been done before."""

    snapshot_id: int | None
    found: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """The verdict of Spark's plans on two definitions of a job. ``equal``: they are one query. ``state``:
    they read the same and hold the same state, and differ above it. ``different``: in ``parts`` (``sources``,
    ``state``, ``watermarks``, ``columns``, ``query``). ``unproven``: Spark cannot say, for ``reason``.
    ``spark``: the version that says it.
    """

    verdict: Literal["equal", "state", "different", "unproven"]
    spark: str
    parts: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredProof:
    """The verdict of Spark on two definitions. ``pair`` names both, by the digests of their queries, and
    ``at`` is when it was given (UTC seconds); the rest is that of ``Proof``.
    """

    pair: str
    at: float
    verdict: Literal["equal", "state", "different", "unproven"]
    spark: str
    parts: tuple[str, ...] = field(default=(), metadata=SPARSE)
    reason: str = field(default="", metadata=SPARSE)

    @property
    def proof(self) -> Proof:
        """The verdict alone, as the application gave it."""
        return Proof(verdict=self.verdict, spark=self.spark, parts=self.parts, reason=self.reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """``failed`` means that the operation itself could not be done; ``findings`` are its outcome, not its
    failure.

    ``marked``: the outputs that carry the batch which ``Marks`` asked about. ``proofs``: by the address of
    the job that ``Prove`` asked about.
    """

    id: str
    status: Literal["done", "failed"]
    findings: tuple[Finding, ...] = ()
    analysed: Mapping[str, Analysed] = field(default_factory=dict)
    marked: tuple[str, ...] = ()
    truncated: Truncated | None = None
    maintained: Performed | None = None
    proofs: Mapping[str, Proof] = field(default_factory=dict, metadata=SPARSE)
    error: str | None = None
