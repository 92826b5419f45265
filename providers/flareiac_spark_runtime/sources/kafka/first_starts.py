"""The beginnings of the queries of a job that start at "latest" or at a time: looked up once and noted beside
each of their checkpoints, so that records which arrive between their first starts are read by all of them.
"""

import json
from collections.abc import Sequence

from flareiac.kernel.data import parse_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import decode, encode
from flareiac_spark_runtime.checkpoint_log import first_entries, newest
from flareiac_spark_runtime.sources.kafka.starting import ByPartition
from flareiac_spark_runtime.storage import Place, replace_whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """A beginning as it is asked for, with its topics. ``at``: UTC milliseconds, or Kafka's own number for
    the end.
    """

    cluster: str | None
    topics: tuple[str, ...]
    topic_pattern: str | None
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstStart:
    """The offsets at which a stream begins."""

    beginning: Beginning
    offsets: ByPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstStarts:
    """The first starts of the streams of one job."""

    starts: tuple[FirstStart, ...] = ()


def place_of(checkpoint: Place) -> Place:
    """The file beside the folder of a generation."""
    return checkpoint.with_name(f".{checkpoint.name}.first.json")


def has_begun(checkpoint: Place) -> bool:
    """Returns True if the beginning of all streams of a query is fixed. Raises ``Damaged``, ``OSError``."""
    return newest(checkpoint / "offsets") is not None


def forget(checkpoints: Sequence[Place]) -> None:
    """Deletes the notes while none of the queries has fixed a beginning: they count for nothing then. Raises
    ``OSError``.
    """
    if not any(has_begun(checkpoint) or _began_to(checkpoint) for checkpoint in checkpoints):
        for checkpoint in checkpoints:
            place_of(checkpoint).unlink(missing_ok=True)


def noted(checkpoints: Sequence[Place], beginning: Beginning) -> ByPartition | None:
    """The offsets at which a stream begins, as noted beside one of these checkpoints, None without a note.
    Raises ``OSError``, ``ValueError``.
    """
    starts = (start for checkpoint in checkpoints for start in _read(checkpoint).starts)
    return next((start.offsets for start in starts if start.beginning == beginning), None)


def note(checkpoints: Sequence[Place], start: FirstStart) -> None:
    """Adds it beside each of these checkpoints. Raises ``OSError``, ``ValueError``."""
    for checkpoint in checkpoints:
        others = tuple(other for other in _read(checkpoint).starts if other.beginning != start.beginning)
        text = json.dumps(encode(FirstStarts(starts=(*others, start))), separators=(",", ":"))
        replace_whole(place_of(checkpoint), text.encode(), mode=0o644)


def _began_to(checkpoint: Place) -> bool:
    return any(first_entries(checkpoint))


def _read(checkpoint: Place) -> FirstStarts:
    try:
        text = place_of(checkpoint).read_text(encoding="utf-8")
    except FileNotFoundError:
        return FirstStarts()
    return decode(FirstStarts, parse_json(text), "first starts")
