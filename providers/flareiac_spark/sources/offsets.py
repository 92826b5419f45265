"""The offsets that a source of any kind leaves in a checkpoint, and the rules for going on from them."""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from typing import Any, TypeAlias

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.sources.findings import Partition
from flareiac_spark.sources.reachable import NotedTopics
from flareiac_spark_runtime.storage import Place

Write: TypeAlias = Callable[[Place, str], None]
"""Writes a file with its folders."""


class CarryOver(Enum):
    """The way in which a new generation goes on. POSITION: any query can begin there. LOG: the source's log
    makes sense together with the offsets and commits alone. NONE: it cannot.
    """

    POSITION = auto()
    LOG = auto()
    NONE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOnDisk:
    """One streaming source. ``kind`` is ``unknown`` where no kind knows its offset; ``folders`` are those
    that files came from.

    ``index`` is the number of its own log below ``sources``. A query that reads one source several times has
    a position for each time in its offsets, and one log.
    """

    index: int
    kind: str
    offset: str | None
    folders: tuple[str, ...] = ()

    @property
    def folders_shown(self) -> str:
        """The folders, for people."""
        if not self.folders:
            return "its folder"
        others = len(self.folders) - 2
        return ", ".join(self.folders[:2]) + (f" and {others} more" if others > 0 else "")


class Offsets:
    """One kind. What is said here is true of kinds that are not known."""

    carry_over: CarryOver = CarryOver.NONE
    begins_at_times: bool = False
    """True if the source knows which rows came at which time, so that a moment is a beginning."""
    named: str = "{} stream"
    """The source in a sentence, with {} for its kind after an article."""
    read_again: str = "reads its source from the beginning"
    """The work of a generation that reads from the beginning, with {} for the folders that were read."""
    kept_in_log: str = "what of {} was read"
    """The content of a log, with {} for the source's place."""
    no_position: str = "its source has no position"
    """The reason that it cannot be carried over."""
    lost: str = "what was read so far is not known"
    """The consequence of a log that is not whole."""

    def is_own(self, offset: Any) -> bool:
        """Returns True if an offset, as Spark's JSON has it, is of this kind."""
        del offset
        return False

    def is_own_log(self, log: Place) -> bool:
        """Returns True if the log of a source that has no offset yet is of this kind."""
        del log
        return False

    def missing_from(self, log: Place, offset: Any) -> Place | None:
        """The file of a source's log that an offset of this kind names, and that is not there."""
        del log, offset
        return None

    def folders(self, log: Place) -> tuple[str, ...]:
        """The folders that were read. Raises ``Damaged``."""
        del log
        return ()

    def describe(self, source: SourceOnDisk, log: Place) -> str:
        """The part of a source that was read, for people, where it has an offset. Raises ``Damaged``."""
        del log
        return source.offset or ""

    def goes_on(self, source: SourceOnDisk) -> str:
        """The place at which a generation that carries over goes on."""
        return source.kind

    def partitions(self, offset: Any) -> Mapping[Partition, int]:
        """The next offset to read of each partition, where brokers hold the records."""
        del offset
        return {}

    def began(self, log: Place) -> Any:
        """The offset with which a source's log begins, as Spark's JSON says it; None where it does not tell.
        Raises ``Damaged``.
        """
        del log
        return None

    def noted_topics(self, checkpoint: Place) -> NotedTopics:
        """The topics with which the query of a checkpoint began, where brokers hold the records. Raises
        ``Damaged``.
        """
        del checkpoint
        return NotedTopics()

    def behind(self, end: Any, latest: Any) -> int | None:
        """The number of records between two offsets of this kind; None where they do not tell."""
        del end, latest
        return None

    def unread(self, checkpoints: Sequence[Place]) -> tuple[str, ...]:
        """The records that no query of a job has read, or perhaps none, though its checkpoints pass over
        them; in words.
        """
        del checkpoints
        return ()

    def continues(self, before: str, after: str) -> bool:
        """Returns True if a stream of one place goes on where one of another place stands."""
        return before == after

    def carried(self, offset: str, place: str) -> str | None:
        """The part of an offset that a stream of a place takes over; None for nothing."""
        del place
        return offset

    def copy_log(self, old: Place, new: Place, offset: Any, write: Write) -> None:
        """Copies a source's log up to an offset, where it is of this kind. Raises ``Damaged``."""

    def carry_notes(self, old: Place, new: Place, write: Write) -> None:
        """Copies what is noted beside the folder of a generation to that of one which goes on after it.
        Raises ``OSError``.
        """

    def begin_at(self, log: Place, offset: str, write: Write) -> None:
        """Writes the log of a source that begins at an offset of this kind."""
