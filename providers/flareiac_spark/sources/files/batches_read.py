"""The last note of files that committed batches reach. Touches the disk, by reading only."""

from typing import Final

from flareiac.kernel.data import parse_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.sources.on_disk import by_log
from flareiac_spark_runtime.checkpoint_log import batches, read_offsets
from flareiac_spark_runtime.sources.files.notes import note_of_offset
from flareiac_spark_runtime.storage import Place

NONE_YET: Final = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Batches have read the notes up to ``note`` by ``committed_ms`` (UTC milliseconds) at the latest."""

    note: int
    committed_ms: int


def reached(checkpoint: Place, index: int) -> int:
    """The newest note of a source that a committed batch has read; ``NONE_YET`` before the first commit.
    Raises ``Damaged``.
    """
    committed = max(batches(checkpoint, "commits"), default=None)
    return NONE_YET if committed is None else _reached_by(checkpoint, committed).get(index, NONE_YET)


def readings(checkpoint: Place, index: int) -> list[Reading]:
    """The readings of a source's notes, ascending, as far back as the checkpoint keeps its offsets. Raises
    ``Damaged``, ``OSError``.
    """
    begun, all_readings = set(batches(checkpoint, "offsets")), list[Reading]()
    for batch in sorted(begun & set(batches(checkpoint, "commits"))):
        note = _reached_by(checkpoint, batch).get(index)
        if note is not None:
            all_readings.append(
                Reading(note=note, committed_ms=_committed_ms(checkpoint, batch, followed=batch + 1 in begun))
            )
    return all_readings


def _committed_ms(checkpoint: Place, batch: int, *, followed: bool) -> int:
    """The latest time at which a batch can have been committed (UTC milliseconds). A copied checkpoint has
    later times, and the next batch was begun afterwards.
    """
    committed = (checkpoint / "commits" / str(batch)).stat().st_mtime_ns // 1_000_000
    next_begun = read_offsets(checkpoint, batch + 1).header.get("batchTimestampMs") if followed else None
    return min(committed, next_begun) if isinstance(next_begun, int) else committed


def _reached_by(checkpoint: Place, batch: int) -> dict[int, int]:
    """The newest note that a batch reads of each source of files, by the number of the source's log."""
    positions = by_log(checkpoint, read_offsets(checkpoint, batch).positions)
    notes = {index: note_of_offset(parse_json(line)) for index, line in positions if line is not None}
    return {index: reached for index, reached in notes.items() if reached is not None}
