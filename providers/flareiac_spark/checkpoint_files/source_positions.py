"""The positions to which a query has read each of its sources, as Spark wrote them. Read without a JVM, also
of a generation that was prepared. Touches the disk, by reading only.
"""

from collections.abc import Sequence
from typing import Any

from flareiac.kernel.data import parse_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.checkpoint_log import Damaged, batches, names_in, read_offsets, unreadable
from flareiac_spark_runtime.storage import Place

_ATTEMPTS = 5
"""Spark writes and deletes files meanwhile: what cannot be read counts as damage once nothing has changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePositions:
    """Offsets as JSON data, by the position of a source in Spark's offsets, None where there is none.

    ``reached`` is where the last committed batch ended, ``ahead`` where the batch in flight ends; ``logs``
    are the folders of the sources' own logs, by their numbers.
    """

    reached: tuple[Any, ...] = ()
    ahead: tuple[Any, ...] = ()
    logs: tuple[Place, ...] = ()

    @property
    def count(self) -> int:
        """The number of positions. A generation that was prepared has logs for more than its query reads, so
        that they count only until a batch is begun.
        """
        return len(self.reached) or len(self.ahead) or len(self.logs)

    def log(self, index: int) -> Place | None:
        """The log of the source at a position: one that is read several times has one log."""
        if index < len(self.logs):
            return self.logs[index]
        return self.logs[0] if len(self.logs) == 1 else None


def read_source_positions(folder: Place) -> SourcePositions | None:
    """None if there is nothing yet. Raises ``Damaged``."""
    for _attempt in range(_ATTEMPTS):
        before = _newest(folder)
        try:
            return _read(folder, *before) if folder.is_dir() else None
        except OSError as error:
            damage = unreadable(folder, error)
        except Damaged as error:
            damage = error
        if _newest(folder) == before:
            break
    raise damage


def _newest(folder: Place) -> tuple[int | None, int | None]:
    return max(batches(folder, "offsets"), default=None), max(batches(folder, "commits"), default=None)


def _read(folder: Place, started: int | None, committed: int | None) -> SourcePositions:
    sources = folder / "sources"
    numbers = sorted(int(name) for name in names_in(sources) if name.isdigit())
    return SourcePositions(
        reached=_offsets(folder, committed),
        ahead=_offsets(folder, started) if started != committed else (),
        logs=tuple(sources / str(number) for number in numbers),
    )


def _offsets(folder: Place, batch: int | None) -> tuple[Any, ...]:
    return _data(read_offsets(folder, batch).positions) if batch is not None else ()


def _data(positions: Sequence[str | None]) -> tuple[Any, ...]:
    return tuple(None if position is None else parse_json(position) for position in positions)
