"""The facts of a job: what was observed of it, as its planner reads it."""

from collections.abc import Mapping
from dataclasses import field
from typing import Final, Protocol, runtime_checkable

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.references import References
from flareiac.sdk.results import Missing, Observation, Present, Recorded
from flareiac_spark.checkpoint_files.query_positions import QueryPositions
from flareiac_spark.checkpoint_files.reader import CheckpointOnDisk
from flareiac_spark.engine.other_jobs import RestartedJobs
from flareiac_spark.sources.avro.latest import SchemaFinding
from flareiac_spark.sources.avro.subjects import SubjectVerdict
from flareiac_spark.sources.findings import InputReach
from flareiac_spark.sources.findings_text import complaint
from flareiac_spark.sources.folder_look import FolderLook
from flareiac_spark.sources.joined_findings import by_input
from flareiac_spark.sources.samples import SampleFinding
from flareiac_spark_runtime.control import JobSpec, StoredProof
from flareiac_spark_runtime.utc import utc_text

ENDED: Final = ("stopped", "completed", "failed")
"""Phases in which nothing of a job runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputFacts:
    """The checkpoint of one output's query: sources as (kind, folders), operators by name. ``positions``: the
    kind of each position in its offsets, which are more than the sources where one is read several times.
    """

    query_id: str
    started: int | None
    committed: int | None
    sources: tuple[tuple[str, tuple[str, ...]], ...] = ()
    operators: tuple[str, ...] = ()
    conf: Mapping[str, str] = field(default_factory=dict)
    positions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """A job is not started before ``until_ms``, and was at work for the last time at ``since_ms`` (both ms
    since 1970), as Spark is asked about its change by a command that is at work or has died.
    """

    since_ms: int | None
    until_ms: int

    @property
    def text(self) -> str:
        """Says that the job is down, since when, and until when."""
        since = f" since {utc_text(self.since_ms, timespec='seconds')}" if self.since_ms is not None else ""
        return (
            f"it is down{since}: it is held while Spark is asked about its change, by an apply that is at "
            "work or was ended. It starts by itself at "
            f"{utc_text(self.until_ms, timespec='seconds')} at the latest"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFacts:
    """The observation of a job: what should run, what runs, its checkpoints and its sources."""

    # What should run, as the control directory says

    digest: str | None = None
    """The digest of the definition that should run; None where there is none."""
    spec: JobSpec | None = None
    """The definition itself; None also where it is of another release."""
    query: str | None = None
    """The digest of what it computes alone."""
    state: str | None = None
    nonce: int = 0
    given_generation: int | None = None
    """The declared generation, where what should run works in its folders already, by an apply that may have
    failed since.
    """
    hold: Hold | None = None
    """While it is not started although it should run."""

    # The application

    alive: bool = False
    ended: str = ""
    """The reason that an application is not alive any more; ``idle_shutdown`` is no error."""
    silent: str = ""
    """The reason that it is neither known to live nor to be gone."""
    elsewhere: str = ""
    """Its process where that is on another host, so that its lease can tell."""
    phase: str | None = None
    since_ms: int | None = None
    """The time at which the phase began (ms since 1970, UTC)."""
    runs: str | None = None
    """The digest of the definition of which the application said this last; None where it said nothing."""
    error: str | None = None
    heard_ms: int | None = None
    """The application's last heartbeat (ms since 1970, UTC)."""
    failures: int = 0
    """Failures within the window of the restart budget."""
    other_release: str = ""
    """The release of a driver that runs and is not of this one, with its process; empty for one that is."""

    # Checkpoints

    checkpoints: Mapping[str, OutputFacts] = field(default_factory=dict)
    """By output, of queries that have started."""
    used: Mapping[str, OutputFacts] = field(default_factory=dict)
    """Checkpoints that queries have begun in the folders of the declared definition, by query, where these
    are not in the place of the recorded one's.
    """
    stands: Mapping[str, QueryPositions] = field(default_factory=dict)
    """Positions by query, also where one was prepared only."""

    # Sources and outputs

    absent: tuple[str, ...] = ()
    """Local folders of files that are read and do not exist."""
    reach: Mapping[str, Mapping[str, InputReach]] = field(default_factory=dict)
    """The fate of the records that inputs have yet to read, by query and input, where brokers hold them.
    """
    schemas: Mapping[str, tuple[SchemaFinding, ...]] = field(default_factory=dict)
    """Findings on the newest schemas that values name, by input."""
    subjects: Mapping[str, SubjectVerdict] = field(default_factory=dict)
    """Verdicts of registries on the schemas that are to be written, by output."""
    samples: Mapping[str, tuple[SampleFinding, ...]] = field(default_factory=dict)
    """Findings on the columns in the last records of topics, by input."""
    folders: Mapping[str, FolderLook] = field(default_factory=dict)
    """The looks at streamed folders, by input."""
    topic_limits: Mapping[str, int] = field(default_factory=dict)
    """Bytes of records that a topic takes at once, by the output that writes it, where that was asked."""

    # Proofs and restarts

    batch_seconds: float | None = None
    """The duration of the longest of the last batches of its queries; None where that is not known."""

    spark: str = ""
    """The version of the Spark that the application runs, or ran last; empty where that is not known."""

    proofs: tuple[StoredProof, ...] = ()
    """The verdicts of Spark on changed texts that are recorded."""

    outdated: tuple[str, ...] = ()
    """The reasons, as sentences, for which the application that runs has to be started again as it is
    declared, where no definition differs: jars in another version than the locked one.
    """

    restarts: RestartedJobs | None = None
    """The jobs that have to be started again so that the job can run as it is declared, None without any."""

    @property
    def committed(self) -> bool:
        """Returns True if any query has committed a batch."""
        return any(checkpoint.committed is not None for checkpoint in self.checkpoints.values())

    @property
    def runs_another(self) -> bool:
        """True where queries of another definition are at work than of the one that should run."""
        at_work = self.alive and self.phase not in (None, "pending", *ENDED)
        return at_work and self.state == "running" and self.runs not in (None, self.digest)

    @property
    def started(self) -> bool:
        """Returns True if any query has begun a batch."""
        return any(checkpoint.started is not None for checkpoint in self.checkpoints.values())

    @property
    def held(self) -> Hold | None:
        """The hold for which it is not started; an application that ended or a job that failed has another
        reason.
        """
        waits = self.alive and self.phase in (None, "pending", "stopped")
        return self.hold if waits and self.state == "running" else None

    @property
    def in_flight(self) -> list[int]:
        """Batches that were begun and not committed."""
        begun = {(checkpoint.started, checkpoint.committed) for checkpoint in self.checkpoints.values()}
        return sorted({started for started, committed in begun if started not in (None, committed)})

    @property
    def operators(self) -> tuple[str, ...]:
        """Stateful operators on disk, as Spark calls them."""
        return tuple(name for checkpoint in self.checkpoints.values() for name in checkpoint.operators)

    @property
    def pinned(self) -> dict[str, str]:
        """Settings that Spark keeps from the first start."""
        return {
            key: value for checkpoint in self.checkpoints.values() for key, value in checkpoint.conf.items()
        }


@runtime_checkable
class KnowsReach(Protocol):
    """The driver of resources that read what brokers hold."""

    def reach(self, recorded: Recorded, references: References) -> Mapping[str, Mapping[str, InputReach]]:
        """The fate of the records that inputs have yet to read, by query and input; asks the brokers. Raises
        ``Failure``.
        """
        ...


def observed_facts(observed: Observation) -> JobFacts | None:
    """The facts of an observation; None where nothing was looked at."""
    facts = observed.facts if isinstance(observed, Present | Missing) else None
    return facts if isinstance(facts, JobFacts) else None


def of_disk(on_disk: CheckpointOnDisk) -> OutputFacts:
    """The facts of a checkpoint that the planner needs."""
    return OutputFacts(
        query_id=on_disk.query_id,
        started=on_disk.started,
        committed=on_disk.committed,
        sources=tuple((source.kind, source.folders) for source in on_disk.sources),
        operators=tuple(operator.name for operator in on_disk.operators),
        conf=dict(on_disk.conf),
        positions=on_disk.positions,
    )


def reach_complaints(reach: Mapping[str, Mapping[str, InputReach]]) -> tuple[str, ...]:
    """The complaints about the records that inputs have yet to read, and the unknown facts of them, in
    words.
    """
    return tuple(
        f"input {name}: {text}"
        for name, input_reach in by_input(reach).items()
        for finding in input_reach.findings
        if (text := complaint(finding, input_reach.words)) is not None
    )
