"""The records that ``checkpoint show`` writes of a checkpoint; their JSON is a contract. Pure."""

from collections.abc import Mapping
from dataclasses import field

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import SPARSE
from flareiac_spark.checkpoint_files.reader import OperatorOnDisk


@dataclass(frozen=True, slots=True, kw_only=True)
class Began:
    """The preparation of a generation: it goes on after a batch of an earlier query."""

    start_from: str | None
    query_id: str | None
    batch: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedFolder:
    """One query's folder of one generation. ``output`` is empty for an imported folder."""

    output: str
    number: int
    folder: str
    standing: str
    in_use: bool
    removable: bool
    bytes: int
    damage: str | None
    began: Began | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedBatch:
    batch: int
    begun_ms: int | None
    committed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedSource:
    """``offset`` as Spark wrote it, and ``text`` for a person."""

    index: int
    kind: str
    offset: str | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedQuery:
    """The content of one folder in use. ``pinned``: settings that Spark keeps from the first start."""

    output: str
    number: int
    query_id: str
    started: int | None
    committed: int | None
    in_flight: int | None
    watermark_ms: int | None
    last_batches: tuple[DescribedBatch, ...]
    sources: tuple[DescribedSource, ...]
    operators: tuple[OperatorOnDisk, ...]
    pinned: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedLag:
    """The number of records by which a partition was read behind its end."""

    topic: str
    partition: int
    records: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedInput:
    """An input whose records brokers hold. ``problems``: what is wrong with what it has yet to read, or is
    not known of it.
    """

    job: str
    output: str
    input: str
    lag: tuple[DescribedLag, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedCheckpoint:
    """``generations``: one for each folder, oldest first; ``queries``: what is in those in use. ``left``: the
    folders in which moves left an older copy.
    """

    location: str
    generation: int
    keep_generations: int
    generations: tuple[DescribedFolder, ...]
    queries: tuple[DescribedQuery, ...]
    left: tuple[str, ...] = field(default=(), metadata=SPARSE)
