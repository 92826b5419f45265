"""The sources in a checkpoint, recognized by their offsets and logs. Touches the disk, by reading only."""

from collections.abc import Sequence
from typing import Any

from flareiac.kernel.data import parse_json
from flareiac_spark.sources.offsets import SourceOnDisk
from flareiac_spark.sources.source import UNKNOWN, kinds, offsets_of
from flareiac_spark_runtime.checkpoint_log import Damaged, names_in
from flareiac_spark_runtime.storage import Place


def sources_on_disk(folder: Place, positions: Sequence[str | None]) -> tuple[SourceOnDisk, ...]:
    """The sources of a checkpoint whose newest batch names these positions. Raises ``Damaged``."""
    return tuple(_source(folder, index, line) for index, line in by_log(folder, positions))


def by_log(folder: Place, positions: Sequence[str | None]) -> list[tuple[int, str | None]]:
    """Each source with the number of its log, once: Spark numbers the logs by the first place at which a
    source is read.
    """
    logs = sum(name.isdigit() for name in names_in(folder / "sources"))
    distinct = list(dict.fromkeys(positions))
    if len(positions) > logs > 0 and _is_there(folder, distinct) and not _is_there(folder, positions):
        return (
            list(enumerate(distinct))
            if len(distinct) == logs
            else [(index, distinct[0]) for index in range(logs)]
        )
    return list(enumerate(positions))


def kind_of(offset: Any) -> str:
    """The kind of an offset, as Spark's JSON says it; ``unknown`` where none knows it."""
    return next((name for name, kind in kinds() if kind.offsets.is_own(offset)), UNKNOWN)


def kinds_of(positions: Sequence[str | None]) -> tuple[str, ...]:
    """The kind of each position; ``unknown`` of one without an offset yet."""
    return tuple(UNKNOWN if line is None else kind_of(parse_json(line)) for line in positions)


def _is_there(folder: Place, positions: Sequence[str | None]) -> bool:
    """Returns True if each log has the position of its number."""
    for index, line in enumerate(positions):
        try:
            offset = parse_json(line or "{}")
        except (ValueError, RecursionError):
            return False
        if offsets_of(kind_of(offset)).missing_from(folder / "sources" / str(index), offset) is not None:
            return False
    return True


def _source(folder: Place, index: int, line: str | None) -> SourceOnDisk:
    log = folder / "sources" / str(index)
    if line is None:
        kind = next((name for name, kind in kinds() if kind.offsets.is_own_log(log)), UNKNOWN)
        return SourceOnDisk(index=index, kind=kind, offset=None, folders=offsets_of(kind).folders(log))
    offset = parse_json(line)
    kind = kind_of(offset)
    own = offsets_of(kind)
    if (missing := own.missing_from(log, offset)) is not None:
        raise Damaged(missing, f"it is not there, and the offsets name it: {own.lost}")
    return SourceOnDisk(index=index, kind=kind, offset=line, folders=own.folders(log))
