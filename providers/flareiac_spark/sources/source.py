"""The declared source of a stream, of any kind, as the other rooms use it. Pure, but for the count of a
backlog.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from importlib import import_module
from typing import Annotated, ClassVar, Final, Literal, Protocol, Self, TypeAlias

from flareiac.kernel.articles import with_article
from flareiac.kernel.data import Attributes, Reference
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import Mismatch, by_kind, encode
from flareiac.sdk.brokers import BrokerWords, TopicSelection
from flareiac.sdk.changes import Blocker
from flareiac.sdk.dataset_names import DatasetName
from flareiac.sdk.project import Project
from flareiac.sdk.references import References, Resolved
from flareiac.sdk.schema import Block
from flareiac_spark import codes, sources
from flareiac_spark.column_types import Column
from flareiac_spark.places import absolute_place
from flareiac_spark.settings import Harmless
from flareiac_spark.sources.avro.latest import SchemaRead
from flareiac_spark.sources.changes import Meaning
from flareiac_spark.sources.folder_look import FilesLeft, FilesRead, FolderLook, FolderNote
from flareiac_spark.sources.offsets import Offsets
from flareiac_spark.sources.samples import SampleRead
from flareiac_spark_runtime import sources as runtime_sources
from flareiac_spark_runtime.sources.resolved import ResolvedSource, SpecColumn
from flareiac_spark_runtime.storage import Place

UNKNOWN: Final = "unknown"
"""The kind of a source that is not declared, or whose offset no kind knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRead:
    """A table that a source streams. ``start_from`` is where its first start begins; ``tolerates``: the kinds
    of snapshots (``deletes``, ``overwrites``) that it skips.
    """

    table: Reference
    start_from: str
    tolerates: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRead:
    """Topics that a source reads, and the connection to the brokers that hold them. ``expected``: those among
    them that are declared, and made by an apply where they are not there. ``words``: those of the brokers.
    """

    connection: Resolved
    selection: TopicSelection
    expected: tuple[str, ...] = ()
    words: BrokerWords = BrokerWords()


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The surroundings with which a block is read."""

    references: References
    project: Project
    diagnostics: Diagnostics
    judges_records: bool = False
    """The block says what becomes of bad records, which no option of a reader may say, too."""


class Places(Protocol):
    """The places of the things that a source names."""

    def path(self, recorded: str) -> str:
        """The absolute path of a recorded place."""

    def table(self, reference: Reference) -> tuple[tuple[str, ...], str | None]:
        """The identifier of a table, and its uuid where that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeColumns:
    """Names of columns of a change: what it does to its row, and its place in the order of changes."""

    operation: str
    position: str


class Source(ABC):
    """A source. What is a class variable is true of its whole kind."""

    __slots__ = ()

    block: ClassVar[Block]
    offsets: ClassVar[Offsets]
    meaning: ClassVar[Meaning | None] = None
    """The attributes that decide which values come out of it."""
    harmless: ClassVar[tuple[Harmless, ...]] = ()
    """Its attributes that leave every value as it is."""
    first_start: ClassVar[tuple[str, ...]] = ()
    """Its attributes that only a first start looks at."""
    first_start_again: ClassVar[str] = "takes effect with the next generation"
    """The time at which a change of these is seen on a checkpoint that has begun."""
    names: ClassVar[tuple[str, ...]] = ()
    """Its attributes that only say what the same thing is called in the configuration."""
    elsewhere: ClassVar[str | None] = None
    """The rule of Spark for a source of this kind at another place."""
    held_by_brokers: ClassVar[bool] = False
    """True if brokers hold its records, and delete them by themselves."""
    beside: ClassVar[tuple[str, ...]] = ()
    """Columns that a record has whatever is in it: none makes it bad."""
    widened: ClassVar[str | None] = None
    """The rule of Spark for a source of this kind that reads more than the one which goes on in it."""

    kind: str

    @classmethod
    @abstractmethod
    def read(
        cls, block: Attributes, columns: list[Column], around: Surroundings
    ) -> tuple["Source", list[Column]]:
        """The source of a block, and the columns that it has, given those that are declared."""

    @classmethod
    def of_block(cls, block: Attributes) -> Self:
        """As it is written, with the schema's defaults."""
        schema = cls.block.attributes
        return cls(
            **{name: schema[name].default if given is None else given for name, given in block.items()}
        )

    @abstractmethod
    def resolve(
        self, columns: tuple[SpecColumn, ...], order: Sequence[str] | None, places: Places
    ) -> ResolvedSource:
        """As the driver is given it. ``order``: all columns of the stream, where their order counts."""

    def read_as(self, run: ResolvedSource, project: Project) -> "Source":
        """This source, read in the way that an application was asked to: the attributes that have one name in
        both, but for those that only a first start looks at.
        """
        if run.kind != self.kind:
            return self
        names = {each.name for each in fields(run)} - {"kind", *self.first_start}  # type: ignore[arg-type]
        if self.folder is not None and run.folder == str(absolute_place(self.folder, project)):
            names.discard("path")  # it is recorded as it is written
        own = [each.name for each in fields(self) if each.name in names]  # type: ignore[arg-type]
        return replace(self, **{name: getattr(run, name) for name in own})  # type: ignore[type-var]

    @property
    def shown(self) -> str:
        """It as its kind and place."""
        return f"{with_article(self.kind)} stream"

    @property
    def place(self) -> str:
        """The text that tells sources of one kind apart."""
        return ""

    @property
    def folder(self) -> str | None:
        """The path or pattern of the files that it reads, as it is recorded."""
        return None

    @property
    def change_columns(self) -> ChangeColumns | None:
        """The columns that say which change a row is, where its rows are changes of other rows; else None."""
        return None

    @property
    def blocks_read(self) -> tuple[Reference, ...]:
        """The managed blocks, other than tables, whose records it reads."""
        return ()

    def lineage_parts(self, references: References, project: Project) -> tuple[str | DatasetName, ...]:
        """The data that it reads, for other programs: addresses of blocks, and names of other datasets."""
        del references, project
        return ()

    def schema_read(self, columns: Sequence[Column]) -> SchemaRead | None:
        """The question to the schema registry that its values name; None where they name none, or where that
        is not known yet. ``columns``: all of the stream.
        """
        del columns
        return None

    def sample_read(self, columns: Sequence[Column]) -> SampleRead | None:
        """The way in which a plan looks at the last records of its topics; None where it does not.
        ``columns``: all that the stream declares.
        """
        del columns
        return None

    @property
    def packages(self) -> tuple[str, ...]:
        """Maven coordinates that Spark needs to read it, beside those of its connection."""
        return ()

    @property
    def table_read(self) -> TableRead | None:
        """The table that it streams."""
        return None

    def topic_read(self, references: References) -> TopicRead | None:
        """The question to the brokers that hold its records; None where that is not known yet."""
        del references
        return None

    def reads_topic(self, topic: str, client: Mapping[str, str]) -> bool:
        """Returns True if records of a topic come back by this source, or may. ``client``: the settings with
        which the topic is reached.
        """
        del topic, client
        return False

    @property
    def bad_record_fields(self) -> tuple[str, ...]:
        """The known facts of a record that cannot be read, by the names in ``bad_records.FIELDS``; empty
        where no record can be bad by itself.
        """
        return ()

    @property
    def always_judges(self) -> bool:
        """True where records are judged by all declared columns also where a bad one fails the job."""
        return False

    def keeping(self, recorded: "Source") -> "Source":
        """As it goes on from a recorded one, where the configuration leaves open how it is read."""
        del recorded
        return self

    @property
    def may_have_other_columns(self) -> bool:
        """True where it may give columns that are not declared."""
        return False

    @property
    def tells_columns_by_place(self) -> bool:
        """True if leaving a column out would shift the others."""
        return False

    def goes_on_in(self, new: "Source") -> bool:
        """Returns True if a query that read it goes on with another source on the same checkpoint."""
        return self.shown == new.shown

    def addition(self, old: "Source") -> str | None:
        """The records that it reads beside those of an old source that goes on in it, and their beginning; as
        a sentence without its end. None for none.
        """
        del old
        return None

    def files_left(self, checkpoint: Place, index: int, project: Project) -> FilesLeft | None:
        """Files that no committed batch has read from the source of this number; None where that cannot be
        known. Touches the disk, by reading only. Raises ``Damaged``.
        """
        del checkpoint, index, project
        return None

    def folder_read(
        self, columns: Sequence[Column], logs: Sequence[tuple[Place, int]], project: Project
    ) -> FilesRead | None:
        """The way a plan looks at the folder of its files; None where it does not. ``columns``: all that the
        stream declares; ``logs``: the checkpoints that read it, with the numbers of its logs in them. Touches
        the disk, by reading only.
        """
        del columns, logs, project
        return None

    def folder_notes(self, look: FolderLook, *, begun: bool) -> Iterator[FolderNote]:
        """The notes on its folder. ``begun``: whether a query has begun to read it."""
        del look, begun
        return iter(())

    def folder_blockers(self, look: FolderLook | None, conf: Mapping[str, str]) -> Iterator[Blocker]:
        """The reasons why a query must not start on its folder. ``conf``: that of the job."""
        del look, conf
        return iter(())

    @property
    def old_rules(self) -> str:
        """The effect of the rules of an older release, as sentences, where it is read by them; empty where it
        is not, or where the configuration says so.
        """
        return ""

    def running(self) -> Attributes:
        """The attributes with which a query is started, without those that only a first start looks at."""
        left_out = (*self.first_start, *self.names)
        return {name: value for name, value in encode(self).items() if name not in left_out}

    def with_first_start_of(self, other: "Source") -> "Source":
        """This source, beginning where another one of its kind would."""
        if other.kind != self.kind:
            return self
        return replace(self, **{name: getattr(other, name) for name in self.first_start})  # type: ignore[type-var]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownSource(Source):
    """That of a stream which is not declared."""

    offsets: ClassVar[Offsets] = Offsets()
    kind: Literal["unknown"] = "unknown"

    @classmethod
    def read(
        cls, block: Attributes, columns: list[Column], around: Surroundings
    ) -> tuple[Source, list[Column]]:
        del block, around
        return cls(), columns

    def resolve(
        self, columns: tuple[SpecColumn, ...], order: Sequence[str] | None, places: Places
    ) -> ResolvedSource:
        del columns, order, places
        raise Mismatch("", "has no source")


def source_class(kind: str) -> type[Source] | None:
    """The record of a kind; None for a kind that is not known."""
    if kind == UNKNOWN:
        return UnknownSource
    if kind not in runtime_sources.KINDS:
        return None
    record_class: type[Source] = import_module(f"{sources.__name__}.{kind}.definition").KIND
    return record_class


def kinds() -> Iterator[tuple[str, type[Source]]]:
    """The kinds that users may declare, with their names."""
    for name in runtime_sources.KINDS:
        record_class = source_class(name)
        assert record_class is not None, name
        yield name, record_class


def offsets_of(kind: str) -> Offsets:
    """The rules for the offsets of a kind; also of one that is not known."""
    record_class = source_class(kind)
    return record_class.offsets if record_class is not None else Offsets()


def without_columns(columns: Sequence[Column], diagnostics: Diagnostics) -> None:
    """Refuses declared columns of a source that has its own."""
    if columns:
        why = (
            "Remove the column blocks: a table has its own columns, and a rate stream has timestamp and "
            "value."
        )
        diagnostics.error(codes.COLUMNS_NOT_OF_FILES, why, attribute=("column",))


AnySource: TypeAlias = Annotated[Source, by_kind(source_class)]
"""A source of any kind, in a record."""
